"""Calls with arguments that other systems have and Spark's function of that name has not, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from penstock.diagnostics import Prose

Form: TypeAlias = str | Callable[[Sequence[str]], str | None]

# Letters in the time formats of PostgreSQL and Oracle -> letters of Spark. Longer ones first.
_LETTERS = {
    **{"YYYY": "yyyy", "YY": "yy", "MONTH": "MMMM", "MON": "MMM", "MM": "MM", "MI": "mm", "MS": "SSS"},
    **{"DAY": "EEEE", "DDD": "DDD", "DD": "dd", "DY": "EEE", "HH24": "HH", "HH12": "hh", "HH": "hh"},
    **{
        "SS": "ss",
        "US": "SSSSSS",
        "AM": "a",
        "PM": "a",
        "Q": "q",
        "Month": "MMMM",
        "Mon": "MMM",
        "Day": "EEEE",
        "Dy": "EEE",
    },
}
_LETTER = re.compile(rf'({"|".join(sorted(_LETTERS, key=len, reverse=True))})|"([^"]*)"|([^A-Za-z"\'])')


def translate_format(text: str) -> str | None:
    """A format of times as PostgreSQL's TO_CHAR takes it, in the letters of Spark. None if it has others.

    Its small letters are not translated, because they may be Spark's letters.
    """
    pieces: list[str] = []
    place = 0
    while place < len(text):
        match = _LETTER.match(text, place)
        if match is None:
            return None
        letters, quoted, sign = match.groups()
        pieces.append(_LETTERS[letters] if letters else f"''{quoted}''" if quoted is not None else sign)
        place = match.end()
    return "".join(pieces)


def propose_form(name: str, arguments: Sequence[str]) -> str | None:
    """What to write for a call with these arguments, given as texts of the script."""
    form = _FORMS.get((name, len(arguments)))
    return form.format(*arguments) if isinstance(form, str) else None if form is None else form(arguments)


def _write_time(arguments: Sequence[str]) -> str | None:
    """TO_CHAR(time, 'YYYY-MM-DD')."""
    time, pattern = arguments
    format_ = translate_format(pattern[1:-1]) if pattern.startswith("'") else None
    if format_ is None:
        return f"DATE_FORMAT({time}, {pattern})" if "yyyy" in pattern else None
    return f"DATE_FORMAT({time}, '{format_}')"


def _format_value(arguments: Sequence[str]) -> str | None:
    """FORMAT(time, 'yyyy-MM-dd') of SQL Server."""
    value, pattern = arguments
    is_of_time = re.fullmatch("'.*(yy|MM|dd|HH|mm).*'", pattern) is not None
    return f"DATE_FORMAT({value}, {pattern})" if is_of_time else None


def _encode(arguments: Sequence[str]) -> str | None:
    """ENCODE(bytes, 'hex'), and ENCODE(text, 'utf8', 'hex') of ksqlDB."""
    value = arguments[0] if len(arguments) == 2 else f"ENCODE({arguments[0]}, 'UTF-8')"
    if re.match(r"SHA\d{3}\(", value, re.IGNORECASE) and arguments[-1].lower() == "'hex'":
        return value
    forms = {"'hex'": f"LOWER(HEX({value}))", "'base64'": f"BASE64({value})"}
    return forms.get(arguments[-1].lower())


def _decode(arguments: Sequence[str]) -> str | None:
    forms = {"'hex'": f"UNHEX({arguments[0]})", "'base64'": f"UNBASE64({arguments[0]})"}
    return forms.get(arguments[-1].lower())


def _match_likewise(arguments: Sequence[str]) -> str | None:
    """REGEXP_LIKE(text, pattern, 'i')."""
    text, pattern, flags = arguments
    return f"REGEXP_LIKE({text}, '(?i){pattern[1:]})" if flags == "'i'" and pattern.startswith("'") else None


def _replace_all(arguments: Sequence[str]) -> str | None:
    """REGEXP_REPLACE(text, pattern, replacement, 'g')."""
    text, pattern, replacement, flags = arguments
    if flags == "'g'":
        return f"REGEXP_REPLACE({text}, {pattern}, {replacement})"
    is_blind = flags in ("'gi'", "'ig'") and pattern.startswith("'")
    return f"REGEXP_REPLACE({text}, '(?i){pattern[1:]}, {replacement})" if is_blind else None


def _sort(arguments: Sequence[str]) -> str | None:
    """ARRAY_SORT(array, 'DESC')."""
    array, direction, *nulls = arguments
    rising = _DIRECTIONS.get(direction.upper())
    if rising is None:
        return Prose(f"SORT_ARRAY({array}) is rising, SORT_ARRAY({array}, FALSE) falling")
    if nulls and nulls[0].upper() != rising:
        return f"ARRAY_SORT({array})" if rising == "TRUE" else f"REVERSE(ARRAY_SORT({array}))"
    return f"SORT_ARRAY({array}, {rising})"


_DIRECTIONS = {
    **dict.fromkeys(("'ASC'", "'ASCENDING'", "TRUE"), "TRUE"),
    **dict.fromkeys(("'DESC'", "'DESCENDING'", "FALSE"), "FALSE"),
}


def _shift(sign: str) -> Callable[[Sequence[str]], str | None]:
    """DATE_ADD(time, INTERVAL '1' DAY)."""

    def form(arguments: Sequence[str]) -> str | None:
        time, length = arguments
        return f"{time} {sign} {length}" if length.upper().startswith("INTERVAL") else None

    return form


def _reduce_map(arguments: Sequence[str]) -> str | None:
    """REDUCE(map, start, (s, k, v) => …) of ksqlDB."""
    map_, start, body = arguments
    if not re.match(r"\(\s*\w+\s*,\s*\w+\s*,\s*\w+\s*\)\s*[-=]>", body):
        return None
    return Prose(f"REDUCE(MAP_ENTRIES({map_}), {start}, (s, e) -> s + e.value), where e.key is the key of an entry")


def _choose(arguments: Sequence[str]) -> str:
    """DECODE(value, this, result, that, result, default)."""
    value, *rest = arguments
    branches = " ".join(f"WHEN {when} THEN {then}" for when, then in zip(rest[::2], rest[1::2], strict=False))
    default = f" ELSE {rest[-1]}" if len(rest) % 2 else ""
    return f"CASE {value} {branches}{default} END"


def _divide_whole(arguments: Sequence[str]) -> str | None:
    """FROM_UNIXTIME(millis / 1000) of Flink, where a quotient of whole numbers is whole."""
    quotient = re.fullmatch(r"(.+?)\s*/\s*(\d+)", arguments[0])
    return f"FROM_UNIXTIME({quotient[1]} DIV {quotient[2]})" if quotient else None


def _read_path(form: str) -> Callable[[Sequence[str]], str | None]:
    """JSON_VALUE(json, 'lax $.a'). The words in front of a path say what Spark always does."""

    def fill(arguments: Sequence[str]) -> str | None:
        json, path = arguments
        bare = re.sub(r"^'(lax|strict)\s+", "'", path)
        return None if bare == path else form.format(json, bare)

    return fill


def split_text(form: str) -> Callable[[Sequence[str]], str]:
    """STRING_TO_ARRAY(text, separator). The separator of SPLIT is a regular expression."""

    def fill(arguments: Sequence[str]) -> str:
        text, separator = arguments
        if not separator.startswith("'"):
            return form.format(f"SPLIT({text}, CONCAT(r'\\Q', {separator}, r'\\E'))")
        pattern = _SIGN.sub(r"\\\g<0>", separator[1:-1])
        return form.format(f"SPLIT({text}, '{pattern}')")

    return fill


_SIGN = re.compile(r"[.|$*+?(){\[^\\]")


def _take_by_offset(function: str) -> Callable[[Sequence[str]], str]:
    """LATEST_BY_OFFSET and EARLIEST_BY_OFFSET, which pass over NULLs unless their last argument says otherwise."""

    def form(arguments: Sequence[str]) -> str:
        value, *rest = arguments
        if rest and rest[0].isdigit():
            order = "ROWTIME DESC" if function == "MAX_BY" else "ROWTIME"
            return f"SLICE(COLLECT_LIST({value} ORDER BY {order}), 1, {rest[0]})"
        has_nulls = bool(rest) and rest[-1].upper() == "FALSE"
        return f"{function}({value}, ROWTIME)" + ("" if has_nulls else f" FILTER (WHERE {value} IS NOT NULL)")

    return form


def _to_bytes(arguments: Sequence[str]) -> str | None:
    text, encoding = arguments
    forms = {"'hex'": f"UNHEX({text})", "'base64'": f"UNBASE64({text})", "'ascii'": f"ENCODE({text}, 'US-ASCII')"}
    return forms.get(encoding.lower())


def _from_bytes(arguments: Sequence[str]) -> str | None:
    value, encoding = arguments
    forms = {"'hex'": f"HEX({value})", "'base64'": f"BASE64({value})", "'ascii'": f"DECODE({value}, 'US-ASCII')"}
    return forms.get(encoding.lower())


def _write_millis(arguments: Sequence[str]) -> str:
    """TIMESTAMPTOSTRING(milliseconds, format, zone)."""
    millis, format_, zone = arguments
    time = millis if millis.upper().endswith("ROWTIME") else f"TIMESTAMP_MILLIS({millis})"
    return f"DATE_FORMAT(FROM_UTC_TIMESTAMP({time}, {zone}), {format_})"


_LATEST, _EARLIEST = _take_by_offset("MAX_BY"), _take_by_offset("MIN_BY")
_FORMS: dict[tuple[str, int], Form] = {
    **{("LATEST_BY_OFFSET", count): _LATEST for count in (1, 2, 3)},
    **{("EARLIEST_BY_OFFSET", count): _EARLIEST for count in (1, 2, 3)},
    ("FORMAT", 2): _format_value,
    ("ISNULL", 2): "COALESCE({0}, {1})",
    ("TO_CHAR", 1): "CAST({0} AS STRING)",
    ("TO_VARCHAR", 1): "CAST({0} AS STRING)",
    ("TO_NUMBER", 1): "CAST({0} AS DOUBLE)",
    ("TRUNC", 1): "SIGN({0}) * FLOOR(ABS({0}))",
    ("TRUNC", 2): "SIGN({0}) * FLOOR(ABS({0}) * POWER(10, {1})) / POWER(10, {1})",
    ("STRING_TO_ARRAY", 2): split_text("{0}"),
    ("STRING_TO_TABLE", 2): split_text("EXPLODE({0})"),
    ("ARRAY_JOIN", 1): "ARRAY_JOIN({0}, ',')",
    ("ARRAY_SORT", 2): _sort,
    ("ARRAY_SORT", 3): _sort,
    ("DATE_ADD", 2): _shift("+"),
    ("DATE_SUB", 2): _shift("-"),
    ("REDUCE", 3): _reduce_map,
    ("CEIL", 2): "CEIL({0} * POWER(10, {1})) / POWER(10, {1})",
    ("FLOOR", 2): "FLOOR({0} * POWER(10, {1})) / POWER(10, {1})",
    ("TO_JSON", 2): "TO_JSON({0})",
    ("TYPEOF", 2): "TYPEOF({0})",
    ("APPROX_COUNT_DISTINCT", 2): "APPROX_COUNT_DISTINCT({0})",
    ("TO_VARCHAR", 2): _write_time,
    ("CONVERT_TIMEZONE", 3): "FROM_UTC_TIMESTAMP(TO_UTC_TIMESTAMP({2}, {0}), {1})",
    ("CONVERT_TIMEZONE", 2): "FROM_UTC_TIMESTAMP({1}, {0})",
    ("IDENTIFIER", 1): lambda arguments: arguments[0].strip("'"),
    ("ARRAY_PREPEND", 2): "ARRAY_PREPEND({1}, {0})",
    ("JSON_VALUE", 2): _read_path("GET_JSON_OBJECT({0}, {1})"),
    ("JSON_QUERY", 2): _read_path("GET_JSON_OBJECT({0}, {1})"),
    ("JSON_EXISTS", 2): _read_path("GET_JSON_OBJECT({0}, {1}) IS NOT NULL"),
    ("FROM_UNIXTIME", 1): _divide_whole,
    ("TOPK", 3): "TOPK(STRUCT({0}, {1}), {2})",
    ("TOPKDISTINCT", 3): "TOPKDISTINCT(STRUCT({0}, {1}), {2})",
    ("ENCODE", 3): _encode,
    ("ENCODE", 2): _encode,
    ("DECODE", 2): _decode,
    ("INSTR", 3): "LOCATE({1}, {0}, {2})",
    ("TRIM", 2): "BTRIM({0}, {1})",
    ("REGEXP_REPLACE", 4): _replace_all,
    ("REGEXP_LIKE", 3): _match_likewise,
    ("DATE_TRUNC", 3): "TO_UTC_TIMESTAMP(DATE_TRUNC({0}, FROM_UTC_TIMESTAMP({1}, {2})), {2})",
    ("CURRENT_TIMESTAMP", 1): "CURRENT_TIMESTAMP",
    ("TO_CHAR", 2): _write_time,
    ("TRANSFORM", 3): "TRANSFORM_KEYS(TRANSFORM_VALUES({0}, {2}), {1})",
    ("FILTER", 2): "MAP_FILTER({0}, {1})",
    ("FORMAT_TIMESTAMP", 3): "DATE_FORMAT(FROM_UTC_TIMESTAMP({0}, {2}), {1})",
    ("TIMESTAMPTOSTRING", 3): _write_millis,
    ("TO_BYTES", 2): _to_bytes,
    ("FROM_BYTES", 2): _from_bytes,
    ("TRUNCATE", 2): "SIGN({0}) * FLOOR(ABS({0}) * POWER(10, {1})) / POWER(10, {1})",
    ("LISTAGG", 1): "LISTAGG({0}, ',')",
    **{("DECODE", count): _choose for count in range(3, 16)},
    ("FROM_JSON", 3): "FROM_JSON({0}, {1})",
    ("GENERATE_SERIES", 3): "SEQUENCE({0}, {1}, {2})",
    ("JSON_EXTRACT_PATH_TEXT", 3): "GET_JSON_OBJECT({0}, '$.' || {1} || '.' || {2})",
    ("JSONB_EXTRACT_PATH_TEXT", 3): "GET_JSON_OBJECT({0}, '$.' || {1} || '.' || {2})",
}
