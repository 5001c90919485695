"""Schemas of Avro -> whether columns hold all values of them; and the schema of columns.

A schema out of a registry is rebuilt from the parts that are known here. So nothing else in it reaches a reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import fastavro
import pyarrow as pa

PREFIX = "penstock-"
"""What stands before logical types in rebuilt schemas. The reader's own ones round, or fail for fields of no column."""
DECIMAL, DATE, MILLIS, MICROS = (
    f"{PREFIX}{each}" for each in ("decimal", "date", "timestamp-millis", "timestamp-micros")
)
_MOMENTS = ("timestamp-millis", "timestamp-micros", "timestamp-nanos")
_LOGICAL: dict[str, tuple[str, ...]] = {
    "int": ("date", "time-millis"),
    "long": ("time-micros", *_MOMENTS, *(f"local-{each}" for each in _MOMENTS)),
    "string": ("uuid",),
    "bytes": ("decimal",),
    "fixed": ("decimal", "duration", "uuid"),
}
"""By type of Avro: the logical types that it may have. Others are ignored, as the format demands."""
_HELD: dict[pa.DataType, tuple[str, tuple[str, ...]]] = {
    pa.bool_(): ("BOOLEAN", ("boolean",)),
    pa.int8(): ("TINYINT", ("int",)),
    pa.int16(): ("SMALLINT", ("int",)),
    pa.int32(): ("INT", ("int",)),
    pa.int64(): ("BIGINT", ("int", "long")),
    pa.float32(): ("FLOAT", ("float",)),
    pa.float64(): ("DOUBLE", ("int", "float", "double")),
    pa.string(): ("STRING", ("string", "enum")),
    pa.binary(): ("BINARY", ("bytes", "fixed")),
}
"""By type of Arrow: what SQL calls it, and the types of Avro whose values it holds."""
_WRITTEN = {pa.int64(): "long", pa.float64(): "double"}
_DEEPEST = 100
"""How deep schemas may lie inside each other."""


class SchemaError(Exception):
    """A schema cannot be read, or records of it are no rows of the columns."""


def rebuild_schema(given: Any, depth: int = 0) -> Any:
    """A schema with its known parts only. Raises SchemaError for what is none."""
    if depth > _DEEPEST:
        raise SchemaError(f"it is more than {_DEEPEST} schemas deep")
    if isinstance(given, str):
        return given
    if isinstance(given, list):
        return [rebuild_schema(each, depth + 1) for each in given]
    if not isinstance(given, dict) or "type" not in given:
        raise SchemaError("it has a part without a type")
    kind = given["type"]
    if not isinstance(kind, str):
        return rebuild_schema(kind, depth + 1)
    schema = {"type": kind, **{name: given[name] for name in ("name", "namespace") if isinstance(given.get(name), str)}}
    match kind:
        case "record" | "error":
            fields = [(each["name"], rebuild_schema(each["type"], depth + 1)) for each in given["fields"]]
            schema |= {"type": "record", "fields": [{"name": name, "type": inside} for name, inside in fields]}
        case "array":
            schema["items"] = rebuild_schema(given["items"], depth + 1)
        case "map":
            schema["values"] = rebuild_schema(given["values"], depth + 1)
        case "enum":
            schema["symbols"] = [str(each) for each in given["symbols"]]
        case "fixed":
            schema["size"] = int(given["size"])
    return schema | _find_logical(kind, given)


