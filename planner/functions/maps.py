"""Functions of maps and structs."""

from __future__ import annotations

from sqlglot import exp

from penstock.planner.functions.arrays import result_of_search
from penstock.planner.functions.facts import Failing, RowFault
from penstock.planner.functions.function import Function
from penstock.planner.types import BOOLEAN, VOID, Array, Map, Struct, Type


def _map(arguments: tuple[exp.Expression, ...], types: tuple[Type, ...]) -> Type | None:
    """Keys and values in turn, each of one type."""
    keys, values = set(types[::2]), set(types[1::2])
    if len(types) % 2 or len(keys) > 1 or len(values) > 1:
        return None
    return Map(keys.pop(), values.pop()) if keys else Map(VOID, VOID)


def _named_struct(arguments: tuple[exp.Expression, ...], types: tuple[Type, ...]) -> Type | None:
    """Names, which are literals, and values in turn."""
    names = arguments[::2]
    if len(types) % 2 or not all(isinstance(name, exp.Literal) and name.is_string for name in names):
        return None
    return Struct(tuple((name.name, type_) for name, type_ in zip(names, types[1::2], strict=True)))


def _entries(arguments: tuple[exp.Expression, ...], types: tuple[Type, ...]) -> Type | None:
    match types[0]:
        case Map(key, value):
            return Array(Struct((("key", key), ("value", value))))
        case _:
            return None


def _of_entries(arguments: tuple[exp.Expression, ...], types: tuple[Type, ...]) -> Type | None:
    match types[0]:
        case Array(Struct(((_, key), (_, value)))):
            return Map(key, value)
        case _:
            return None


_BOTH = "(MAP<K, V>, (K, V) ->"

MAPS = (
    Function(
        "MAP",
        ("() -> MAP<K, V>", "(ANY...) -> MAP<K, V>"),
        "a map of keys and values in turn",
        ("MAP('a', 1, 'b', 2)", {"a": 1, "b": 2}),
        result=_map,
        failing=Failing(),
        raises=(RowFault.MAP_KEYS,),
    ),
    Function(
        "MAP_CONCAT",
        ("(MAP<K, V>...) -> MAP<K, V>",),
        "the entries of all maps",
        ("MAP_CONCAT(MAP('a', 1), MAP('b', 2))", {"a": 1, "b": 2}),
        failing=Failing(),
        raises=(RowFault.MAP_KEYS,),
    ),
    Function(
        "MAP_ENTRIES",
        ("(MAP<K, V>) -> ARRAY<T>",),
        "an array of structs of key and value",
        ("MAP_ENTRIES(MAP('a', 1))[0].value", 1),
        result=_entries,
    ),
    Function(
        "MAP_FROM_ENTRIES",
        ("(ARRAY<T>) -> MAP<K, V>",),
        "a map of structs of a key and a value; NULL if one is NULL",
        ("MAP_FROM_ENTRIES(ARRAY(NAMED_STRUCT('k', 'a', 'v', 1)))", {"a": 1}),
        result=_of_entries,
        failing=Failing(),
        raises=(RowFault.MAP_KEYS, RowFault.LONG_ARRAY),
    ),
    Function(
        "MAP_ZIP_WITH",
        ("(MAP<K, V>, MAP<K, U>, (K, V, U) -> T) -> MAP<K, T>",),
        "two maps joined by their keys; the value of a key that one lacks is NULL",
        ("MAP_ZIP_WITH(MAP('a', 1), MAP('a', 2, 'b', 5), (k, v, w) -> COALESCE(v, 0) + w)", {"a": 3, "b": 5}),
        raises=(RowFault.LONG_ARRAY,),
    ),
    Function(
        "MAP_CONTAINS_KEY",
        ("(MAP<O, V>, O) -> BOOLEAN",),
        "whether it has such a key",
        ("MAP_CONTAINS_KEY(MAP('a', 1), 'a')", True),
        result=result_of_search(BOOLEAN),
    ),
    Function(
        "MAP_FILTER",
        (f"{_BOTH} BOOLEAN) -> MAP<K, V>",),
        "the entries for which it is true",
        ("MAP_FILTER(MAP('a', 1, 'b', 2), (k, v) -> v > 1)", {"b": 2}),
    ),
    Function(
        "MAP_FROM_ARRAYS",
        ("(ARRAY<K>, ARRAY<V>) -> MAP<K, V>",),
        "a map of an array of keys and one of values",
        ("MAP_FROM_ARRAYS(ARRAY('a'), ARRAY(1))", {"a": 1}),
        failing=Failing(),
        raises=(RowFault.MAP_KEYS,),
    ),
    Function("MAP_KEYS", ("(MAP<K, V>) -> ARRAY<K>",), "the keys", ("MAP_KEYS(MAP('a', 1))", ["a"])),
    Function("MAP_VALUES", ("(MAP<K, V>) -> ARRAY<V>",), "the values", ("MAP_VALUES(MAP('a', 1))", [1])),
    Function(
        "NAMED_STRUCT",
        ("(ANY...) -> STRUCT",),
        "a struct of names and values in turn",
        ("NAMED_STRUCT('a', 1, 'b', 'x').b", "x"),
        result=_named_struct,
    ),
    Function(
        "STR_TO_MAP",
        (
            "(STRING) -> MAP<STRING, STRING>",
            "(STRING, REGEX) -> MAP<STRING, STRING>",
            "(STRING, REGEX, REGEX) -> MAP<STRING, STRING>",
        ),
        "a text such as 'a:1,b:2' as map",
        ("STR_TO_MAP('a:1,b:2', ',', ':')", {"a": "1", "b": "2"}),
        failing=Failing(),
        raises=(RowFault.MAP_KEYS, RowFault.PATTERN),
    ),
    Function(
        "TRANSFORM_KEYS",
        (f"{_BOTH} U) -> MAP<U, V>",),
        "each key changed",
        ("TRANSFORM_KEYS(MAP('a', 1), (k, v) -> UPPER(k))", {"A": 1}),
        failing=Failing(),
        raises=(RowFault.MAP_KEYS,),
    ),
    Function(
        "TRANSFORM_VALUES",
        (f"{_BOTH} U) -> MAP<K, U>",),
        "each value changed",
        ("TRANSFORM_VALUES(MAP('a', 1), (k, v) -> v + 1)", {"a": 2}),
    ),
)
