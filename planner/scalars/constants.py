"""Literals as arguments of functions that take only some values: patterns, formats, zones, units.

What is refused here fails for every row, or gives NULL for every row. What is not sure is left to Spark.
"""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Callable, Sequence
from functools import cache, partial

import msgspec
from sqlglot import exp

from penstock.diagnostics import Prose, Span, nearest
from penstock.diagnostics.codes.expression_types import T013, T014
from penstock.diagnostics.diagnostic import Diagnostic
from penstock.planner.functions.argument_kinds import KINDS, Kind
from penstock.planner.functions.elsewhere import translate_directives
from penstock.planner.functions.forms import translate_format
from penstock.planner.scalars.formats import number_format_problem, time_format_problem
from penstock.planner.scalars.literals import bare, whole_number
from penstock.planner.scalars.print_formats import print_format_problem
from penstock.planner.scalars.regex import read_regex
from penstock.planner.scalars.schemas import flat_schema_problem, schema_problem
from penstock.planner.scalars.typed import Typed

_DATE_UNITS = ("WEEK", "MONTH", "QUARTER", "YEAR")
_CLOCK_UNITS = ("MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR")
_TIME_UNITS = (*_CLOCK_UNITS, "DAY", *_DATE_UNITS)
_SHORT_UNITS = ("MON", "MM", "YYYY", "YY")
_TIME_PARTS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOW", "DAYOFWEEK", "DOY", "HOUR", "MINUTE", "SECOND")
# Parts of times that other systems have.
_PARTS_ELSEWHERE = {
    "EPOCH": "UNIX_SECONDS({0})",
    "ISODOW": "WEEKDAY({0}) + 1",
    "DAYOFYEAR": "DAYOFYEAR({0})",
    **dict.fromkeys(("MILLISECOND", "MILLISECONDS", "MS"), "DATE_PART('SECOND', {0}) * 1000"),
    **dict.fromkeys(("MICROSECOND", "MICROSECONDS", "US"), "DATE_PART('SECOND', {0}) * 1000000"),
    "DECADE": "DATE_PART('YEAR', {0}) DIV 10",
    "CENTURY": "(DATE_PART('YEAR', {0}) + 99) DIV 100",
    "MILLENNIUM": "(DATE_PART('YEAR', {0}) + 999) DIV 1000",
}
_WEEKDAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
_CHARSETS = ("UTF-8", "UTF-16", "UTF-16BE", "UTF-16LE", "UTF-32", "US-ASCII", "ISO-8859-1")
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?[+-]([0-9]{1,2})(?::?([0-9]{1,2})(?::?([0-9]{2}))?)?")
# Java's names of zones that the database of zones does not have.
_JAVA_ZONES = re.compile(
    "Z|A[CEGRS]T|B[ES]T|C[ANST]T|CTT|E[ACS]T|HST|I[ES]T|JST|M[IS]T|N[ES]T|P[LNRS]T|SST|UT|UTC|GMT|VST|SystemV/.*"
)


_NEVER_NULL = ("SEPARATOR", "TOP")
_MOST_VALUES = 10_000


class Objection(msgspec.Struct, frozen=True):
    """Why a literal is refused, and what to write instead."""

    reason: str | None
    hint: str | None = None
    """Prose, or what to write in the place of `place`, which is the literal if it is None."""
    place: Span | None = None
    before: str = ""
    after: str = ""


def judge(function: str, kind: Kind, place: int, arguments: Sequence[Typed]) -> Diagnostic | None:
    """What is wrong with the argument at `place`, which is of a kind.

    It is no literal where it has to be one, or a literal that the function does not take.
    """
    argument = arguments[place]
    literal = bare(argument.expression)
    known = (exp.Literal, exp.Boolean) if kind.name in _NEVER_NULL else (exp.Literal, exp.Boolean, exp.Null)
    if kind.literal and not isinstance(literal, known):
        found = T013.at(argument.span, function=function, kind=kind.noun)
        return found.with_sql(_both_ways(function, arguments) if kind.name == "FLAG" else None)
    objection = _objection(function, kind, literal, arguments)
    if objection is None:
        return None
    value = (
        f"'{literal.name}'" if isinstance(literal, exp.Literal) and literal.is_string else str(whole_number(literal))
    )
    found = T014.at(argument.span, function=function, value=value, kind=kind.noun)
    reasoned = found if objection.reason is None else found.because(objection.reason)
    return reasoned.with_sql(objection.hint, objection.place, before=objection.before, after=objection.after)