def _find_logical(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    logical = given.get("logicalType")
    if logical not in _LOGICAL.get(kind, ()):
        return {}
    if logical != "decimal":
        return {"logicalType": f"{PREFIX}{logical}"}
    precision, scale = given.get("precision"), given.get("scale", 0)
    if type(precision) is not int or type(scale) is not int or not 0 <= scale <= precision or precision < 1:
        return {}
    return {"logicalType": DECIMAL, "precision": precision, "scale": scale}


def parse_schema(given: Any, named: dict[str, Any]) -> Any:
    """A schema for the reader. `named`: the schemas that it may name, and afterwards its own.

    Raises SchemaError for what is no schema, or what a reader had better not meet.
    """
    try:
        schema = fastavro.parse_schema(rebuild_schema(given), named)
        _check_harmless(schema, named, [], set())
    except (fastavro.schema.SchemaParseException, LookupError, TypeError, ValueError, RecursionError) as error:
        raise SchemaError(f"it is no schema of Avro: {' '.join(str(error).split())[:200]}") from None
    return schema


def _check_harmless(schema: Any, named: Mapping[str, Any], around: list[str], known: set[str]) -> bool:
    """Whether values take no bytes. `around`: the records that the schema is in. `known`: the records that pass.

    Raises SchemaError for a record in itself, whose depth no reader limits, and for arrays of items without bytes,
    whose length no message limits.
    """
    if isinstance(schema, list):
        return not [_check_harmless(each, named, around, known) for each in schema]
    schema = named.get(schema, schema) if isinstance(schema, str) else schema
    if isinstance(schema, str):
        return schema == "null"
    match schema["type"]:
        case "record":
            name = schema["name"]
            if name in around:
                raise SchemaError(f"the record {name} contains itself")
            if name in known:
                return False
            inside = [_check_harmless(each["type"], named, [*around, name], known) for each in schema["fields"]]
            if not all(inside):
                known.add(name)
            return all(inside)
        case "array":
            if _check_harmless(schema["items"], named, around, known):
                raise SchemaError("the items of an array have no values")
        case "map":
            _check_harmless(schema["values"], named, around, known)
        case "fixed":
            return bool(schema["size"] <= 0)
        case kind:
            return bool(kind == "null")
    return False


def list_branches(schema: Any, named: Mapping[str, Any]) -> list[Any]:
    """The schemas of a union but null, or the one schema that it is; names are looked up."""
    parts = schema if isinstance(schema, list) else [schema]
    found = [named.get(each, each) if isinstance(each, str) else each for each in parts]
    return [each for each in found if _kind_of(each) != "null"]


def is_record(schema: Any, named: Mapping[str, Any]) -> bool:
    """Whether each value of a schema is a record, or NULL."""
    return all(_kind_of(each) == "record" for each in list_branches(schema, named))


def check_fit(schema: Any, type_: pa.StructType, named: Mapping[str, Any]) -> None:
    """Raises SchemaError unless the columns hold all values of a schema, which is a record, or a schema of one
    column.
    """
    problem = None
    if is_record(schema, named):
        problem = _find_misfit(schema, type_, named, "the record")
    elif type_.num_fields == 1:
        problem = _find_misfit(schema, type_.field(0).type, named, "the message")
    else:
        problem = "the message is no record, and there are several columns"
    if problem is not None:
        raise SchemaError(problem)


def _find_misfit(schema: Any, type_: pa.DataType, named: Mapping[str, Any], path: str) -> str | None:
    """Why a column cannot hold all values of a schema, None if it can."""
    return next(
        filter(None, (_find_branch_misfit(each, type_, named, path) for each in list_branches(schema, named))), None
    )


def _find_branch_misfit(schema: Any, type_: pa.DataType, named: Mapping[str, Any], path: str) -> str | None:
    kind = _kind_of(schema)
    if pa.types.is_struct(type_) and kind == "record":
        written = {each["name"]: each["type"] for each in schema["fields"]}
        fields = [(each, written[each.name]) for each in list_fields(type_) if each.name in written]
        twins = {each.lower(): each for each in written}
        for each in list_fields(type_):
            if each.name not in written and each.name.lower() in twins:
                return f"{path} has no field {each.name}, but {twins[each.name.lower()]}"
        prefix = "" if path == "the record" else f"{path}."
        found = (_find_misfit(given, each.type, named, f"{prefix}{each.name}") for each, given in fields)
        return next(filter(None, found), None)
    if pa.types.is_map(type_) and kind == "map":
        return _find_misfit(schema["values"], type_.item_type, named, f"{path}.value")
    if pa.types.is_list(type_) and kind == "array":
        return _find_misfit(schema["items"], type_.value_type, named, f"{path}.element")
    logical = None if isinstance(schema, str) else schema.get("logicalType")
    if _holds(type_, kind, logical, schema):
        return None
    shown = kind if logical is None else logical.removeprefix(PREFIX)
    if logical == DECIMAL:
        shown = f"decimal({schema['precision']}, {schema['scale']})"
    return f"{path} is {shown}, which {name_type(type_)} does not hold"


def _holds(type_: pa.DataType, kind: str, logical: str | None, schema: Any) -> bool:
    if pa.types.is_decimal(type_):
        if logical != DECIMAL:
            return False
        precision, scale = schema["precision"], schema["scale"]
        return bool(scale <= type_.scale and precision - scale <= type_.precision - type_.scale)
    if pa.types.is_timestamp(type_):
        return logical in (MILLIS, MICROS)
    if pa.types.is_date(type_):
        return logical == DATE
    return kind in _HELD.get(type_, ("", ()))[1] and (logical is None or kind == "string")


def _kind_of(schema: Any) -> str:
    return str(schema if isinstance(schema, str) else schema["type"])


def name_type(type_: pa.DataType) -> str:
    """What SQL calls a type."""
    if type_ in _HELD:
        return _HELD[type_][0]
    if pa.types.is_decimal(type_):
        return f"DECIMAL({type_.precision}, {type_.scale})"
    for name, is_it in (("ARRAY", pa.types.is_list), ("MAP", pa.types.is_map), ("STRUCT", pa.types.is_struct)):
        if is_it(type_):
            return name
    return "DATE" if pa.types.is_date(type_) else "TIMESTAMP"


def list_fields(type_: pa.StructType) -> list[pa.Field]:
    """The fields of a type."""
    return [type_.field(place) for place in range(type_.num_fields)]


class SchemaMaker:
    """Makes the schema of columns. Records take the names that they have in `like`, a schema of others.

    Registries compare records by their names. A field is NULL or a value, and NULL by default.
    """

    def __init__(self, like: Any = None) -> None:
        self._named: dict[str, Any] = {}
        self._used: set[str] = set()
        self._like = None
        if like is not None:
            try:
                self._like = parse_schema(like, self._named)
            except SchemaError:
                self._named = {}

    def make(self, name: str, type_: pa.StructType) -> Any:
        """The schema of a message. `name`: the name of its record, unless others have given it one."""
        return self._make(name, type_, self._like)

    def _make(self, name: str, type_: pa.DataType, like: Any) -> Any:
        found = {} if like is None else {_kind_of(each): each for each in list_branches(like, self._named)}
        if pa.types.is_struct(type_):
            twin = found.get("record", {})
            name = self._pick_name(twin.get("name", name))
            likes = {each["name"]: each["type"] for each in twin.get("fields", ())}
            fields = [
                (each.name, self._make(f"{name}_{each.name}", each.type, likes.get(each.name)))
                for each in list_fields(type_)
            ]
            return {
                "type": "record",
                "name": name,
                "fields": [{"name": field, "type": ["null", made], "default": None} for field, made in fields],
            }
        if pa.types.is_map(type_):
            like = found.get("map", {}).get("values")
            return {"type": "map", "values": ["null", self._make(f"{name}_value", type_.item_type, like)]}
        if pa.types.is_list(type_):
            like = found.get("array", {}).get("items")
            return {"type": "array", "items": ["null", self._make(f"{name}_element", type_.value_type, like)]}
        if pa.types.is_decimal(type_):
            return {"type": "bytes", "logicalType": "decimal", "precision": type_.precision, "scale": type_.scale}
        if pa.types.is_timestamp(type_):
            return {"type": "long", "logicalType": "timestamp-micros"}
        if pa.types.is_date(type_):
            return {"type": "int", "logicalType": "date"}
        return _WRITTEN.get(type_) or _HELD[type_][1][0]

    def _pick_name(self, wished: str) -> str:
        """A name that no other record of the schema has."""
        name, number = wished, 1
        while name in self._used:
            number += 1
            name = f"{wished}_{number}"
        self._used.add(name)
        return name
