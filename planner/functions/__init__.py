"""Which functions a query may call: their signatures, a line of documentation and an example each."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from penstock.planner.functions.aggregates import AGGREGATES
from penstock.planner.functions.arrays import ARRAYS
from penstock.planner.functions.conditional import CONDITIONAL
from penstock.planner.functions.frames import FRAMES
from penstock.planner.functions.function import Function
from penstock.planner.functions.hashes import HASHES
from penstock.planner.functions.json import JSON
from penstock.planner.functions.maps import MAPS
from penstock.planner.functions.math import MATH
from penstock.planner.functions.reference import page
from penstock.planner.functions.refused import BARE, FOREIGN, INSTEAD, REFUSED
from penstock.planner.functions.text import TEXT
from penstock.planner.functions.time import TIME
from penstock.planner.functions.times_of_day import CLOCK
from penstock.planner.functions.vectors import VECTORS

__all__ = [
    "FOREIGN",
    "FUNCTIONS",
    "INSTEAD",
    "NULL_FORMS",
    "REFUSED",
    "Function",
    "clock_calls",
    "find_function",
    "is_aggregate",
    "is_bare",
    "is_framed",
    "reference",
    "require_function",
]

FAMILIES: tuple[tuple[str, tuple[Function, ...]], ...] = (
    ("Numbers", MATH),
    ("Text", TEXT),
    ("Time", TIME),
    ("Time of the day", CLOCK),
    ("Conditions", CONDITIONAL),
    ("Arrays", ARRAYS),
    ("Maps and structs", MAPS),
    ("JSON, CSV and types", JSON),
    ("Vectors", VECTORS),
    ("Hashes and encodings", HASHES),
    ("Aggregates", AGGREGATES),
    ("Over a frame", FRAMES),
)
FUNCTIONS: tuple[Function, ...] = tuple(function for _, family in FAMILIES for function in family)

NULL_FORMS = {each.operator: each.name for each in FUNCTIONS if each.operator is not None}
"""Operators, and the functions that give NULL where they fail."""
_BY_NAME = {function.name: function for function in FUNCTIONS}


def find_function(name: str) -> Function | None:
    """The function of that name, in any case; None if it is not allowed or unknown."""
    return _BY_NAME.get(name.upper())


def require_function(name: str) -> Function:
    """The function of a name that has been resolved, in upper case. Raises KeyError for any other one."""
    return _BY_NAME[name]


def is_bare(name: str) -> bool:
    """True if a call of the name takes no parentheses. Names of refused functions count, too."""
    function = find_function(name)
    return function.bare if function is not None else name.upper() in BARE


def is_aggregate(name: str) -> bool:
    """Whether a call of that name computes one value over many rows."""
    function = find_function(name)
    return function is not None and function.aggregate


def is_framed(name: str) -> bool:
    """Whether a call of that name needs the order of the rows of a frame."""
    function = find_function(name)
    return function is not None and function.framed


def clock_calls(expression: exp.Expression) -> Iterator[exp.Anonymous]:
    """The calls that give the clock of the machine: the same in all rows of a micro-batch."""
    calls = expression.find_all(exp.Anonymous)
    return (call for call in calls if (function := find_function(str(call.this))) is not None and function.clock)


def reference() -> str:
    """The page docs/functions.md."""
    return page(FAMILIES)
