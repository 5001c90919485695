"""Functions of times: time zones, parts of times, and texts in formats. Their arguments are not NULL."""

from __future__ import annotations

import decimal
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from penstock.diagnostics.codes.running import R025, R028
from penstock.evaluator.typed_values import EPOCH, QueryFailure, Unsupported, Value, cast
from penstock.planner.types import DATE, TIMESTAMP

TOKENS = {"yyyy": r"\d{4}", "MM": r"\d{2}", "dd": r"\d{2}", "HH": r"\d{2}", "mm": r"\d{2}", "ss": r"\d{2}"}
"""The letters of formats, and what stands for them in texts."""
PARTS: dict[str, Callable[[Value], int]] = {
    "YEAR": lambda time: time.year,
    "QUARTER": lambda time: (time.month + 2) // 3,
    "MONTH": lambda time: time.month,
    "WEEK": lambda time: time.isocalendar().week,
    "DAY": lambda time: time.day,
    "DOY": lambda time: time.timetuple().tm_yday,
    "DOW": lambda time: time.isoweekday() % 7 + 1,
    "HOUR": lambda time: time.hour,
    "MINUTE": lambda time: time.minute,
}
WEEKDAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
MONTH_SECONDS = 31 * 86_400


def _part(name: str, time: Value) -> int:
    if name.upper() not in PARTS:
        raise Unsupported(f"the part {name} of a time")
    return PARTS[name.upper()](time)


def zone_of(name: str, time: datetime) -> ZoneInfo:
    """The time zone. Raises Unsupported for names that are not known, and for times before 1970."""
    if time < EPOCH:
        raise Unsupported("time zones before 1970")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Unsupported(f"the time zone {name}") from None


def _from_utc(time: datetime, zone: str) -> datetime:
    return time.replace(tzinfo=UTC).astimezone(zone_of(zone, time)).replace(tzinfo=None)


def _to_utc(time: datetime, zone: str) -> datetime:
    return time.replace(tzinfo=zone_of(zone, time)).astimezone(UTC).replace(tzinfo=None)


def _made_moment(*parts: Value) -> datetime:
    if len(parts) == 2:
        return datetime.combine(*parts)
    year, month, day, hour, minute, second = parts
    if not 1 <= year <= 9999:
        raise Unsupported(f"the year {year}")
    micros = int(decimal.Decimal(second) * 1_000_000)
    if not 0 <= micros <= 60_000_000:
        raise QueryFailure(f"there is no second {second}", R028)
    try:
        return datetime(year, month, day, hour, minute) + timedelta(microseconds=micros)
    except ValueError as problem:
        raise QueryFailure(str(problem), R028) from None


def _null_for_failure(function: Callable[..., Value]) -> Callable[..., Value]:
    def tried(*arguments: Value) -> Value:
        try:
            return function(*arguments)
        except QueryFailure:
            return None

    return tried


def parse_moment(text: str, pattern: str) -> datetime:
    """A text in a format of years, months, days, hours, minutes and seconds, each with all its digits."""
    regex, names = "", list[str]()
    for letters, other in re.findall(r"([A-Za-z]+)|([^A-Za-z]+)", pattern):
        if (letters and letters not in TOKENS) or letters in names or "'" in other or "[" in other:
            raise Unsupported(f"the format {pattern!r}")
        names += [letters] if letters else []
        regex += f"({TOKENS[letters]})" if letters else re.escape(other)
    if "yyyy" not in names or ("dd" in names and "MM" not in names):
        raise Unsupported(f"the format {pattern!r}")
    found = re.fullmatch(regex, text, re.ASCII)
    if found is None:
        raise QueryFailure(f"{text!r} is not in the format {pattern!r}", R025)
    given = dict(zip(names, map(int, found.groups()), strict=True))
    try:
        day = datetime(given["yyyy"], given.get("MM", 1), given.get("dd", 1))
        return day.replace(hour=given.get("HH", 0), minute=given.get("mm", 0), second=given.get("ss", 0))
    except ValueError as problem:
        raise QueryFailure(f"{text!r}: {problem}", R025) from None


def _to_date(value: Value, *pattern: str) -> date:
    if isinstance(value, str) and pattern:
        return parse_moment(value, *pattern).date()
    made: date = cast(value, DATE)
    return made


def _to_moment(value: Value, *pattern: str) -> datetime:
    if pattern:
        return parse_moment(value, *pattern)
    made: datetime = cast(value, TIMESTAMP)
    return made


def _counted_seconds(value: Value, *pattern: str) -> int:
    if isinstance(value, str) and not pattern:
        raise Unsupported("UNIX_TIMESTAMP of a text without a format")
    return (_to_moment(value, *pattern) - EPOCH) // timedelta(seconds=1)


def _months_between(end: datetime, start: datetime) -> float:
    months = (end.year - start.year) * 12 + end.month - start.month
    if end.day == start.day or (_is_last(end) and _is_last(start)):
        return float(months)
    seconds = (end.day - start.day) * 86_400 + _second_of(end) - _second_of(start)
    exact = decimal.Decimal(months + seconds / MONTH_SECONDS)
    return float(exact.quantize(decimal.Decimal("1e-8"), decimal.ROUND_HALF_UP))


def _is_last(time: datetime) -> bool:
    return (time + timedelta(days=1)).day == 1


def _second_of(time: datetime) -> int:
    return time.hour * 3600 + time.minute * 60 + time.second


def _next_day(day: date, name: str) -> date:
    names = [each for each in WEEKDAYS if name.upper() in (each, each[:2], each[:3])]
    if not names:
        raise Unsupported(f"the weekday {name}")
    return day + timedelta(days=(WEEKDAYS.index(names[0]) - day.weekday() - 1) % 7 + 1)


def _first_day(day: date, unit: str) -> date:
    match unit.upper():
        case "YEAR" | "YYYY" | "YY":
            return day.replace(month=1, day=1)
        case "QUARTER":
            return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        case "MONTH" | "MON" | "MM":
            return day.replace(day=1)
        case "WEEK":
            return day - timedelta(days=day.weekday())
        case _:
            raise Unsupported(f"TRUNC to {unit}")


def _day_interval(days: int = 0, hours: int = 0, minutes: int = 0, seconds: Value = 0) -> timedelta:
    micros = int(decimal.Decimal(seconds) * 1_000_000)
    return timedelta(days=days, hours=hours, minutes=minutes, microseconds=micros)


MOMENTS: dict[str, Callable[..., Value]] = {
    "DATE_PART": _part,
    "DATEPART": _part,
    "FROM_UTC_TIMESTAMP": _from_utc,
    "TO_UTC_TIMESTAMP": _to_utc,
    "MAKE_TIMESTAMP": _made_moment,
    "MAKE_TIMESTAMP_LTZ": _made_moment,
    "TRY_MAKE_TIMESTAMP": _null_for_failure(_made_moment),
    "TRY_MAKE_TIMESTAMP_LTZ": _null_for_failure(_made_moment),
    "MAKE_DT_INTERVAL": _day_interval,
    "MONTHS_BETWEEN": _months_between,
    "NEXT_DAY": _next_day,
    "TRUNC": _first_day,
    "TO_DATE": _to_date,
    "TO_TIMESTAMP": _to_moment,
    "TRY_TO_DATE": _null_for_failure(_to_date),
    "TRY_TO_TIMESTAMP": _null_for_failure(_to_moment),
    "TO_UNIX_TIMESTAMP": _counted_seconds,
    "UNIX_TIMESTAMP": _counted_seconds,
}