def text_problem(construct: str, kind: str, value: Typed) -> Diagnostic | None:
    """The same for the right side of LIKE and RLIKE."""
    return judge(construct, KINDS[kind], 0, (value,))


def _objection(function: str, kind: Kind, literal: exp.Expression, arguments: Sequence[Typed]) -> Objection | None:
    number = whole_number(literal)
    if number is not None and kind.name == "POSITION":
        return Objection("Positions count from 1, or from the end with -1.", "1") if number == 0 else None
    if number is not None and kind.name == "TOP":
        most = f"From 1 to {_MOST_VALUES:,} values are kept."
        return None if 1 <= int(number) <= _MOST_VALUES else Objection(most, "10")
    if number is not None and kind.name == "GROUP":
        return _group_objection(int(number), arguments)
    if not isinstance(literal, exp.Literal) or not literal.is_string:
        return None
    if kind.name == "GROUPED_REGEX":
        return _judge_grouped(function, literal.name, arguments)
    if kind.name == "REPLACEMENT":
        return _replacement_objection(literal.name, arguments)
    if kind.name == "PRINT_FORMAT":
        reason = print_format_problem(literal.name, [each.type for each in arguments[1:]])
        return None if reason is None else Objection(_sentence(reason))
    if kind.name == "TIME_PART" and literal.name.upper() in _PARTS_ELSEWHERE:
        time = arguments[1].span
        form = _PARTS_ELSEWHERE[literal.name.upper()]
        return Objection(None, None if time is None else Prose(form.format(time.text)))
    rule = _TEXTS.get(kind.name)
    return None if rule is None else rule(literal.name)


def _both_ways(function: str, arguments: Sequence[Typed]) -> str | None:
    spans = [each.span for each in arguments]
    if spans[0] is None or spans[1] is None:
        return None
    call = f"{function}({spans[0].text}, "
    return f"IF({spans[1].text}, {call}TRUE), {call}FALSE))"


def _sentence(reason: str) -> str:
    return f"{reason[0].upper()}{reason[1:]}."


def _reasoned(problem: Callable[[str], str | None], hint: str | None, text: str) -> Objection | None:
    reason = problem(text)
    return None if reason is None else Objection(_sentence(reason), hint)


def _judge_time(text: str, *, parsing: bool) -> Objection | None:
    """The format of a time. The hint is the same in Spark's letters, if it is one of PostgreSQL."""
    translated = translate_directives(text) or translate_format(text)
    is_one = translated is not None and time_format_problem(translated, parsing=parsing) is None
    hint = translated if is_one else "yyyy-MM-dd HH:mm:ss"
    return _reasoned(partial(time_format_problem, parsing=parsing), f"'{hint}'", text)


def _one_of(words: Sequence[str], more: Sequence[str], text: str) -> Objection | None:
    if text.upper() in (*words, *more):
        return None
    near = nearest(text.upper(), words)
    return _guess(near, Prose("known: " + ", ".join(words)))


def _guess(near: str | None, otherwise: Prose) -> Objection:
    return Objection(None, otherwise) if near is None else Objection(None, f"'{near}'", None, "did you mean ", "?")


def _groups(arguments: Sequence[Typed]) -> int | None:
    """How many groups the second argument has, a regular expression."""
    literal = bare(arguments[1].expression)
    known = isinstance(literal, exp.Literal) and literal.is_string
    return read_regex(literal.name).groups if known else None


