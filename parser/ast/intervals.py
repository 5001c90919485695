"""Lengths of time: intervals in clauses, and texts that say one."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from penstock.diagnostics.source import Placed, Span

UNITS = {
    **dict.fromkeys(("MILLISECOND", "MILLISECONDS", "MS"), "MILLISECOND"),
    **dict.fromkeys(("SECOND", "SECONDS", "SEC", "SECS"), "SECOND"),
    **dict.fromkeys(("MINUTE", "MINUTES", "MIN", "MINS"), "MINUTE"),
    **dict.fromkeys(("HOUR", "HOURS"), "HOUR"),
    **dict.fromkeys(("DAY", "DAYS"), "DAY"),
    **dict.fromkeys(("WEEK", "WEEKS"), "WEEK"),
    **dict.fromkeys(("MONTH", "MONTHS"), "MONTH"),
    **dict.fromkeys(("YEAR", "YEARS"), "YEAR"),
}
"""What people call a unit -> its name."""

_LETTERS = {"S": "SECOND", "M": "MINUTE", "H": "HOUR", "D": "DAY"}  # in texts alone

# Milliseconds of the units that have a fixed length; MONTH and YEAR have none.
UNIT_MILLISECONDS = {
    "MILLISECOND": 1,
    "SECOND": 1_000,
    "MINUTE": 60_000,
    "HOUR": 3_600_000,
    "DAY": 86_400_000,
    "WEEK": 604_800_000,
}
UNIT_MONTHS = {"MONTH": 1, "YEAR": 12}

_PART = re.compile(r"([+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?)\s*([A-Za-z]+)")
_TIME = re.compile(r"([+-]?)([0-9]{1,9}):([0-5]?[0-9])(?::([0-5]?[0-9](?:\.[0-9]{1,6})?))?")


class Duration(Placed, frozen=True):
    """An interval in a clause (`INTERVAL '10' MINUTE`, `10 MIN`): a decimal quantity and a singular unit name."""

    quantity: str
    unit: str
    span: Span

    @property
    def milliseconds(self) -> int | None:
        """The length, or None when it is not a fixed whole number of milliseconds (MONTH, YEAR, a tenth of one)."""
        unit = UNIT_MILLISECONDS.get(self.unit)
        if unit is None:
            return None
        length = Fraction(self.quantity) * unit
        return int(length) if length.denominator == 1 else None


def sum_interval(text: str) -> tuple[Decimal, str]:
    """The length that a text such as `5 minutes` or `1 day 02:03:04` says: a number, and its unit.

    Raises ValueError, whose text says what to write instead.
    """
    parts: list[tuple[Decimal, str]] = []
    rest = re.sub(r"^interval\s", "", text.strip(), flags=re.IGNORECASE).lstrip()
    while found := _PART.match(rest):
        unit = found[2].upper()
        name = UNITS.get(unit, _LETTERS.get(unit))
        if name is None:
            raise ValueError(f"the units are {', '.join(dict.fromkeys(UNITS.values()))}")
        parts.append((Decimal(found[1]), name))
        rest = rest[found.end() :].lstrip()
    clock = _TIME.fullmatch(rest) if rest else None
    if (rest and clock is None) or not (parts or rest):
        raise ValueError("INTERVAL '5 minutes' or INTERVAL '1 day 02:03:04'")
    if clock is not None:
        seconds = Decimal(clock[2]) * 3600 + Decimal(clock[3]) * 60 + Decimal(clock[4] or 0)
        parts.append((-seconds if clock[1] == "-" else seconds, "SECOND"))
    if len(parts) == 1:
        return parts[0]
    kinds = [lengths for lengths in (UNIT_MONTHS, UNIT_MILLISECONDS) if all(name in lengths for _, name in parts)]
    if not kinds:
        raise ValueError("add months and days one after the other: + INTERVAL '1' MONTH + INTERVAL '2' DAY")
    (lengths,) = kinds
    last = min((name for _, name in parts), key=lambda name: lengths[name])
    return sum((number * lengths[name] for number, name in parts), Decimal()) / lengths[last], last


def parse_duration(text: str, span: Span) -> Duration | None:
    """The length that a text such as `10 minutes` or `1 hour 30 min` says, None where it says none."""
    try:
        number, unit = sum_interval(text)
    except ValueError:
        return None
    return Duration(f"{number:f}", unit, span)


def write_interval(text: str) -> str | None:
    """The INTERVAL literal for a text such as `10 minutes`, None where it says no length."""
    try:
        number, unit = sum_interval(text)
    except ValueError:
        return None
    return f"INTERVAL '{number.normalize():f}' {unit}"
