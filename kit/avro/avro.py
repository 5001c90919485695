"""Messages in Avro -> rows, and the reverse. The number of the schema stands in front of each, as Confluent has it.

A record is read by the schema that it was written with. Its fields are columns by their names: a missing one is NULL,
as in JSON. What a column cannot hold without loss is no row.
"""

from __future__ import annotations

import base64
import io
import struct
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from types import ModuleType
from typing import Any

import fastavro
import pyarrow as pa

from penstock.kit.avro.avro_schemas import (
    DATE,
    DECIMAL,
    MICROS,
    MILLIS,
    SchemaError,
    check_fit,
    is_record,
    list_fields,
    parse_schema,
)
from penstock.kit.avro.registry import Registry, RegistryError

REGISTRY_ERROR = "schema registry "
"""How the text of a LookupError begins that says that the registry cannot be asked."""
_HEAD = ">bi"
_SIZE = struct.calcsize(_HEAD)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY = _EPOCH.toordinal()
_OUTSIDE = "a value is outside of the range of its type"
"""What stands for such a value. No column but one of texts takes it, and these have no such values."""


class Decoder:
    """Messages of one shape. It remembers the schemas that it has met. `type_`: the columns, by the names of fields."""

    def __init__(self, registry: Registry, type_: pa.StructType) -> None:
        self._registry, self._type = registry, type_
        self._known: dict[int, tuple[Any, bool]] = {}
        self._names = [each.name for each in list_fields(type_)]
        self._has_maps = has_maps(type_)
        fastavro.read.LOGICAL_READERS.update(
            {
                f"int-{DATE}": _read_date,
                f"long-{MILLIS}": _read_millis,
                f"long-{MICROS}": _read_micros,
                f"bytes-{DECIMAL}": _read_decimal,
                f"fixed-{DECIMAL}": _read_decimal,
            }
        )

    def decode(self, values: Iterable[bytes | None]) -> list[dict[str, Any] | str | None]:
        """The fields of each message, or why there are none. A message that is None is None.

        Raises RegistryError: the registry cannot be asked.
        """
        unknown: dict[int, str] = {}  # asked for again in the next batch: it may be there by then
        return [None if value is None else self._decode(value, unknown) for value in values]

    def _decode(self, value: bytes, unknown: dict[int, str]) -> dict[str, Any] | str:
        magic, number = struct.unpack_from(_HEAD, value) if len(value) >= _SIZE else (1, 0)
        if magic or number < 0:
            return "it does not begin with 0 and the number of a schema"
        if number in unknown:
            return unknown[number]
        if number not in self._known:
            try:
                self._known[number] = self._find(number)
            except SchemaError as error:
                unknown[number] = f"schema {number}: {error}"
                return unknown[number]
        schema, has_fields = self._known[number]
        payload = io.BytesIO(value)
        payload.seek(_SIZE)
        try:
            record: Any = fastavro.schemaless_reader(payload, schema, None)
        except Exception as error:  # whatever bytes make of a reader
            return f"it does not parse by schema {number}: {' '.join(str(error).split()) or type(error).__name__}"
        if payload.tell() != len(value):
            return f"it goes on behind the record of schema {number}"
        found = {} if record is None else record
        fields = {each: found.get(each) for each in self._names} if has_fields else {self._names[0]: record}
        return list_maps(fields, self._type) if self._has_maps else fields

    def _find(self, number: int) -> tuple[Any, bool]:
        """The schema of a number, and whether its values are records. Raises SchemaError, RegistryError."""
        schema, named = self._registry.find_schema(number), {}  # type: ignore[var-annotated]
        if schema is None:
            raise SchemaError("it is unknown")
        return read_schema(schema, self._type, named)


def read_schema(texts: Sequence[Any], type_: pa.StructType, named: dict[str, Any] | None = None) -> tuple[Any, bool]:
    """A schema for the reader, and whether its values are records.

    Args:
        texts: the schemas that it names, each behind the schemas that it names itself, and the schema.
        type_: the columns.
        named: takes the schemas that have names.

    Raises:
        SchemaError: it cannot be read, or the columns do not hold its values.
    """
    named = {} if named is None else named
    schema = [parse_schema(each, named) for each in texts][-1]
    check_fit(schema, type_, named)
    return schema, is_record(schema, named)


