"""Records of JSON and CSV -> the values of the declared columns, or the reason why a record is malformed."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO, TypeAlias

import pyarrow as pa

from penstock.codegen.record_reasons import BYTES, CUT, FIELDS, HALF, NAMES, NO_OBJECT, QUOTES
from penstock.kit.databases.spark_types import arrow_type
from penstock.runtime.samples.json_values import JsonArray, JsonObject, parse_json
from penstock.runtime.samples.typed_texts import (
    MisfitError,
    NamesError,
    match_fields,
    read_json,
    read_text,
    show_json_value,
)

Values: TypeAlias = dict[str, Any]
LONGEST = 1 << 26
"""The most characters of a record that are read."""
DEPTH = 32
"""How deeply a record may be nested that Spark's views write anew."""
_HIGH, _LOW = r"\\u[dD][89abAB][0-9a-fA-F]{2}", r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_HALF = re.compile(rf"(?<!\\)(?:\\\\)*(?:{_HIGH}(?!{_LOW})|(?<!{_HIGH}){_LOW})")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_ESCAPED = re.compile(r'[\x00-\x1f"\\]')
_SHORT = {"\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", '"': r"\"", "\\": r"\\"}
NOT_UTF8 = re.compile("[\udc80-\udcff]")
_FIELD = re.compile(r'(?:"((?:[^"\x00]++|"")*+)"|([^",\r\n]*+))(,|\Z)')
_INSIDE = re.compile(r'(?:[^"]++|"")*+')
_BLANKS = " \t\r"


@dataclass(frozen=True, slots=True)
class SampledColumn:
    """A declared column: its type as Spark writes it, and as Arrow has it."""

    name: str
    type: str
    arrow: pa.DataType


class MalformedError(Exception):
    """A record does not fit the columns. The message says why."""


def make_columns(columns: Sequence[tuple[str, str]]) -> list[SampledColumn]:
    """Columns by names and by types of Spark."""
    return [SampledColumn(name, type_, arrow_type(type_)) for name, type_ in columns]


def read_lines(content: BinaryIO, ends: str = r"\r\n|\r|\n") -> Iterator[str]:
    """The lines of a file. Bytes that are not UTF-8 are lone surrogates. A mark at the beginning is left out.

    Raises:
        ValueError: a line is too long.
    """
    pattern, is_first, held = re.compile(ends), True, ""
    decode = _decoder()
    parts: list[str] = []
    length = 0
    while True:
        block = content.read(1 << 16)
        text = decode(block, not block)
        if is_first and text:
            text, is_first = text.removeprefix("\ufeff"), False
        text, held = held + text, ""
        if block and text.endswith("\r") and "\\r" in ends:
            # The CR at the end of a block may be one of CR LF.
            text, held = text[:-1], "\r"
        # What was read of a line before has no end of it, and is not searched again.
        first, *others = pattern.split(text)
        parts.append(first)
        length += len(first)
        if length > LONGEST:
            raise ValueError("a line is too long")
        if others:
            yield "".join(parts)
            yield from others[:-1]
            parts, length = [others[-1]], len(others[-1])
        if not block:
            if length:
                yield "".join(parts)
            return


def read_csv_records(content: BinaryIO, *, multi_line: bool = True, one_field: bool = False) -> Iterator[str]:
    """The records of a CSV file that are not blank. In quotes there may be line ends.

    Raises:
        ValueError: a record is too long.
    """
    parts: list[str] = []
    length, is_open = 0, False
    blanks = "\r" if one_field else _BLANKS
    for line in read_lines(content, "\n"):
        parts.append(line)
        length += len(line)
        if length > LONGEST:
            raise ValueError("a record is too long")
        is_open = multi_line and _ends_in_quotes(line, is_open)
        if is_open:
            continue
        record = "\n".join(parts)
        parts, length = [], 0
        if record.strip(blanks):
            yield record.removesuffix("\r")
    if parts:
        yield "\n".join(parts).removesuffix("\r")


def _ends_in_quotes(line: str, is_open: bool) -> bool:
    """Whether a field in quotes goes on behind the line. `is_open`: whether one goes on from the line before."""
    if '"' not in line:
        return is_open
    place = 0
    while True:
        if is_open:
            found = _INSIDE.match(line, place)
            assert found is not None, "it matches nothing, too"
            if found.end() == len(line):
                return True
            place = found.end() + 1
        elif line.startswith('"', place):
            is_open, place = True, place + 1
            continue
        is_open = False
        place = line.find(",", place) + 1
        if not place:
            return False


