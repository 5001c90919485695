"""Messages in Avro, without Spark: Confluent's own client and Apache's library of Avro write and read them, too."""

from __future__ import annotations

import base64
import io
import json
import struct
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import avro.io
import avro.schema
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.kit.avro import registry as asking
from penstock.kit.avro.avro import Decoder, decode_values
from penstock.kit.avro.avro_schemas import SchemaError, SchemaMaker
from penstock.kit.avro.registry import Registry, RegistryError
from tests import campaign
from tests.kafka.registry import RegistryServer, run_registry

EXAMPLES = 400 if campaign.IS_RUNNING else 60
MALFORMED = pa.field("malformed", pa.string())


@pytest.fixture(scope="module")
def shared() -> Iterator[RegistryServer]:
    with run_registry() as registry:
        yield registry


def read(url: str, type_: pa.StructType, *messages: bytes | None) -> list[dict[str, Any]]:
    """The rows of messages; what is malformed is under `malformed`."""
    names = [type_.field(place).name for place in range(type_.num_fields)]
    made = pa.struct([*(type_.field(place) for place in range(type_.num_fields)), MALFORMED])
    decoder = Decoder(Registry(url), type_)
    rows: list[dict[str, Any]] = decode_values(pa.array(messages, pa.binary()), decoder, names, made).to_pylist()
    return rows


def columns(**types: pa.DataType) -> pa.StructType:
    return pa.struct([*types.items()])


def record(*fields: tuple[str, Any], name: str = "R") -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": field, "type": type_} for field, type_ in fields]}


def write(number: int, schema: Any, value: Any) -> bytes:
    """A message as Apache's library writes it."""
    payload = io.BytesIO()
    writer = avro.io.DatumWriter(avro.schema.parse(json.dumps(schema)))
    writer.write(value, avro.io.BinaryEncoder(payload))
    return struct.pack(">bI", 0, number) + payload.getvalue()