def _read_date(days: int, *_: Any) -> date | str:
    try:
        return date.fromordinal(_FIRST_DAY + days)
    except (ValueError, OverflowError):
        return _OUTSIDE


def _read_millis(millis: int, *_: Any) -> datetime | str:
    return _read_micros(1000 * millis)


def _read_micros(micros: int, *_: Any) -> datetime | str:
    try:
        return _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return _OUTSIDE


def _read_decimal(value: bytes, schema: Any, *_: Any) -> Decimal | str:
    unscaled = int.from_bytes(value, "big", signed=True)
    if abs(unscaled) >= 10 ** schema["precision"]:
        return _OUTSIDE
    return Decimal((unscaled < 0, tuple(map(int, str(abs(unscaled)))), -schema["scale"]))


def has_maps(type_: pa.DataType) -> bool:
    """Whether a map is somewhere in values of the type."""
    inside = [type_.field(place).type for place in range(type_.num_fields)]
    return pa.types.is_map(type_) or any(map(has_maps, inside))


def list_maps(value: Any, type_: pa.DataType) -> Any:
    """A value with maps as Arrow takes them, which are pairs of keys and values."""
    return _change_maps(value, type_, lambda pairs: [*pairs.items()])


def _change_maps(value: Any, type_: pa.DataType, change: Any) -> Any:
    if value is None or not has_maps(type_):
        return value
    if pa.types.is_struct(type_):
        return {each.name: _change_maps(value.get(each.name), each.type, change) for each in list_fields(type_)}
    if pa.types.is_list(type_):
        return [_change_maps(each, type_.value_type, change) for each in value]
    pairs = value.items() if isinstance(value, dict) else value
    return change({key: _change_maps(each, type_.item_type, change) for key, each in pairs})


def decode_values(values: pa.Array, decoder: Decoder, names: Sequence[str], type_: pa.StructType) -> pa.Array:
    """Messages as structs of the type, whose last field says what is malformed: why, and the message in base64.

    Args:
        values: the messages, as bytes.
        decoder: reads them.
        names: the fields of records, for each field of the type but the last one.
        type_: the type of the result.

    Raises:
        LookupError: the registry cannot be asked. Its text begins with REGISTRY_ERROR.
    """
    read = name_fields(names, type_)
    messages = values.to_pylist()
    try:
        found = decoder.decode(messages)
    except RegistryError as error:
        raise LookupError(f"{REGISTRY_ERROR}{error}") from None
    reasons = [each if isinstance(each, str) else None for each in found]
    records = [each if isinstance(each, dict) else None for each in found]
    try:
        rows = pa.array(records, read)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        for place, record in enumerate(records):
            try:
                pa.array([record], read)
            except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
                records[place], reasons[place] = None, f"a value does not fit: {' '.join(str(error).split())}"
        rows = pa.array(records, read)
    texts = [
        None if reason is None else f"{reason}: {base64.b64encode(message).decode()}"
        for reason, message in zip(reasons, messages, strict=True)
    ]
    columns = [*rows.flatten(), pa.array(texts, pa.string())]
    return pa.StructArray.from_arrays(columns, fields=list_fields(type_))


def name_fields(names: Sequence[str], type_: pa.StructType) -> pa.StructType:
    """The type with these names for its first fields, and without the others."""
    return pa.struct([pa.field(name, each.type) for name, each in zip(names, list_fields(type_), strict=False)])


def share_decoder(name: str, registry: Registry, type_: pa.StructType) -> Decoder:
    """The decoder of that name in this process. Spark makes this module anew for each task, so it is kept elsewhere."""
    kept: dict[str, Any] = sys.modules.setdefault("penstock_decoders", ModuleType("penstock_decoders")).__dict__
    if name not in kept:
        kept[name] = Decoder(registry, type_)
    decoder: Decoder = kept[name]
    return decoder


def encode_values(values: pa.Array | pa.ChunkedArray, schema: Any, number: int) -> pa.Array:
    """Structs as messages, with the number of the schema in front. NULL stays NULL."""
    parsed, head = fastavro.parse_schema(schema, {}), struct.pack(_HEAD, 0, number)
    messages: list[bytes | None] = []
    for value in values.to_pylist():
        if value is None:
            messages.append(None)
            continue
        payload = io.BytesIO()
        payload.write(head)
        fastavro.schemaless_writer(payload, parsed, _change_maps(value, values.type, dict))
        messages.append(payload.getvalue())
    return pa.array(messages, pa.binary())
