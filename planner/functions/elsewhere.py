"""Functions that Spark does not have and other systems do, and the function to call instead, over the same arguments.

Functions whose meaning is certain are synonyms (`parser/synonyms.py`). These are near enough to be proposed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from penstock.planner.functions.forms import Form, split_text

# Directives of strftime, and the letters of Spark's formats. MySQL has other minutes, seconds and months.
_DIRECTIVES = {
    **{"Y": "yyyy", "y": "yy", "m": "MM", "d": "dd", "e": "d", "H": "HH", "I": "hh", "M": "mm", "S": "ss", "j": "DDD"},
    **{"f": "SSSSSS", "b": "MMM", "B": "MMMM", "a": "EEE", "A": "EEEE", "p": "a", "F": "yyyy-MM-dd", "T": "HH:mm:ss"},
    "%": "%",
}
_OF_MYSQL = {**_DIRECTIVES, "i": "mm", "s": "ss", "M": "MMMM", "h": "hh", "W": "EEEE", "k": "H", "c": "M"}
_TYPES = {"DATETIME": "TIMESTAMP", "SIGNED": "BIGINT", "NVARCHAR": "STRING", "NUMBER": "DOUBLE", "UNSIGNED": "BIGINT"}
_TYPE = re.compile(
    r"(tiny|small|big)?int(eger)?|bool(ean)?|float|real|double|string|text|char|n?varchar|date(time)?|time(stamp)?"
    r"|(decimal|numeric|number)(\(.*\))?|(un)?signed|n?varchar\(.*\)|char\(.*\)",
    re.IGNORECASE,
)


def translate_directives(text: str) -> str | None:
    """A format such as `%Y-%m-%d` in the letters of Spark; None if it is none, or has others."""
    if "%" not in text:
        return None
    letters = _OF_MYSQL if re.search("%[is]", text) else _DIRECTIVES
    pieces: list[str] = []
    for directive, sign in re.findall(r"%(.)|([^%])", text):
        if directive and directive not in letters:
            return None
        pieces.append(letters[directive] if directive else f"''{sign}''" if sign.isalpha() else sign)
    return "".join(pieces)


def is_unit_or_type(word: str) -> bool:
    """Whether it is a word that functions of other systems take, such as HOUR or INT."""
    return _UNIT.fullmatch(word) is not None or _TYPE.fullmatch(word) is not None


def propose_elsewhere(name: str, arguments: Sequence[str]) -> str | None:
    """What to write for a call of a function that Spark does not have; None if there is nothing near."""
    form = _ELSEWHERE.get((name, len(arguments)))
    return form.format(*arguments) if isinstance(form, str) else None if form is None else form(arguments)


def _format(function: str) -> Callable[[Sequence[str]], str | None]:
    """STRFTIME(time, '%Y'), or STRFTIME('%Y', time)."""

    def fill(arguments: Sequence[str]) -> str | None:
        value, pattern = arguments if arguments[1].startswith("'") else arguments[::-1]
        if not pattern.startswith("'"):
            return f"{function}({value}, {pattern})"
        letters = translate_directives(pattern[1:-1])
        return f"{function}({value}, {pattern})" if letters is None else f"{function}({value}, '{letters}')"

    return fill


def _cast(function: str) -> Callable[[Sequence[str]], str | None]:
    """CONVERT(type, value), or CONVERT(value, type)."""

    def fill(arguments: Sequence[str]) -> str | None:
        type_, value = arguments if _TYPE.fullmatch(arguments[0]) else arguments[::-1]
        return f"{function}({value} AS {_TYPES.get(type_.upper(), type_)})" if _TYPE.fullmatch(type_) else None

    return fill


def _cut(arguments: Sequence[str]) -> str | None:
    """DATETRUNC(hour, time), TIMESTAMP_TRUNC(time, HOUR)."""
    first, second = arguments
    unit, time = (first, second) if _UNIT.fullmatch(first) else (second, first)
    return f"DATE_TRUNC({_quote(unit)}, {time})" if _UNIT.fullmatch(unit) else None


def _take_part(arguments: Sequence[str]) -> str | None:
    """DATEPART(hour, time)."""
    unit, time = arguments
    return f"DATE_PART({_quote(unit)}, {time})" if _UNIT.fullmatch(unit) else None


def _count(arguments: Sequence[str]) -> str | None:
    """TIMESTAMP_DIFF(end, start, HOUR)."""
    end, start, unit = arguments
    return f"TIMESTAMPDIFF({unit}, {start}, {end})" if _UNIT.fullmatch(unit) else None


_UNIT = re.compile(r"'?(second|minute|hour|day|week|month|quarter|year)'?", re.IGNORECASE)


def _quote(unit: str) -> str:
    return unit if unit.startswith("'") else f"'{unit}'"


def _list_each(names: str, count: int, form: Form) -> dict[tuple[str, int], Form]:
    return dict.fromkeys(((name, count) for name in names.split()), form)


_ELSEWHERE: dict[tuple[str, int], Form] = {
    **_list_each("GETDATE SYSDATE SYSDATETIME SYSTIMESTAMP UTC_TIMESTAMP GETUTCDATE", 0, "CURRENT_TIMESTAMP"),
    **_list_each("SYSUTCDATETIME CURRENT_DATETIME", 0, "CURRENT_TIMESTAMP"),
    **_list_each("TODAY UTC_DATE", 0, "CURRENT_DATE"),
    **_list_each("JSON_EXTRACT JSON_EXTRACT_SCALAR JSON_EXTRACT_STRING GET_JSON", 2, "GET_JSON_OBJECT({0}, {1})"),
    **_list_each("JSONEXTRACTSTRING JSONEXTRACTRAW VISITPARAMEXTRACTSTRING", 2, "GET_JSON_OBJECT({0}, '$.' || {1})"),
    **_list_each("STRFTIME FORMATDATETIME FORMAT_DATETIME", 2, _format("DATE_FORMAT")),
    **_list_each("STRPTIME STR_TO_DATE PARSEDATETIME PARSE_DATETIME DATE_PARSE", 2, _format("TO_TIMESTAMP")),
    **_list_each("IIF IFF", 3, "IF({0}, {1}, {2})"),
    **_list_each("MID", 3, "SUBSTRING({0}, {1}, {2})"),
    **_list_each("REPLICATE", 2, "REPEAT({0}, {1})"),
    **_list_each("PROPER", 1, "INITCAP({0})"),
    **_list_each("STUFF", 4, "LEFT({0}, {1} - 1) || {3} || SUBSTRING({0}, {1} + {2})"),
    **_list_each("STRTOK", 3, "SPLIT_PART({0}, {1}, {2})"),
    **_list_each("STRING_SPLIT STR_SPLIT SPLIT_STRING SPLITBYCHAR", 2, split_text("{0}")),
    **_list_each("ISNUMERIC", 1, "TRY_CAST({0} AS DOUBLE) IS NOT NULL"),
    **_list_each("TO_STRING TOSTRING STR TO_TEXT", 1, "CAST({0} AS STRING)"),
    **_list_each("TO_INT TO_INTEGER TOINT TOINT32 PARSE_INT", 1, "CAST({0} AS INT)"),
    **_list_each("TO_BIGINT TOINT64 TO_LONG", 1, "CAST({0} AS BIGINT)"),
    **_list_each("TO_DOUBLE TO_FLOAT TOFLOAT64 TOFLOAT32 PARSE_DOUBLE", 1, "CAST({0} AS DOUBLE)"),
    **_list_each("TO_BOOLEAN TO_BOOL", 1, "CAST({0} AS BOOLEAN)"),
    **_list_each("TODATETIME PARSE_TIMESTAMP TO_DATETIME", 1, "CAST({0} AS TIMESTAMP)"),
    **_list_each("CONVERT", 2, _cast("CAST")),
    **_list_each("TRY_CONVERT", 2, _cast("TRY_CAST")),
    **_list_each("DATETRUNC TIMESTAMP_TRUNC DATETIME_TRUNC", 2, _cut),
    **_list_each("DATEPART", 2, _take_part),
    **_list_each("TIMESTAMP_DIFF DATETIME_DIFF", 3, _count),
    **_list_each("TIMESTAMP_ADD DATETIME_ADD ADDDATE", 2, "{0} + {1}"),
    **_list_each("TIMESTAMP_SUB DATETIME_SUB SUBDATE", 2, "{0} - {1}"),
    **{
        (f"TOSTARTOF{unit}", 1): f"DATE_TRUNC('{unit}', {{0}})"
        for unit in ("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
    },
    **_list_each("EOMONTH", 1, "LAST_DAY({0})"),
    **_list_each("DATEFROMPARTS", 3, "MAKE_DATE({0}, {1}, {2})"),
    **_list_each("EPOCH TO_EPOCH UNIXEPOCH TOUNIXTIMESTAMP TO_UNIXTIME", 1, "UNIX_SECONDS({0})"),
    **_list_each("EPOCH_MS TO_MILLIS", 1, "UNIX_MILLIS({0})"),
    **_list_each("EPOCH_US", 1, "UNIX_MICROS({0})"),
    **_list_each("SAFE_DIVIDE DIVIDE", 2, "TRY_DIVIDE({0}, {1})"),
    **_list_each("DIV0", 2, "COALESCE(TRY_DIVIDE({0}, {1}), 0)"),
    **_list_each("SQUARE", 1, "POWER({0}, 2)"),
    **_list_each("ARGMAX", 2, "MAX_BY({0}, {1})"),
    **_list_each("ARGMIN", 2, "MIN_BY({0}, {1})"),
    **_list_each("UNIQ UNIQEXACT COUNTDISTINCT", 1, "COUNT(DISTINCT {0})"),
    **_list_each("SUMIF SUM_IF", 2, "SUM({0}) FILTER (WHERE {1})"),
    **_list_each("AVGIF AVG_IF", 2, "AVG({0}) FILTER (WHERE {1})"),
    **_list_each("RLIKE REGEXP REGEXP_MATCHES", 2, "REGEXP_LIKE({0}, {1})"),
    **_list_each("WM_CONCAT", 1, "LISTAGG({0}, ',')"),
}
