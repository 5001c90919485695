"""Forms in which texts and numbers stand for points in time, and the SQL that reads them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from penstock.planner.types import DATE, TIMESTAMP, Type
from penstock.runtime.samples.moments import read_clock, read_day, read_moment

EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """A way to write a value. `type`: a column of this type is read from it, None if SQL has to read it.

    `sql`: reads it from a column, whose name stands for `{}`. `read`: the point in time, None if a text is another one.
    `told`: how people call it.
    """

    told: str
    read: Callable[[str], datetime | None]
    sql: str
    type: Type | None = None
    is_moment: bool = True


def _read_date(text: str) -> datetime | None:
    day = read_day(text)
    return None if day is None else datetime(day.year, day.month, day.day)


def _read_time_of_day(text: str) -> datetime | None:
    return None if read_clock(text) is None else EPOCH


def _read_as(pattern: str, form: str, part: Callable[[str], str] = str) -> Callable[[str], datetime | None]:
    """Reads texts that match a pattern, by a form of Python."""
    compiled = re.compile(pattern)

    def read(text: str) -> datetime | None:
        if not compiled.fullmatch(text):
            return None
        try:
            found = datetime.strptime(part(text), form)
        except ValueError:
            return None
        offset = found.utcoffset()
        return found if offset is None else found.replace(tzinfo=None) - offset

    return read


def _read_by_spark(pattern: str, rewrite: Callable[[str], str]) -> Callable[[str], datetime | None]:
    """Reads texts that are a time after a small change."""
    compiled = re.compile(pattern, re.IGNORECASE)
    return lambda text: read_moment(rewrite(text)) if compiled.fullmatch(text) else None


def _take_http(text: str) -> str:
    """Leaves out the day of the week and the zone, as the SQL does."""
    return text[5:25]


_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_ZONE = r"(?:Z|[+-][0-9]{2}:?[0-9]{2})"
_MORE_DECIMALS = re.compile(r"(\.[0-9]{6})[0-9]+")
_COMPACT_DAY = r"(?:199|20[0-9])[0-9](?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])"
TEXT_FORMS = (
    Form("dates", _read_date, "{}", DATE),
    Form("times", read_moment, "{}", TIMESTAMP),
    Form("times of day", _read_time_of_day, "CAST({} AS TIME)", is_moment=False),
    Form(
        "times with up to nine decimals",
        _read_by_spark(
            rf"{_DAY}[T ][0-9:]{{8}}(?:\.[0-9]{{1,9}})?(?:{_ZONE})?", lambda text: _MORE_DECIMALS.sub(r"\1", text)
        ),
        r"CAST(REGEXP_REPLACE({}, '([.][0-9]{{6}})[0-9]+', '$1') AS TIMESTAMP)",
    ),
    Form(
        "times without seconds",
        _read_by_spark(rf"{_DAY}T[0-9]{{2}}:[0-9]{{2}}Z", lambda text: f"{text[:-1]}:00Z"),
        "CAST(REPLACE({}, 'Z', ':00Z') AS TIMESTAMP)",
    ),
    Form(
        "times in small letters",
        _read_by_spark(rf"{_DAY}t[0-9:]{{8}}(?:\.[0-9]{{1,6}})?z", str.upper),
        "CAST(UPPER({}) AS TIMESTAMP)",
    ),
    Form(
        "times with an offset without a colon",
        _read_by_spark(
            rf"{_DAY}[T ][0-9:]{{8}}(?:\.[0-9]{{1,6}})?[+-][0-9]{{4}}", lambda text: f"{text[:-2]}:{text[-2:]}"
        ),
        "CAST(REGEXP_REPLACE({}, '([0-9]{{2}})$', ':$1') AS TIMESTAMP)",
    ),
    Form(
        "times of web logs",
        _read_as(r"[0-9]{2}/[A-Z][a-z]{2}/[0-9]{4}:[0-9:]{8} [+-][0-9]{4}", "%d/%b/%Y:%H:%M:%S %z"),
        "TO_TIMESTAMP({}, 'dd/MMM/yyyy:HH:mm:ss Z')",
    ),
    Form(
        "day/month/year",
        _read_as(r"[0-9]{2}/[0-9]{2}/[0-9]{4}", "%d/%m/%Y"),
        "TO_TIMESTAMP({}, 'dd/MM/yyyy')",
    ),
    Form(
        "month/day/year",
        _read_as(r"[0-9]{2}/[0-9]{2}/[0-9]{4}", "%m/%d/%Y"),
        "TO_TIMESTAMP({}, 'MM/dd/yyyy')",
    ),
    Form(
        "day/month/year and a time",
        _read_as(r"[0-9]{2}/[0-9]{2}/[0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}", "%d/%m/%Y %H:%M:%S"),
        "TO_TIMESTAMP({}, 'dd/MM/yyyy HH:mm:ss')",
    ),
    Form(
        "month/day/year and a time",
        _read_as(r"[0-9]{2}/[0-9]{2}/[0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}", "%m/%d/%Y %H:%M:%S"),
        "TO_TIMESTAMP({}, 'MM/dd/yyyy HH:mm:ss')",
    ),
    Form(
        "day.month.year",
        _read_as(r"[0-9]{2}\.[0-9]{2}\.[0-9]{4}", "%d.%m.%Y"),
        "TO_TIMESTAMP({}, 'dd.MM.yyyy')",
    ),
    Form(
        "day.month.year and a time",
        _read_as(r"[0-9]{2}\.[0-9]{2}\.[0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}", "%d.%m.%Y %H:%M:%S"),
        "TO_TIMESTAMP({}, 'dd.MM.yyyy HH:mm:ss')",
    ),
    Form(
        "day.month.year and a time without seconds",
        _read_as(r"[0-9]{2}\.[0-9]{2}\.[0-9]{4} [0-9]{2}:[0-9]{2}", "%d.%m.%Y %H:%M"),
        "TO_TIMESTAMP({}, 'dd.MM.yyyy HH:mm')",
    ),
    Form(
        "day/month/year and a time without seconds",
        _read_as(r"[0-9]{2}/[0-9]{2}/[0-9]{4} [0-9]{2}:[0-9]{2}", "%d/%m/%Y %H:%M"),
        "TO_TIMESTAMP({}, 'dd/MM/yyyy HH:mm')",
    ),
    Form(
        "month/day/year and a time without seconds",
        _read_as(r"[0-9]{2}/[0-9]{2}/[0-9]{4} [0-9]{2}:[0-9]{2}", "%m/%d/%Y %H:%M"),
        "TO_TIMESTAMP({}, 'MM/dd/yyyy HH:mm')",
    ),
    Form(
        "year/month/day",
        _read_as(r"[0-9]{4}/[0-9]{2}/[0-9]{2}", "%Y/%m/%d"),
        "TO_TIMESTAMP({}, 'yyyy/MM/dd')",
    ),
    Form(
        "year/month/day and a time",
        _read_as(r"[0-9]{4}/[0-9]{2}/[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}", "%Y/%m/%d %H:%M:%S"),
        "TO_TIMESTAMP({}, 'yyyy/MM/dd HH:mm:ss')",
    ),
    Form(
        "times with a comma before their decimals",
        _read_by_spark(rf"{_DAY}[T ][0-9:]{{8}},[0-9]{{1,6}}(?:{_ZONE})?", lambda text: text.replace(",", ".")),
        "CAST(REPLACE({}, ',', '.') AS TIMESTAMP)",
    ),
    Form(
        "times of HTTP",
        _read_as(
            r"[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} (?:GMT|UTC)", "%d %b %Y %H:%M:%S", _take_http
        ),
        "TO_TIMESTAMP(SUBSTRING({}, 6, 20), 'dd MMM yyyy HH:mm:ss')",
    ),
    Form(
        "times of mails",
        _read_as(
            r"[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} [+-][0-9]{4}",
            "%d %b %Y %H:%M:%S %z",
            lambda text: text[5:],
        ),
        "TO_TIMESTAMP(SUBSTRING({}, 6), 'dd MMM yyyy HH:mm:ss Z')",
    ),
    Form(
        "compact dates",
        _read_as(_COMPACT_DAY, "%Y%m%d"),
        "TO_TIMESTAMP({}, 'yyyyMMdd')",
    ),
    Form(
        "compact times without a zone",
        _read_as(_COMPACT_DAY + "[0-9]{6}", "%Y%m%d%H%M%S"),
        "TO_TIMESTAMP({}, 'yyyyMMddHHmmss')",
    ),
    Form(
        "compact times",
        _read_as(r"[0-9]{8}T[0-9]{6}Z", "%Y%m%dT%H%M%SZ"),
        "TO_TIMESTAMP({}, 'yyyyMMdd''T''HHmmss''Z''')",
    ),
)
"""Forms of texts, in the order in which they are chosen."""


def _read_epoch(unit: int) -> Callable[[str], datetime | None]:
    """Reads whole numbers that count microseconds, or so many of them as one, if they lie between 1990 and 2100."""
    low, high = 631_152_000, 4_102_444_800

    def read(text: str) -> datetime | None:
        number = int(text)
        seconds = number * unit // 1_000_000 if unit else number // 1_000_000_000
        if not low <= seconds < high:
            return None
        return EPOCH + timedelta(microseconds=number * unit if unit else number // 1000)

    return read


NUMBER_FORMS = (
    Form("seconds since 1970", _read_epoch(1_000_000), "TIMESTAMP_SECONDS({})"),
    Form("milliseconds since 1970", _read_epoch(1_000), "TIMESTAMP_MILLIS({})"),
    Form("microseconds since 1970", _read_epoch(1), "TIMESTAMP_MICROS({})"),
    Form("nanoseconds since 1970", _read_epoch(0), "TIMESTAMP_MICROS({} DIV 1000)"),
    Form("compact dates", _read_as(_COMPACT_DAY, "%Y%m%d"), "TO_TIMESTAMP(CAST({} AS STRING), 'yyyyMMdd')"),
    Form(
        "compact times",
        _read_as(_COMPACT_DAY + "[0-9]{6}", "%Y%m%d%H%M%S"),
        "TO_TIMESTAMP(CAST({} AS STRING), 'yyyyMMddHHmmss')",
    ),
)
"""Forms of whole numbers in columns whose names speak of time."""
_QUOTED = {
    form: replace(form, told=f"{form.told}, in quotes", sql=form.sql.replace("{}", "CAST({} AS BIGINT)"))
    for form in NUMBER_FORMS
}


def quote_form(form: Form) -> Form:
    """The form of texts that are whole numbers of a form."""
    return _QUOTED[form]


_SPEAKS_OF_KEY = re.compile(
    r"(?:^|[_.-])(?:id|uuid|guid|key|code|sku)$|(?<=[a-z])(?:Id|ID|Key|Uuid|Code)$", re.IGNORECASE
)
_SPEAKS_OF_TIME = re.compile(
    r"(?:^|[_@.-])(?:ts|time|date|at|epoch|when|created|updated|ms|us|ns)(?:$|[_.-])|time", re.IGNORECASE
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def speaks_of_time(name: str) -> bool:
    """Whether the name of a column says that it has times."""
    return _SPEAKS_OF_TIME.search(_CAMEL.sub("_", name)) is not None


def speaks_of_key(name: str) -> bool:
    """Whether the name of a column says that it identifies something."""
    return _SPEAKS_OF_KEY.search(_CAMEL.sub("_", name)) is not None
