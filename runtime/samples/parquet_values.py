"""Records of Parquet -> the values of the declared columns, as Spark reads them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.runtime.samples.record_values import MalformedError, SampledColumn, Values, quote, tell_value
from penstock.runtime.samples.typed_texts import MisfitError

BATCH = 1024
_READABLE = {
    pa.types.is_float64: (pa.types.is_float32, pa.types.is_int32),
    pa.types.is_string: (pa.types.is_large_string,),
    pa.types.is_binary: (pa.types.is_large_binary, pa.types.is_fixed_size_binary),
}
"""By the declared type, the other types that are read as it."""


class OtherTypeError(Exception):
    """A column has a type in a file that is not read as the declared one. The message says so."""


def read_parquet_records(path: str, columns: Sequence[SampledColumn]) -> Iterator[tuple[str, Callable[[], Values]]]:
    """For each record its text, and what reads its values and raises MalformedError.

    Raises:
        OtherTypeError: the types of the file are not read as the declared ones.
        OSError, pa.ArrowException: it is no file of Parquet.
    """
    file = pq.ParquetFile(path)
    found = {name.lower(): name for name in reversed(file.schema_arrow.names)}
    found |= {name: name for name in file.schema_arrow.names}
    places = {column.name: found.get(column.name) or found.get(column.name.lower()) for column in columns}
    for column in columns:
        place = places[column.name]
        if place is not None and not is_readable(file.schema_arrow.field(place).type, column.arrow):
            type_ = file.schema_arrow.field(place).type
            raise OtherTypeError(f"{column.name} is {type_} there, and declared {column.type}")
    names = sorted({place for place in places.values() if place is not None})
    for batch in file.iter_batches(BATCH, columns=names):
        for record in batch.to_pylist(maps_as_pydicts=None) if names else [{}] * batch.num_rows:
            text = str({name: value for name, value in record.items() if value is not None})
            yield text, partial(_read_record, record, places, columns)


def is_readable(found: pa.DataType, declared: pa.DataType) -> bool:
    """Whether Spark reads a column of one type as one of the other, maybe as a value that does not fit."""
    types = pa.types
    if types.is_dictionary(found):
        found = found.value_type
    if types.is_map(declared):
        pairs = (
            [(found.key_type, declared.key_type), (found.item_type, declared.item_type)] if types.is_map(found) else []
        )
        return bool(pairs) and all(is_readable(*pair) for pair in pairs)
    if types.is_list(declared):
        is_list = any(each(found) for each in (types.is_list, types.is_large_list, types.is_fixed_size_list))
        return is_list and is_readable(found.value_type, declared.value_type)
    if types.is_struct(declared):
        inside = {field.name.lower(): field.type for field in found} if types.is_struct(found) else {}
        known = [(inside[field.name.lower()], field.type) for field in declared if field.name.lower() in inside]
        return bool(types.is_struct(found)) and all(is_readable(*pair) for pair in known)
    if types.is_decimal(declared):
        return bool(types.is_decimal(found) and found.scale == declared.scale and found.precision <= declared.precision)
    if types.is_timestamp(declared):
        return bool(types.is_timestamp(found) and found.unit in ("ms", "us"))
    if types.is_time(declared):
        return bool(types.is_time64(found) and found.unit == "us")
    if types.is_integer(declared):
        return bool(types.is_integer(found) and not types.is_uint64(found))
    readable = next((kinds for kind, kinds in _READABLE.items() if kind(declared)), ())
    return bool(found == declared) or any(kind(found) for kind in readable)


def _read_record(record: dict[str, Any], places: dict[str, str | None], columns: Sequence[SampledColumn]) -> Values:
    values = {}
    for column in columns:
        place = places[column.name]
        value = None if place is None else record[place]
        try:
            values[column.name] = _convert(value, column.arrow)
        except MisfitError:
            raise MalformedError(tell_value(column, quote(str(value)))) from None
    return values


def _convert(value: Any, type_: pa.DataType) -> Any:
    types = pa.types
    if value is None:
        return None
    if types.is_integer(type_):
        bound = 1 << (type_.bit_width - 1)
        if not -bound <= value < bound:
            raise MisfitError
    elif types.is_timestamp(type_):
        return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    elif types.is_struct(type_):
        inside = {name.lower(): item for name, item in reversed([*value.items()])}
        return {
            field.name: _convert(value.get(field.name, inside.get(field.name.lower())), field.type) for field in type_
        }
    elif types.is_map(type_):
        pairs = [(_convert(key, type_.key_type), _convert(item, type_.item_type)) for key, item in value]
        if len({str(key) for key, _ in pairs}) < len(pairs):
            raise MisfitError
        return pairs
    elif types.is_list(type_):
        return [_convert(each, type_.value_type) for each in value]
    elif (types.is_float64(type_) and isinstance(value, int)) or (types.is_float32(type_) and math.isfinite(value)):
        return float(value)
    return value
