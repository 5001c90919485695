"""Rows of all types in Avro, without Spark: Confluent's own client and Apache's library write and read the same."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import avro.io
import avro.schema
import pyarrow as pa
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.kit.avro.avro import encode_values
from penstock.kit.avro.avro_schemas import SchemaMaker
from tests import campaign
from tests.kafka.registry import RegistryServer, run_registry
from tests.kafka.test_avro import columns, read

EXAMPLES = 400 if campaign.IS_RUNNING else 60


@pytest.fixture(scope="module")
def shared() -> Iterator[RegistryServer]:
    with run_registry() as registry:
        yield registry


NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,3}", fullmatch=True)
MOMENTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), timezones=st.just(UTC))
SINGLES = st.floats(width=32, allow_nan=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


def _scaled(precision: int, scale: int) -> tuple[pa.DataType, Any]:
    digits = st.integers(-(10**precision) + 1, 10**precision - 1)
    made = digits.map(lambda n: Decimal((n < 0, tuple(map(int, str(abs(n)))), -scale)))
    return pa.decimal128(precision, scale), made


SIMPLE: list[tuple[pa.DataType, Any]] = [
    (pa.bool_(), st.booleans()),
    (pa.int8(), st.integers(-(2**7), 2**7 - 1)),
    (pa.int16(), st.integers(-(2**15), 2**15 - 1)),
    (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.float32(), SINGLES),
    (pa.float64(), st.floats(allow_nan=False)),
    (pa.string(), TEXTS),
    (pa.binary(), st.binary(max_size=6)),
    (pa.date32(), st.dates()),
    (pa.timestamp("us", "UTC"), MOMENTS),
    _scaled(38, 10),
    _scaled(5, 5),
    _scaled(1, 0),
]


@st.composite
def structs(draw: Any, depth: int) -> tuple[pa.StructType, Any]:
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    fields = [(name, *draw(types(depth))) for name in names]
    return pa.struct([(name, type_) for name, type_, _ in fields]), st.fixed_dictionaries(
        {name: st.none() | values for name, _, values in fields}
    )


def types(depth: int) -> Any:
    """Types of Arrow, with the values of each."""
    simple = st.sampled_from(SIMPLE)
    if not depth:
        return simple
    inner = types(depth - 1)
    lists = inner.map(lambda each: (pa.list_(each[0]), st.lists(st.none() | each[1], max_size=3)))
    maps = inner.map(
        lambda each: (pa.map_(pa.string(), each[0]), st.dictionaries(TEXTS, st.none() | each[1], max_size=3))
    )
    return st.one_of(simple, simple, lists, maps, structs(depth - 1))


def to_arrow(value: Any, type_: pa.DataType) -> Any:
    """A value with maps as pairs."""
    if value is None:
        return None
    if pa.types.is_struct(type_):
        return {each.name: to_arrow(value[each.name], each.type) for each in fields_of(type_)}
    if pa.types.is_list(type_):
        return [to_arrow(each, type_.value_type) for each in value]
    if pa.types.is_map(type_):
        return [(key, to_arrow(each, type_.item_type)) for key, each in value.items()]
    return value


def fields_of(type_: pa.StructType) -> list[pa.Field]:
    return [type_.field(place) for place in range(type_.num_fields)]


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_rows_of_all_types_go_both_ways(shared: RegistryServer, data: st.DataObject) -> None:
    type_, values = data.draw(structs(2))
    rows = data.draw(st.lists(values, min_size=1, max_size=3))
    schema = SchemaMaker().make("Value", type_)
    topic = f"t{len(shared.subjects)}"
    number = shared.add(f"{topic}-value", schema)
    place = SerializationContext(topic, MessageField.VALUE)
    given_rows = pa.array([to_arrow(each, type_) for each in rows], type_)
    messages = encode_values(given_rows, schema, number).to_pylist()

    client = SchemaRegistryClient({"url": shared.url})
    confluent = AvroDeserializer(client)
    assert [confluent(each, place) for each in messages] == rows
    apache = avro.io.DatumReader(avro.schema.parse(json.dumps(schema)))
    for message, row in zip(messages, rows, strict=True):
        decoder = avro.io.BinaryDecoder(io.BytesIO(message[5:]))
        assert _plain(apache.read(decoder)) == _plain(row)

    serializer = AvroSerializer(client, json.dumps(schema), conf={"auto.register.schemas": False})
    theirs = [serializer(each, place) for each in rows]
    assert theirs == messages
    back = read(shared.url, type_, *theirs)
    assert back == [{**each, "malformed": None} for each in given_rows.to_pylist()]


def _plain(value: Any) -> Any:
    """A value with times and dates as texts: Apache's library has a zone of its own, and no way to the year 1."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.replace(tzinfo=None).isoformat() if isinstance(value, datetime) else value


def test_not_a_number_and_infinity(registry: RegistryServer) -> None:
    type_ = columns(a=pa.float64(), b=pa.float32())
    schema = SchemaMaker().make("Value", type_)
    rows = pa.array([{"a": math.nan, "b": math.inf}], type_)
    (message,) = encode_values(rows, schema, registry.add("s", schema)).to_pylist()
    (found,) = read(registry.url, type_, message)
    assert math.isnan(found["a"])
    assert found["b"] == math.inf
