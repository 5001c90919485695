"""What every family of AST nodes shares: names, durations and the scalar expressions.

Scalar expressions are sqlglot nodes whose `meta["span"]` holds their place. The kinds that occur are listed in
`parser/build/scalars.py`. A query inside an expression is an AST query held as the `query` argument of `exp.In`
or as `this` of `exp.Exists` and `exp.Subquery`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from sqlglot import exp

from penstock.diagnostics.source import Span

Scalar: TypeAlias = exp.Expression

# Milliseconds of the units that have a fixed length; MONTH and YEAR have none.
UNIT_MILLISECONDS = {
    "MILLISECOND": 1,
    "SECOND": 1_000,
    "MINUTE": 60_000,
    "HOUR": 3_600_000,
    "DAY": 86_400_000,
    "WEEK": 604_800_000,
}


EVENT_TIME = "ROWTIME"
"""ksqlDB's name for the event time, whatever its column is called."""


UNITS = {
    **dict.fromkeys(("MILLISECOND", "MILLISECONDS", "MS"), "MILLISECOND"),
    **dict.fromkeys(("SECOND", "SECONDS", "SEC", "SECS", "S"), "SECOND"),
    **dict.fromkeys(("MINUTE", "MINUTES", "MIN", "MINS", "M"), "MINUTE"),
    **dict.fromkeys(("HOUR", "HOURS", "H"), "HOUR"),
    **dict.fromkeys(("DAY", "DAYS", "D"), "DAY"),
    **dict.fromkeys(("WEEK", "WEEKS"), "WEEK"),
    **dict.fromkeys(("MONTH", "MONTHS"), "MONTH"),
    **dict.fromkeys(("YEAR", "YEARS"), "YEAR"),
}
"""What people call a unit -> its name. Single letters stand in texts only."""


def parse_count(text: str, digits: int = 9) -> int | None:
    """The value of at most so many ASCII digits. `int` takes other digits, too, and fails on thousands of them."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= digits else None


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier as written. Names are resolved without regard to case."""

    text: str
    span: Span = field(compare=False, repr=False)

    @property
    def folded(self) -> str:
        return self.text.lower()


@dataclass(frozen=True, slots=True)
class Duration:
    """An interval in a clause (`INTERVAL '10' MINUTE`, `10 MIN`): a decimal quantity and a singular unit name."""

    quantity: str
    unit: str
    span: Span = field(compare=False, repr=False)

    @property
    def milliseconds(self) -> int | None:
        """The length, or None when it is not a fixed whole number of milliseconds (MONTH, YEAR, a tenth of one)."""
        unit = UNIT_MILLISECONDS.get(self.unit)
        if unit is None:
            return None
        length = Fraction(self.quantity) * unit
        return int(length) if length.denominator == 1 else None


_PART = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?([a-z]+)(?: |$)", re.ASCII)


def parse_duration(text: str, span: Span) -> Duration | None:
    """The length that a text such as `10 minutes` or `1 hour 30 min` says, None where it says none."""
    rest = " ".join(text.strip().lower().removeprefix("interval ").split())
    parts: list[Duration] = []
    while rest:
        found = _PART.match(rest)
        unit = UNITS.get(found[2].upper()) if found is not None else None
        if found is None or unit is None:
            return None
        parts.append(Duration(found[1], unit, span))
        rest = rest[found.end() :]
    lengths = [each.milliseconds for each in parts]
    if len(parts) == 1:
        return parts[0]
    known = [each for each in lengths if each is not None]
    return Duration(str(sum(known)), "MILLISECOND", span) if known and len(known) == len(parts) else None


@dataclass(frozen=True, slots=True)
class Option:
    """`name = literal`, ENV('…') or FILE('…') of a WITH list, or a SET. The last two are calls (exp.Anonymous)."""

    name: Name
    value: exp.Expression
