"""Texts -> days, times of day and points in time, as Spark takes them where Penstock lets it."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

_DATE = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})")
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]{0,6})0*)?)?")
_MOMENT = re.compile(
    r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
    r"(?:[ T]([0-9]{1,2})(?::([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]{0,6})0*)?)?)?(?![0-9.:])(.*))?",
    re.DOTALL,
)
_BLANKS = "".join(map(chr, (*range(33), 127)))
"""What Spark leaves out at both ends of a text."""
_OFFSET = re.compile(r"([+-])([0-9]{1,2})(?::([0-9]{1,2})(?::([0-9]{2}))?)?")
_JAVA_OFFSET = re.compile(r"([+-])([0-9]{2})(?:([0-9]{2})([0-9]{2})?)?")
_SHORT_ZONES = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "EST": "America/Panama",
    "HST": "Pacific/Honolulu",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "MST": "America/Phoenix",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
}
"""What Java takes three letters for."""
_EIGHTEEN_HOURS = timedelta(hours=18)


def read_day(text: str) -> date | None:
    """The day that a text such as `2026-01-31` stands for; None if Penstock does not take it for one."""
    found = _DATE.fullmatch(text)
    try:
        return None if found is None else date(*map(int, found.groups()))
    except ValueError:
        return None


def read_clock(text: str) -> time | None:
    """The time of day; None if Penstock does not take the text for one."""
    found = _CLOCK.fullmatch(text)
    if found is None:
        return None
    hour, minute, second, decimals = found.groups()
    try:
        return time(int(hour), int(minute), int(second or 0), int((decimals or "").ljust(6, "0")))
    except ValueError:
        return None


def read_moment(text: str) -> datetime | None:
    """The point in time, in UTC and without a zone; None if Penstock does not take the text for one."""
    found = _MOMENT.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second, decimals, zone = found.groups()
    try:
        micros = int((decimals or "").ljust(6, "0"))
        local = datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), micros)
        zone = (zone or "").rstrip(_BLANKS)
        if zone in ("", "Z"):
            return local if not zone or second else None
        where = _find_zone(zone)
        if where is None or second is None:
            return None
        return local.replace(tzinfo=where).astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None


@lru_cache(maxsize=4096)
def _find_zone(text: str) -> tzinfo | None:
    """The zone that stands behind a time; None if there is no such zone."""
    text = text.strip(_BLANKS)
    if text in ("", "Z", "UTC", "GMT", "UT"):
        return UTC if text else None
    for prefix in ("UTC", "GMT", "UT", ""):
        rest = text.removeprefix(prefix)
        if text.startswith(prefix) and rest[:1] in ("+", "-"):
            return _find_offset(rest)
    name = _SHORT_ZONES.get(text, text)
    return ZoneInfo(name) if name in _list_zones() else None


def _find_offset(text: str) -> tzinfo | None:
    found = _OFFSET.fullmatch(text) or _JAVA_OFFSET.fullmatch(text)
    if found is None:
        return None
    sign, *numbers = found.groups()
    hours, minutes, seconds = (int(each or 0) for each in numbers)
    offset = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if minutes > 59 or seconds > 59 or offset > _EIGHTEEN_HOURS:
        return None
    return timezone(-offset if sign == "-" else offset)


@lru_cache(maxsize=1)
def _list_zones() -> frozenset[str]:
    return frozenset(available_timezones())