def _group_objection(number: int, arguments: Sequence[Typed]) -> Objection | None:
    groups = _groups(arguments)
    if number >= 0 and (groups is None or number <= groups):
        return None
    return Objection(None if groups is None else f"The pattern has {groups} groups; 0 is the whole match.", "0")


def _judge_grouped(function: str, text: str, arguments: Sequence[Typed]) -> Objection | None:
    """A regular expression whose first group is asked for."""
    regex = read_regex(text)
    if regex.problem is not None:
        return Objection(_sentence(regex.problem))
    spans = [each.span for each in arguments]
    if regex.groups != 0 or None in spans:
        return None
    shown = ", ".join(each.text for each in spans if each is not None)
    last = spans[-1]
    assert last is not None
    reason = "Without a number the first group is asked for. 0 is the whole match."
    return Objection(reason, ", 0", Span(last.source, last.end, last.end), f"{function}({shown}", ")")


def _replacement_objection(text: str, arguments: Sequence[Typed]) -> Objection | None:
    plain = re.sub(r"\\.", "", text, flags=re.DOTALL)
    if plain.endswith("\\"):
        return Objection("It ends with a backslash; the character itself is written \\\\.")
    if re.search(r"\$(?![0-9{])", plain):
        return Objection("A group is written $1; the character $ itself is written \\$.")
    groups = _groups(arguments)
    named = [int(each) for each in re.findall(r"\$([0-9])", plain)]
    if groups is not None and max(named, default=0) > groups:
        return Objection(f"The pattern has {groups} groups.")
    return None


def _like(text: str) -> str | None:
    rest = re.sub(r"\\[\\%_]", "", text)
    return r"a backslash stands before %, _ or another backslash" if "\\" in rest else None


def _zone(text: str) -> Objection | None:
    offset = _OFFSET.fullmatch(text)
    if offset:
        hours, minutes, seconds = (int(part or 0) for part in offset.groups())
        sound = minutes < 60 and seconds < 60 and hours * 3600 + minutes * 60 + seconds <= 18 * 3600
        return None if sound else Objection("Offsets reach 18 hours.", "'+09:00'")
    known = _zones()
    if _JAVA_ZONES.fullmatch(text) or text in known or not known:
        return None
    near = nearest(text, sorted(known))
    return _guess(near, Prose("a name such as 'Asia/Seoul', or '+09:00'"))


@cache
def _zones() -> frozenset[str]:
    """The names of the database of zones; none where the machine does not have it."""
    return frozenset(zoneinfo.available_timezones())


_TEXTS: dict[str, Callable[[str], Objection | None]] = {
    "REGEX": partial(_reasoned, lambda text: read_regex(text).problem, None),
    "LIKE": partial(_reasoned, _like, None),
    "TIME_FORMAT": partial(_judge_time, parsing=False),
    "TIME_PATTERN": partial(_judge_time, parsing=True),
    "NUMBER_FORMAT": partial(_reasoned, number_format_problem, "'999,999.99'"),
    "ZONE": _zone,
    "CHARSET": partial(_one_of, _CHARSETS, ()),
    "TIME_UNIT": partial(_one_of, _TIME_UNITS, ("DD", *_SHORT_UNITS)),
    "CLOCK_UNIT": partial(_one_of, _CLOCK_UNITS, ()),
    "DATE_UNIT": partial(_one_of, _DATE_UNITS, _SHORT_UNITS),
    "TIME_PART": partial(_one_of, _TIME_PARTS, ("SECONDS",)),
    "SCHEMA": partial(_reasoned, schema_problem, "'a INT, b ARRAY<STRING>'"),
    "FLAT_SCHEMA": partial(_reasoned, flat_schema_problem, "'a INT, b STRING'"),
    "WEEKDAY": partial(_one_of, _WEEKDAYS, [day[:n] for day in _WEEKDAYS for n in (2, 3)]),
    "LETTER": lambda text: None if len(text) == 1 else Objection("It has to be one character.", "'X'"),
}