def split_fields(record: str) -> list[str | None]:
    """The fields of a CSV record; None for an empty one without quotes. Raises MalformedError."""
    if '"' not in record and "\r" not in record:
        return [each or None for each in record.split(",")]
    fields: list[str | None] = []
    place = 0
    while True:
        found = _FIELD.match(record, place)
        if found is None:
            raise MalformedError(QUOTES)
        enclosed, plain, end = found.groups()
        fields.append((plain or None) if enclosed is None else enclosed.replace('""', '"'))
        place = found.end()
        if not end:
            return fields


def read_csv_values(record: str, columns: Sequence[SampledColumn], null: str | None = None) -> Values:
    """The values of a CSV record, whose fields are the columns in their order. Raises MalformedError."""
    if NOT_UTF8.search(record) or "\ufffd" in record:
        raise MalformedError(BYTES)
    fields = split_fields(record)
    if len(fields) != len(columns):
        raise MalformedError(f"{FIELDS}: {len(fields)}")
    return {
        column.name: _read_field(column, None if text == null else text)
        for column, text in zip(columns, fields, strict=True)
    }


def read_json_values(record: str, columns: Sequence[SampledColumn]) -> Values:
    """The values of a JSON record. Raises MalformedError."""
    if NOT_UTF8.search(record):
        raise MalformedError(BYTES)
    try:
        value = parse_json(record)
    except (ValueError, RecursionError):
        raise MalformedError(NO_OBJECT) from None
    if not isinstance(value, JsonObject):
        raise MalformedError(NO_OBJECT)
    try:
        fields = match_fields(value, [column.name for column in columns])
        given = {name for name, _ in value.pairs}
        if _is_deep(value) and any(column.name not in given or column.type == "STRING" for column in columns):
            raise NamesError
    except NamesError:
        raise MalformedError(NAMES) from None
    if "\\u" in record and _HALF.search(record):
        raise MalformedError(HALF)
    if len(given) < len(value.pairs):
        _check_repeated(value, columns)
    return {column.name: _read_item(column, fields.get(column.name)) for column in columns}


def _check_repeated(value: JsonObject, columns: Sequence[SampledColumn]) -> None:
    """The last value of a name counts, but the parser has to take the others, too. Raises MalformedError."""
    last = dict(value.pairs)
    known = {each.name: each for each in columns if not _is_read_later(each.arrow)}
    for name, item in value.pairs:
        if name in known:
            column = known[name]
            _read(column, partial(read_json, item, column.arrow), partial(_show, last[name]))


def _is_read_later(type_: pa.DataType) -> bool:
    """Whether the parser takes any text for a value of the type, which is looked at afterwards."""
    return any(each(type_) for each in (pa.types.is_timestamp, pa.types.is_date, pa.types.is_time))


def tell_value(column: SampledColumn, written: str) -> str:
    """`price is no DECIMAL(10, 2): 1.005`."""
    cut = f"{written[:CUT]}…" if len(written) > CUT else written
    return f"{column.name} is no {column.type}: {_CONTROL.sub(' ', cut)}"


def _read_field(column: SampledColumn, text: str | None) -> Any:
    if text is None:
        return None
    return _read(column, lambda: read_text(text, column.arrow), lambda: quote(text))


def _read_item(column: SampledColumn, value: Any) -> Any:
    return _read(column, lambda: read_json(value, column.arrow), lambda: _show(value))


def _read(column: SampledColumn, read: Callable[[], Any], show: Callable[[], str]) -> Any:
    try:
        return read()
    except MisfitError:
        raise MalformedError(tell_value(column, show())) from None
    except NamesError:
        raise MalformedError(NAMES) from None


def _show(value: Any) -> str:
    return quote(value) if type(value) is str else show_json_value(value)


def quote(text: str) -> str:
    """The text in quotes, with the escapes that Spark's writer of JSON has."""
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def _escape(sign: re.Match[str]) -> str:
    return _SHORT.get(sign[0]) or f"\\u{ord(sign[0]):04X}"


def _is_deep(value: Any) -> bool:
    """Whether it is nested more deeply than `DEPTH`."""
    level = [value]
    for _ in range(DEPTH):
        level = [
            each
            for part in level
            for each in ([item for _, item in part.pairs] if isinstance(part, JsonObject) else part.items)
            if isinstance(each, JsonObject | JsonArray)
        ]
        if not level:
            return False
    return True


def _decoder() -> Callable[..., str]:
    return codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
