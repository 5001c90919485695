"""A Sampling -> the first sound rows of its place, and the records before and between them that are set aside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

import pyarrow as pa

from penstock.codegen.record_reasons import FOLDER_VALUE, FUTURE, MALFORMED, NO_TIME, PAST
from penstock.codegen.sampled import Computed, Sampling
from penstock.kit.databases.spark_types import arrow_type
from penstock.kit.worker.panes import connect_duckdb
from penstock.rows import Rows
from penstock.runtime.failure.errors import RunError
from penstock.runtime.samples.record_values import SampledColumn, Values
from penstock.runtime.samples.typed_texts import MisfitError, read_text

STORED = "stored"
EPOCH = datetime(1970, 1, 1)
_HOUR = timedelta(hours=1)
_CHUNK = 256
MOST_READ = 1_000_000
"""The most records that are read in search of sound ones."""


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """A record: its values, or why there are none; its text; where it is from, and when it came, in microseconds."""

    values: Values | None
    text: str
    place: str
    arrived: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RejectedRecord:
    """A record that a query would set aside."""

    reason: str
    record: str
    place: str


@dataclass(slots=True)
class Sample:
    """What was found. `is_all`: whether there is no record behind the ones that were read."""

    rows: Rows
    rejected: list[RejectedRecord]
    read: int
    is_all: bool
    left_out: list[str] = field(default_factory=list)
    """The computed columns that are not shown."""


def take_sample(sampling: Sampling, records: Iterable[FoundRecord], limit: int) -> Sample:
    """The first `limit` sound rows. Raises what reading the records raises."""
    stored = {name: arrow_type(type_) for name, type_ in sampling.columns}
    left_out = list(sampling.left_out)
    computed = list(sampling.computed)
    found: list[Values] = []
    rejected: list[RejectedRecord] = []
    read, records, is_all = 0, iter(records), False
    while len(found) < limit and read < MOST_READ:
        chunk = [*islice(records, min(_CHUNK, limit - len(found)))]
        if not chunk:
            is_all = True
            break
        sound = [each for each in chunk if each.values is not None]
        computed = _compute(computed, sound, sampling.columns, left_out)
        for record in chunk:
            read += 1
            reason = f"{MALFORMED}: {record.reason}" if record.values is None else _find_reason(sampling, record)
            if reason is not None:
                rejected.append(RejectedRecord(reason, record.text, record.place))
            else:
                assert record.values is not None, "a record without values has a reason"
                found.append(record.values)
    if len(found) == limit:
        with suppress(RunError):  # nobody has asked for the file behind
            is_all = next(records, None) is None
    types = {**stored, **{each.name: arrow_type(each.type) for each in computed}}
    names = [each for each in sampling.shown if each in types]
    schema = pa.schema([(name, types[name]) for name in names])
    arrays = [_make_array([row[name] for row in found], types[name]) for name in names]
    return Sample(Rows(pa.table(arrays, schema=schema)), rejected, read, is_all, left_out)


def fill_from_folders(
    columns: Sequence[SampledColumn], folders: Mapping[str, tuple[str, str | None]], values: Values
) -> str | None:
    """Gives columns the values that folders have for them. Returns the reason if the record is malformed."""
    for column in columns:
        given = folders.get(column.name.lower())
        if given is None or pa.types.is_nested(column.arrow) or pa.types.is_binary(column.arrow) or given[1] is None:
            continue
        try:
            value = read_text(given[1], column.arrow)
        except MisfitError:
            return FOLDER_VALUE
        if values.get(column.name) not in (None, value):
            return FOLDER_VALUE
        values[column.name] = value
    return None


def _make_array(values: list[Any], type_: pa.DataType) -> pa.Array:
    """Values as an array. Points in time are in UTC."""
    return pa.array(values, _without_zone(type_)).cast(type_)


def _without_zone(type_: pa.DataType) -> pa.DataType:
    """The type with points in time that have no zone, also within structs."""
    if pa.types.is_struct(type_):
        return pa.struct([field.with_type(_without_zone(field.type)) for field in type_])
    return pa.timestamp("us") if pa.types.is_timestamp(type_) else type_


def _find_reason(sampling: Sampling, record: FoundRecord) -> str | None:
    values = record.values or {}
    if sampling.time is not None and sampling.time in values:
        time = values[sampling.time]
        if time is None:
            return NO_TIME
        if time > EPOCH + timedelta(microseconds=record.arrived) + _HOUR:
            return FUTURE
        if time < EPOCH:
            return PAST
    return next((told for name, told in sampling.required if name in values and values[name] is None), None)


def _compute(
    computed: Sequence[Computed],
    records: Sequence[FoundRecord],
    columns: Sequence[tuple[str, str]],
    left_out: list[str],
) -> list[Computed]:
    """Adds the computed columns to the values of the records. Returns the ones that DuckDB computes of all records."""
    if not computed or not records:
        return [*computed]
    rows = [each.values for each in records if each.values is not None]
    arrays = [pa.array([row[name] for row in rows], _without_zone(arrow_type(type_))) for name, type_ in columns]
    table = pa.table(arrays, names=[f"c{place}" for place, _ in enumerate(arrays)])
    kept = []
    with connect_duckdb() as connection:
        connection.register(STORED, table)
        for each in computed:
            try:
                answer = connection.sql(each.sql, params=dict(each.constants)).to_arrow_table()
            except Exception:  # what DuckDB does not compute of a record, Spark may refuse, or compute
                left_out.append(each.name)
                continue
            kept.append(each)
            for row, value in zip(rows, answer.column(0).to_pylist(), strict=True):
                row[each.name] = value
    return kept
