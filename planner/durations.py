"""Interval literals -> milliseconds."""

from __future__ import annotations

from sqlglot import exp

from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.event_time import W004, W008
from penstock.diagnostics.codes.expression_types import T010
from penstock.parser.ast import Duration


def interval_duration(interval: exp.Interval) -> Duration:
    """The clause form of an interval literal inside a scalar."""
    return Duration(str(interval.this.this), str(interval.args["unit"].this).upper(), interval.meta["span"])


# 10,000 years: between any two times that have a date, and far from what Spark can count.
LONGEST = 3_652_500 * 86_400_000


def fixed_milliseconds(duration: Duration, what: str) -> int:
    """The length in milliseconds; raises CompileError where it is not fixed (MONTH, YEAR) or above `LONGEST`."""
    milliseconds = duration.milliseconds
    if milliseconds is None:
        days = {"MONTH": 30, "YEAR": 365}.get(duration.unit)
        nearest = f"INTERVAL '{int(duration.quantity) * days}' DAY" if days and duration.quantity.isdigit() else None
        found = W004.at(duration.span, f"length of the {what}", interval=f"{duration.quantity} {duration.unit}")
        raise CompileError(
            [found.with_sql(nearest, after=" is the nearest fixed length", otherwise="use whole milliseconds")]
        )
    if abs(milliseconds) > LONGEST:
        found = T010.at(duration.span, f"length of the {what}", text=duration.span.text, type="interval")
        raise CompileError([found.because("Intervals reach 10,000 years at most.")])
    return milliseconds


def positive_milliseconds(duration: Duration, what: str, least: int = 1) -> int:
    """As `fixed_milliseconds`, and at least `least`."""
    milliseconds = fixed_milliseconds(duration, what)
    if milliseconds < least:
        raise CompileError([W008.at(duration.span, what=what)])
    return milliseconds


def duration_text(milliseconds: int) -> str:
    """`90000` -> `1 min 30 s`, as plans print durations."""
    if milliseconds < 0:
        return "-" + duration_text(-milliseconds)
    parts = []
    for unit, length in (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1)):
        count, milliseconds = divmod(milliseconds, length)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts) or "0 s"


def interval_sql(milliseconds: int) -> str:
    """The shortest INTERVAL literal of that length, for hints."""
    sign, length = ("-", -milliseconds) if milliseconds < 0 else ("", milliseconds)
    units = (("DAY", 86_400_000), ("HOUR", 3_600_000), ("MINUTE", 60_000), ("SECOND", 1_000), ("MILLISECOND", 1))
    unit, size = next((unit, size) for unit, size in units if length % size == 0 and (length or unit == "SECOND"))
    return f"INTERVAL '{sign}{length // size}' {unit}"