def logical(type_: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": type_, "logicalType": name, **more}


# ---- schemas of other writers

AT = datetime(2024, 2, 29, 12, 34, 56, 789000, UTC)
ENUM = {"type": "enum", "name": "Colour", "symbols": ["RED", "BLUE"]}
UUID = "0b0c0d0e-0000-4000-8000-000000000001"
FIXED = {"type": "fixed", "name": "Four", "size": 4}
TIME = pa.timestamp("us", "UTC")
READ: list[tuple[Any, pa.DataType, Any, Any]] = [
    ("int", pa.int64(), 7, 7),
    ("int", pa.float64(), 7, 7.0),
    ("float", pa.float64(), 0.5, 0.5),
    ("int", pa.int8(), -128, -128),
    (["null", "int", "long"], pa.int64(), 2**40, 2**40),
    (["string", "null"], pa.string(), None, None),
    (ENUM, pa.string(), "BLUE", "BLUE"),
    (FIXED, pa.binary(), b"abcd", b"abcd"),
    (logical("string", "uuid"), pa.string(), UUID, UUID),
    (logical("int", "date"), pa.date32(), date(2024, 2, 29), date(2024, 2, 29)),
    (logical("long", "timestamp-millis"), TIME, AT, AT),
    (logical("bytes", "decimal", precision=4, scale=2), pa.decimal128(10, 3), Decimal("-1.25"), Decimal("-1.250")),
    (FIXED | logical("fixed", "decimal", precision=4, scale=2), pa.decimal128(4, 2), Decimal("0.01"), Decimal("0.01")),
    (
        record(("x", "int"), ("more", "string"), name="In"),
        columns(x=pa.int32(), y=pa.string()),
        {"x": 1, "more": "a"},
        {"x": 1, "y": None},
    ),
    (
        {"type": "map", "values": ["null", "long"]},
        pa.map_(pa.string(), pa.int64()),
        {"a": 1, "b": None},
        [("a", 1), ("b", None)],
    ),
    ({"type": "array", "items": "string"}, pa.list_(pa.string()), ["a"], ["a"]),
]


@pytest.mark.parametrize(("schema", "type_", "value", "expected"), READ, ids=str)
def test_what_others_write_is_read_as_the_column(
    registry: RegistryServer, schema: Any, type_: pa.DataType, value: Any, expected: Any
) -> None:
    whole = record(("before", "string"), ("a", schema), ("after", ["null", "double"]))
    message = write(registry.add("s", whole), whole, {"before": "x", "a": value, "after": None})
    (found,) = read(registry.url, columns(a=type_, missing=pa.int32()), message)
    assert found == {"a": expected, "missing": None, "malformed": None}


def test_a_message_that_is_no_record_is_the_one_column(registry: RegistryServer) -> None:
    for schema, type_, value in (("string", pa.string(), "k"), (["null", "long"], pa.int64(), 3)):
        message = write(registry.add("s", json.dumps(schema)), schema, value)
        assert read(registry.url, columns(id=type_), message) == [{"id": value, "malformed": None}]


def test_each_record_is_read_by_its_own_schema(registry: RegistryServer) -> None:
    first, second = record(("a", "int")), record(("b", "string"), ("a", ["null", "long"]))
    messages = [
        write(registry.add("s", first), first, {"a": 1}),
        write(registry.add("s", second), second, {"b": "x", "a": 2**40}),
    ]
    found = read(registry.url, columns(a=pa.int64(), b=pa.string()), *messages, None, *messages)
    both = [(1, None), (2**40, "x")]
    assert [(each["a"], each["b"]) for each in found] == [*both, (None, None), *both]
    assert registry.requests == ["GET /schemas/ids/1", "GET /schemas/ids/2"]


def test_schemas_may_name_others(registry: RegistryServer) -> None:
    user = {**record(("id", "long"), name="User"), "namespace": "com.x"}
    registry.add("user", user)
    order = record(("user", "com.x.User"), ("again", "com.x.User"), name="Order")
    number = registry.add("s", order, references=({"name": "com.x.User", "subject": "user", "version": 1},))
    whole = record(("user", user), ("again", "com.x.User"), name="Order")
    message = write(number, whole, {"user": {"id": 1}, "again": {"id": 2}})
    id_ = columns(id=pa.int64())
    (found,) = read(registry.url, columns(user=id_, again=id_), message)
    assert found == {"user": {"id": 1}, "again": {"id": 2}, "malformed": None}


REFUSED: list[tuple[Any, pa.DataType, str]] = [
    ("long", pa.int32(), "a is long, which INT does not hold"),
    ("long", pa.float64(), "a is long, which DOUBLE does not hold"),
    ("double", pa.float32(), "a is double, which FLOAT does not hold"),
    ("int", pa.string(), "a is int, which STRING does not hold"),
    (["null", "string", "int"], pa.string(), "a is int, which STRING does not hold"),
    (logical("long", "timestamp-nanos"), TIME, "a is timestamp-nanos, which TIMESTAMP does not"),
    (logical("long", "local-timestamp-micros"), TIME, "a is local-timestamp-micros, which"),
    (logical("long", "timestamp-micros"), pa.int64(), "a is timestamp-micros, which BIGINT does not hold"),
    (logical("string", "date"), pa.date32(), "a is string, which DATE does not hold"),
    (logical("int", "time-millis"), pa.int32(), "a is time-millis, which INT does not hold"),
    (logical("bytes", "decimal", precision=5, scale=2), pa.decimal128(4, 2), "a is decimal(5, 2), which"),
    (logical("bytes", "decimal", precision=4, scale=3), pa.decimal128(4, 2), "a is decimal(4, 3), which"),
    (logical("bytes", "decimal", precision=4, scale=9), pa.decimal128(4, 2), "a is bytes, which DECIMAL(4, 2) does"),
    (
        record(("x", {"type": "array", "items": "long"}), name="In"),
        columns(x=pa.list_(pa.int32())),
        "a.x.element is long",
    ),
    ({"type": "map", "values": "string"}, pa.map_(pa.string(), pa.int64()), "a.value is string, which BIGINT"),
    ({"type": "array", "items": "null"}, pa.list_(pa.int64()), "the items of an array have no values"),
    ({"type": "array", "items": record(name="Empty")}, pa.list_(pa.int64()), "the items of an array have no values"),
    (record(("X", "int"), name="In"), columns(x=pa.int32()), "a has no field x, but X"),
    (["null", "R"], pa.int64(), "the record R contains itself"),
    ("nothing", pa.int64(), "it is no schema of Avro: nothing"),
    ({"type": "array"}, pa.int64(), "it is no schema of Avro"),
    ({"items": "int"}, pa.int64(), "it has a part without a type"),
]


@pytest.mark.parametrize(("schema", "type_", "told"), REFUSED, ids=str)
def test_a_schema_that_does_not_fit_is_told(
    registry: RegistryServer, schema: Any, type_: pa.DataType, told: str
) -> None:
    number = registry.add("s", record(("a", schema)))
    (found,) = read(registry.url, columns(a=type_, b=pa.int32()), struct.pack(">bI", 0, number) + b"\0" * 9)
    assert found["malformed"].startswith(f"schema {number}: {told}"), found["malformed"]


# ---- malformed messages


def test_malformed_messages(registry: RegistryServer) -> None:
    schema = record(
        ("a", "string"), ("t", logical("long", "timestamp-micros")), ("d", logical("bytes", "decimal", precision=3))
    )
    number = registry.add("s", schema)
    other = registry.add("p", "syntax = 'proto3';", "PROTOBUF")
    head = struct.pack(">bI", 0, number)
    good = write(number, schema, {"a": "é", "t": AT, "d": Decimal(999)})
    bad = {
        b"": "it does not begin with 0 and the number of a schema",
        b"\0\0\0\0": "it does not begin with 0",
        b'{"a": "x"}': "it does not begin with 0",
        b"\0\xff\xff\xff\xffabc": "it does not begin with 0",
        b"\0\0\0\0\x63abc": "schema 99: it is unknown",
        struct.pack(">bI", 0, other) + b"abc": f"schema {other}: it is PROTOBUF, not Avro",
        head: f"it does not parse by schema {number}: ",
        good[:-1]: f"it does not parse by schema {number}: ",
        good + b"\0": f"it goes on behind the record of schema {number}",
        head + b"\x02\xff" + good[8:]: f"it does not parse by schema {number}: 'utf-8' codec",
        head + b"\x01abc": f"it does not parse by schema {number}: ",
        head + b"\x00" + b"\xff" * 9 + b"\x01" + b"\x02\x01": "a value does not fit: ",
        head + b"\x00\x00" + b"\x06\x7f\xff\xff": "a value does not fit: ",
    }
    type_ = columns(a=pa.string(), t=pa.timestamp("us", "UTC"), d=pa.decimal128(20, 0))
    found = read(registry.url, type_, good, *bad, good)
    row = {"a": "é", "t": AT, "d": Decimal(999), "malformed": None}
    assert [found[0], found[-1]] == [row, row]
    for each, message, told in zip(found[1:-1], bad, bad.values(), strict=True):
        assert each["malformed"].startswith(told), (message, each)
        assert base64.b64decode(each["malformed"].rpartition(": ")[2]) == message
        assert (each["a"], each["t"], each["d"]) == (None, None, None)
    # What is no column is not looked at more closely.
    assert read(registry.url, columns(a=pa.string()), head + b"\x00" + b"\xff" * 9 + b"\x01" + b"\x02\x01") == [
        {"a": "", "malformed": None}
    ]


@settings(max_examples=EXAMPLES * 5, deadline=None)
@given(st.binary(max_size=40))
def test_no_bytes_stop_a_query(shared: RegistryServer, payload: bytes) -> None:
    inner = record(("x", ["null", "string"]), ("y", {"type": "array", "items": "double"}), name="In")
    schema = record(("a", inner), ("m", {"type": "map", "values": ENUM}), ("d", logical("int", "date")))
    number = shared.add("noise", schema)
    inside = columns(x=pa.string(), y=pa.list_(pa.float64()))
    type_ = columns(a=inside, m=pa.map_(pa.string(), pa.string()), d=pa.date32())
    message = struct.pack(">bI", 0, number) + payload
    (found,) = read(shared.url, type_, message)
    assert found["malformed"] is None or found["malformed"].endswith(f": {base64.b64encode(message).decode()}")


# ---- schemas that are written


def test_records_have_the_names_that_others_gave_them() -> None:
    inner = {**record(("x", "int"), name="Inner"), "namespace": "com.y"}
    theirs = {**record(("a", ["null", inner]), ("l", {"type": "array", "items": "com.y.Inner"}), name="Order")}
    theirs["namespace"] = "com.x"
    type_ = columns(a=columns(x=pa.int64()), l=pa.list_(columns(x=pa.int64())), new=columns(y=pa.int32()))
    made = SchemaMaker(theirs).make("Value", type_)
    names = [each["type"][1] for each in made["fields"]]
    assert made["name"] == "com.x.Order"
    assert names[0]["name"] == "com.y.Inner"
    assert names[1]["items"][1]["name"] == "com.y.Inner_2"
    assert names[2]["name"] == "com.x.Order_new"
    avro.schema.parse(json.dumps(made))
    assert SchemaMaker("nonsense").make("Value", type_) == SchemaMaker().make("Value", type_)
    assert SchemaMaker('"string"').make("Value", type_)["name"] == "Value"


def test_names_of_records_inside_differ() -> None:
    inside = columns(c=pa.int32())
    type_ = pa.struct([("a", columns(b=inside)), ("a_b", inside)])
    avro.schema.parse(json.dumps(SchemaMaker().make("Value", type_)))


# ---- registries that fail


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "PAUSE", 0.001)


