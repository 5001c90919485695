"""Formats of PRINTF, as Java's Formatter reads them over values of Spark."""

from __future__ import annotations

import re
from collections.abc import Sequence

from penstock.planner.scalars.common_types import FLOATS
from penstock.planner.types import BOOLEAN, INTEGERS, STRING, Decimal, Type

_SPECIFIER = re.compile(r"%(?:([0-9]{1,9})\$)?([-#+ 0,(<]*)(?:[0-9]{1,9})?(?:\.[0-9]{1,9})?([tT])?([a-zA-Z%])")
_CONVERSIONS = "bBhHsScCdoxXeEfgGaA"
# What Java is never given as a whole number, and as one with a fraction. Dates and times are whole numbers to Spark.
_NOT_WHOLE = (STRING, BOOLEAN, *FLOATS)


def print_format_problem(text: str, types: Sequence[Type]) -> str | None:
    """Why values of these types cannot be printed so, or None where nothing is known against it."""
    at = following = 0
    while (at := text.find("%", at)) >= 0:
        found = _SPECIFIER.match(text, at)
        if found is None:
            return "% begins a place for a value; the character itself is written %%"
        at = found.end()
        index, flags, time, conversion = found.groups()
        if conversion in "%n" and not time:
            continue
        if not time and conversion not in _CONVERSIONS:
            return f"{found.group()} is no place for a value"
        if "<" in flags:
            continue
        if index is None:
            following += 1
        number = following if index is None else int(index)
        if not 1 <= number <= len(types):
            return f"{found.group()} needs a value, and there are {len(types)}"
        problem = None if time else _type_problem(found.group(), conversion, types[number - 1])
        if problem is not None:
            return problem
    return None


def _type_problem(specifier: str, conversion: str, type_: Type) -> str | None:
    exact = isinstance(type_, Decimal)
    if conversion in "doxX" and (exact or type_ in _NOT_WHOLE):
        return f"{specifier} prints whole numbers, not {type_}"
    if conversion in "eEfgGaA" and (exact or type_ in (STRING, BOOLEAN, *INTEGERS)):
        return f"{specifier} prints FLOAT and DOUBLE, not {type_}"
    return None
