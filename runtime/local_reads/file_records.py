"""Files -> their records, as values by column."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.codegen.program import Input
from penstock.runtime.local_reads.arrow_types import arrow_type
from penstock.runtime.local_reads.plain_files import NotPlainError, PlainFile, read_whole
from penstock.runtime.local_reads.plain_values import Number, check_day, check_double, check_text, is_number, reader_of

Record: TypeAlias = dict[str, Any]


def read_records(source: Input, file: PlainFile) -> Iterator[Record]:
    """The records of a file, in their order. Times are in UTC, without a zone.

    Raises:
        NotPlainError, ValueError: one of them is not written in the one way that needs no interpretation.
    """
    content = read_whole(file.path)
    match source.values["format"]:
        case "json":
            return _read_json(source, content)
        case "csv":
            return _read_csv(source, content)
        case _:
            return _read_parquet(source, content)


def _split_lines(content: bytes) -> list[str]:
    text = content.decode()
    if "\r" in text or "\0" in text or "\ufffd" in text or "\ufeff" in text:
        raise NotPlainError
    *lines, last = text.split("\n")
    return [*lines, last] if last else lines


def _read_json(source: Input, content: bytes) -> Iterator[Record]:
    readers = {name: (reader_of(type_), is_number(type_), type_ == "BOOLEAN") for name, type_ in source.columns}
    missing = dict.fromkeys(readers)
    for line in _split_lines(content):
        given = json.loads(
            line, parse_int=Number, parse_float=Number, parse_constant=_refuse, object_pairs_hook=_make_object
        )
        if not isinstance(given, dict) or not given.keys() <= readers.keys():
            raise NotPlainError
        record = dict(missing)
        for name, value in given.items():
            read, wants_number, wants_truth = readers[name]
            if value is None:
                continue
            if wants_truth and isinstance(value, bool):
                record[name] = value
            elif isinstance(value, str) and not wants_truth and isinstance(value, Number) == wants_number:
                record[name] = read(value)
            else:
                raise NotPlainError
        yield record


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise NotPlainError
    return made


def _refuse(constant: str) -> None:
    raise NotPlainError(constant)


def _read_csv(source: Input, content: bytes) -> Iterator[Record]:
    lines = _split_lines(content)
    # A null text other than the empty one is left to Spark, as quotes are.
    if "null" in source.values or any('"' in line or not line for line in lines):
        raise NotPlainError
    names = [name for name, _ in source.columns]
    if source.has_header and lines:
        names = lines.pop(0).split(",")
        if sorted(names) != sorted(name for name, _ in source.columns):
            raise NotPlainError
    types = dict(source.columns)
    readers: list[tuple[str, Callable[[str], Any]]] = [(name, reader_of(types[name])) for name in names]
    for line in lines:
        fields = line.split(",")
        if len(fields) != len(readers):
            raise NotPlainError
        yield {name: read(text) if text else None for (name, read), text in zip(readers, fields, strict=True)}


def _read_parquet(source: Input, content: bytes) -> Iterator[Record]:
    types = {name: arrow_type(type_) for name, type_ in source.columns}
    table = pq.read_table(io.BytesIO(content), partitioning=None)
    found = {field.name: field.type for field in table.schema}
    if found != types or len(found) != len(table.schema):
        raise NotPlainError
    for record in table.to_pylist():
        yield {name: check_value(value, types[name]) for name, value in record.items()}


def check_value(value: Any, type_: pa.DataType) -> Any:
    """The value, as small reads have it; raises NotPlainError for one that needs interpretation."""
    if value is None:
        return None
    if pa.types.is_floating(type_):
        return check_double(value)
    if pa.types.is_string(type_):
        return check_text(value)
    if pa.types.is_timestamp(type_):
        check_day(value)
        return value.replace(tzinfo=None)
    return check_day(value) if pa.types.is_date(type_) else value
