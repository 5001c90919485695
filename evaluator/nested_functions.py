"""Functions of arrays, maps and JSON, and the ones that take a function.

`NESTED` has functions of arguments that are not NULL. A function with a lambda gets its first argument or arguments,
which are not NULL either, and functions of Python for the lambdas.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import reduce

from penstock.diagnostics.codes.running import R023, R024, R027
from penstock.evaluator.typed_values import QueryFailure, Unsupported, Value
from penstock.planner.types import INTERVAL, Array, Decimal, Map, Simple, Type

STEP = re.compile(r"\.([A-Za-z_]\w*)|\[(\d+)\]", re.ASCII)
"""A step of a path in JSON."""


def make_map(pairs: Iterable[tuple[Value, Value]]) -> dict[Value, Value]:
    """A map. Raises QueryFailure for a key that is NULL, or there twice."""
    made: dict[Value, Value] = {}
    for key, value in pairs:
        if key is None or key in made:
            raise QueryFailure(f"the key {key!r} of a map", R024)
        made[key] = value
    return made


def _map_of_arrays(keys: list[Value], values: list[Value]) -> dict[Value, Value]:
    if len(keys) != len(values):
        raise QueryFailure(f"{len(keys)} keys, and {len(values)} values", R024)
    return make_map(zip(keys, values, strict=True))


def _map_of_entries(entries: list[Value]) -> dict[Value, Value] | None:
    if None in entries:
        return None
    return make_map(tuple(entry.values()) for entry in entries)


def _map_of_text(text: str, between: str = ",", within: str = ":") -> dict[Value, Value]:
    if any(len(each) != 1 or each in r".*+?^$|()[]{}\\" for each in (between, within)):
        raise Unsupported(f"STR_TO_MAP by {between!r} and {within!r}")
    parts = (part.partition(within) for part in text.split(between))
    return make_map((key, value if sign else None) for key, sign, value in parts)


def _overlap(one: list[Value], other: list[Value]) -> bool | None:
    if any(each is not None and each in other for each in one):
        return True
    return None if one and other and None in [*one, *other] else False


def _found_element(values: Value, place: Value) -> Value:
    """TRY_ELEMENT_AT."""
    if isinstance(values, dict):
        return values.get(place)
    if place == 0:
        raise QueryFailure("an index is 0", R023)
    index = place - 1 if place > 0 else len(values) + place
    return values[index] if 0 <= index < len(values) else None


def _sequence(first: int, last: int, step: int | None = None) -> list[int]:
    step = (1 if last >= first else -1) if step is None else step
    if (step == 0 and first != last) or (step > 0 and last < first) or (step < 0 and last > first):
        raise QueryFailure(f"SEQUENCE({first}, {last}, {step})", R027)
    if step and (last - first) // step > 1_000_000:
        raise Unsupported("SEQUENCE of more than a million numbers")
    return [first] if step == 0 else list(range(first, last + (1 if step > 0 else -1), step))


def _sorted_values(values: list[Value]) -> list[Value]:
    known = [each for each in values if each is not None]
    if any(isinstance(each, list | dict) or each != each for each in known):
        raise Unsupported("ARRAY_SORT of such values")
    return [*sorted(known), *(each for each in values if each is None)]


def _inserted(values: Iterator[Value]) -> Value:
    array, place, value = values
    if array is None or place is None:
        return None
    if place == 0:
        raise QueryFailure("an index is 0", R023)
    if place < 0 or place > len(array) + 1:
        raise Unsupported("ARRAY_INSERT beyond the ends of an array")
    return [*array[: place - 1], value, *array[place - 1 :]]


def _chosen(values: Iterator[Value]) -> Value:
    """ELT."""
    place, *texts = values
    if place is None:
        return None
    if not 1 <= place <= len(texts):
        raise QueryFailure(f"there are {len(texts)} texts, and the index is {place}", R023)
    return texts[place - 1]


def read_json(text: str) -> Value:
    """A text of JSON. Raises Unsupported for another one, because Spark takes more than the standard does."""
    try:
        return json.loads(text)
    except ValueError:
        raise Unsupported("a text that is not JSON") from None


def _json_length(text: str) -> int | None:
    value = read_json(text)
    return len(value) if isinstance(value, list) else None


def _json_keys(text: str) -> list[str] | None:
    value = read_json(text)
    return list(value) if isinstance(value, dict) else None


def _json_at(text: str, path: str) -> str | None:
    """GET_JSON_OBJECT of a path of names and places, which leads to a text, a whole number or a truth value."""
    value = read_json(text)
    if not path.startswith("$") or re.fullmatch(f"({STEP.pattern})+", path[1:], re.ASCII) is None:
        raise Unsupported(f"the path {path!r}")
    for found in STEP.finditer(path[1:]):
        name, place = found.groups()
        if name is not None:
            value = value.get(name) if isinstance(value, dict) else None
        else:
            value = value[int(place)] if isinstance(value, list) and int(place) < len(value) else None
    match value:
        case None | str():
            return value
        case bool() | int():
            return json.dumps(value)
        case _:
            raise Unsupported("GET_JSON_OBJECT of such a value")


def type_text(type_: Type) -> str:
    """What Spark calls a type."""
    match type_:
        case Simple(name) if type_ != INTERVAL:
            return name.lower()
        case Decimal(precision, scale):
            return f"decimal({precision},{scale})"
        case Array(element):
            return f"array<{type_text(element)}>"
        case Map(key, value):
            return f"map<{type_text(key)},{type_text(value)}>"
        case _:
            raise Unsupported(f"TYPEOF of {type_}")


NESTED: dict[str, Callable[..., Value]] = {
    "MAP_FROM_ARRAYS": _map_of_arrays,
    "MAP_FROM_ENTRIES": _map_of_entries,
    "MAP_CONCAT": lambda *maps: make_map(pair for each in maps for pair in each.items()),
    "MAP_ENTRIES": lambda entries: [{"key": key, "value": value} for key, value in entries.items()],
    "STR_TO_MAP": _map_of_text,
    "ARRAYS_OVERLAP": _overlap,
    "TRY_ELEMENT_AT": _found_element,
    "SEQUENCE": _sequence,
    "ARRAY_SORT": _sorted_values,
    "JSON_ARRAY_LENGTH": _json_length,
    "JSON_OBJECT_KEYS": _json_keys,
    "GET_JSON_OBJECT": _json_at,
}
NESTED_NULL_AWARE: dict[str, Callable[[Iterator[Value]], Value]] = {"ARRAY_INSERT": _inserted, "ELT": _chosen}

Lambda = Callable[..., Value]
"""The function of a lambda."""


def _some(values: list[Value], holds: Lambda) -> bool | None:
    truths = [holds(each) for each in values]
    return True if True in truths else None if None in truths else False


def _every(values: list[Value], holds: Lambda) -> bool | None:
    truths = [holds(each) for each in values]
    return False if False in truths else None if None in truths else True


def _folded(values: list[Value], start: Value, step: Lambda, end: Lambda | None = None) -> Value:
    result = reduce(step, values, start)
    return result if end is None else end(result)


def _zipped(one: list[Value], other: list[Value], joined: Lambda) -> list[Value]:
    length = max(len(one), len(other))
    pad = [None] * length
    pairs = zip((*one, *pad), (*other, *pad), range(length), strict=False)
    return [joined(left, right) for left, right, _ in pairs]


def _zipped_maps(one: dict[Value, Value], other: dict[Value, Value], joined: Lambda) -> dict[Value, Value]:
    return {key: joined(key, one.get(key), other.get(key)) for key in dict.fromkeys((*one, *other))}


LAMBDAS: dict[str, Callable[..., Value]] = {
    "TRANSFORM": lambda values, change: [change(each, place) for place, each in enumerate(values)],
    "FILTER": lambda values, holds: [each for place, each in enumerate(values) if holds(each, place) is True],
    "EXISTS": _some,
    "FORALL": _every,
    "AGGREGATE": _folded,
    "REDUCE": _folded,
    "ZIP_WITH": _zipped,
    "MAP_FILTER": lambda entries, holds: {key: each for key, each in entries.items() if holds(key, each) is True},
    "MAP_ZIP_WITH": _zipped_maps,
    "TRANSFORM_KEYS": lambda entries, change: make_map((change(*each), each[1]) for each in entries.items()),
    "TRANSFORM_VALUES": lambda entries, change: {key: change(key, each) for key, each in entries.items()},
}
"""Functions of values that are not NULL, and of lambdas. The start of a fold may be NULL."""
