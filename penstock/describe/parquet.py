"""Files of Parquet -> their columns, by the types that the files say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.describe.differing_files import tell_files
from penstock.describe.found_place import FoundPlace, refuse
from penstock.describe.infer import Described
from penstock.describe.observed import Observed, RecordArrival
from penstock.describe.text_forms import EPOCH, TEXT_FORMS
from penstock.planner.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIME,
    TIMESTAMP,
    TINYINT,
    Array,
    Decimal,
    Map,
    Struct,
    Type,
)
from penstock.runtime.samples.file_records import coded_content
from penstock.runtime.samples.sample_files import SampleFile

MOST_RECORDS = 100_000
"""So many records of the files are read, for times and keys."""
_SIMPLE = {
    pa.bool_(): BOOLEAN,
    pa.int8(): TINYINT,
    pa.int16(): SMALLINT,
    pa.int32(): INT,
    pa.int64(): BIGINT,
    pa.uint8(): SMALLINT,
    pa.uint16(): INT,
    pa.uint32(): BIGINT,
    pa.float32(): FLOAT,
    pa.float64(): DOUBLE,
    pa.string(): STRING,
    pa.large_string(): STRING,
    pa.binary(): BINARY,
    pa.large_binary(): BINARY,
    pa.date32(): DATE,
    pa.time64("us"): TIME,
}
_WIDER = (TINYINT, SMALLINT, INT, BIGINT)


def describe_parquet(found: FoundPlace, files: Sequence[SampleFile], progress: Callable[[str], None]) -> None:
    """Adds the columns of the files. Raises CompileError, RunError."""
    known: dict[str, Described] = {}
    refused: dict[str, str] = {}
    present: dict[str, int] = {}
    types: dict[str, dict[str, int]] = {}
    total = 0
    for number, file in enumerate(files):
        progress(f"{number + 1:,} of {len(files):,} files")
        with coded_content(file):
            schema = pq.read_schema(file.path)
            total += pq.read_metadata(file.path).num_rows
        for each in schema:
            key = each.name.lower()
            present[key] = present.get(key, 0) | 1 << number
            spelled = types.setdefault(key, {})
            spelled[str(each.type)] = spelled.get(str(each.type), 0) | 1 << number
            type_ = find_parquet_type(each.type)
            if type_ is None:
                refused[each.name] = f"{each.type} is not read"
                continue
            column = known.setdefault(key, Described(each.name, type_, observed=Observed(each.name)))
            wider = _widen(column.type, type_)
            if wider is None:
                refused[column.name] = f"its types do not go together: {', '.join(spelled)}"
            else:
                column.type = wider
    found.columns = [each for each in known.values() if each.name not in refused]
    found.notes += [f"{name} is left out: {reason}" for name, reason in refused.items()]
    if not found.columns:
        reason = "; ".join(f"{name}: {reason}" for name, reason in refused.items()) or "no file has a column"
        raise refuse(str(found.options["path"]), reason)
    everywhere = (1 << len(files)) - 1
    for key, mask in present.items():
        if mask != everywhere:
            found.differences.append(f"{key} is missing in {tell_files(everywhere & ~mask, files)}")
        if len(types[key]) > 1:
            told = "; ".join(f"{type_} in {tell_files(files_, files)}" for type_, files_ in types[key].items())
            found.differences.append(f"{key} is {told}")
    _look_at_rows(found, files)
    found.records, found.is_all = min(total, MOST_RECORDS), total <= MOST_RECORDS
    told = "" if found.is_all else f"{found.records:,} of "
    found.read = (
        f"{told}{total:,} record{'' if total == 1 else 's'} of {len(files):,} file{'' if len(files) == 1 else 's'}"
    )


def find_parquet_type(type_: pa.DataType) -> Type | None:
    """The type of a column that Spark reads of this one; None if it reads none."""
    kinds = pa.types
    if kinds.is_dictionary(type_):
        return find_parquet_type(type_.value_type)
    if kinds.is_timestamp(type_):
        return TIMESTAMP if type_.unit in ("ms", "us") else None
    if kinds.is_decimal128(type_):
        fits = 0 <= type_.scale <= type_.precision
        return Decimal(type_.precision, type_.scale) if fits else None
    if kinds.is_fixed_size_binary(type_):
        return BINARY
    if kinds.is_list(type_) or kinds.is_large_list(type_) or kinds.is_fixed_size_list(type_):
        item = find_parquet_type(type_.value_type)
        return None if item is None else Array(item)
    if kinds.is_map(type_):
        key, item = find_parquet_type(type_.key_type), find_parquet_type(type_.item_type)
        return None if key is None or item is None else Map(key, item)
    if kinds.is_struct(type_):
        fields = [(field.name, find_parquet_type(field.type)) for field in type_]
        kept = tuple((name, each) for name, each in fields if each is not None)
        return Struct(kept) if kept and len(kept) == len(fields) else None
    return _SIMPLE.get(type_)


def _widen(one: Type, other: Type) -> Type | None:
    """A type as which both are read."""
    if one == other:
        return one
    if one in _WIDER and other in _WIDER:
        return max(one, other, key=_WIDER.index)
    if {one, other} <= {FLOAT, DOUBLE}:
        return DOUBLE
    if isinstance(one, Decimal) and isinstance(other, Decimal) and one.scale == other.scale:
        return Decimal(max(one.precision, other.precision), one.scale)
    if isinstance(one, Struct) and isinstance(other, Struct):
        fields = dict(one.fields)
        for name, type_ in other.fields:
            wider = _widen(fields[name], type_) if name in fields else type_
            if wider is None:
                return None
            fields[name] = wider
        return Struct(tuple(fields.items()))
    return None


def _look_at_rows(found: FoundPlace, files: Sequence[SampleFile]) -> None:
    """Notes times and keys of the first records."""
    looked = [each for each in found.columns if each.type in (TIMESTAMP, STRING, INT, BIGINT)]
    left = MOST_RECORDS
    for number, file in enumerate(files):
        place = RecordArrival(number, EPOCH + timedelta(microseconds=file.written))
        with coded_content(file):
            there = {name.lower(): name for name in pq.read_schema(file.path).names}
            names = [there[each.name.lower()] for each in looked if each.name.lower() in there]
            for batch in pq.ParquetFile(file.path).iter_batches(8192, columns=names):
                rows = batch.slice(0, left)
                left -= rows.num_rows
                for each in looked:
                    assert each.observed is not None, "each column of a file is observed"
                    name = there.get(each.name.lower())
                    values = [None] * rows.num_rows if name is None else rows.column(name).to_pylist()
                    for value in values:
                        each.observed.add_typed(_without_zone(value), place)
                if not left:
                    break
        if not left:
            break
    for each in looked:
        if each.type == TIMESTAMP and each.observed is not None and each.observed.forms:
            each.form = TEXT_FORMS[1]


def _without_zone(value: object) -> object:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value