@pytest.mark.usefixtures("impatient")
def test_a_registry_is_asked_again(registry: RegistryServer) -> None:
    number = registry.add("s", record(("a", "int")))
    registry.failures += [(503, {}), (429, {}), (500, {})]
    assert Registry(registry.url).find_schema(number) == [record(("a", "int"))]
    registry.failures += [(503, {})] * asking.TRIES
    with pytest.raises(RegistryError, match="it answers 503 Service Unavailable"):
        Registry(registry.url).find_schema(number)
    assert not registry.failures


@pytest.mark.usefixtures("impatient")
def test_what_is_no_registry_rejects_nothing(registry: RegistryServer) -> None:
    """Another server answers 404, too, which does not mean that a schema is unknown."""
    assert Registry(registry.url).find_schema(7) is None
    assert Registry(registry.url).find_newest("s") is None
    with pytest.raises(RegistryError, match="it answers 404 Not Found"):
        Registry(f"{registry.url}/other").find_schema(7)
    registry.failures += [(200, {})] * asking.TRIES
    with pytest.raises(RegistryError):
        Registry(registry.url).find_schema(7)
    with pytest.raises(RegistryError, match="Connection refused"):
        Registry("http://127.0.0.1:9").find_schema(7)


def test_what_a_schema_names_may_be_missing(registry: RegistryServer) -> None:
    schema = record(("u", "User"))
    number = registry.add("s", schema, references=({"name": "User", "subject": "users", "version": 1},))
    with pytest.raises(SchemaError, match="it names User, which the registry does not have"):
        Registry(registry.url).find_schema(number)
    registry.add("loop", schema, references=({"name": "User", "subject": "loop", "version": 1},))
    registry.requests.clear()
    type_ = columns(u=columns(id=pa.int64()))
    assert "no schema of Avro: User" in read(registry.url, type_, struct.pack(">bI", 0, 2) + b"\0")[0]["malformed"]
    assert len(registry.requests) == 2
