"""Functions of ksqlDB that mean something else in Penstock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from penstock.translate.meanings import shared
from penstock.translate.meanings.call import Call, Change, Rule, join, rename, tell, wrap


def _edit_now(call: Call) -> Iterator[Change]:
    told = "UNIX_TIMESTAMP of ksqlDB gives milliseconds: UNIX_MILLIS"
    if call.arguments:
        yield from call.rename("UNIX_MILLIS", told)
    else:
        yield from call.replace(told, "UNIX_MILLIS(CURRENT_TIMESTAMP())")


def _edit_logarithm(call: Call) -> Iterator[Change]:
    yield from shared.edit_logarithm(call)
    if len(call.arguments) == 1:
        yield from call.tell("LOG(x) is natural; the reference of ksqlDB says to base 10 (LOG10), its code is natural")


def _edit_slice(call: Call) -> Iterator[Change]:
    """SLICE(array, from, to) with the last place, which is NULL where a place is out of range."""
    if len(call.arguments) != 3:
        return
    array, first, last = call.arguments
    told = "the third argument of SLICE is a number of elements; in ksqlDB it is the last place, and a place out of "
    told += "range gives NULL: CASE"
    start, end = call.find_number(1), call.find_number(2)
    count: tuple[str | tuple[int, int], ...] = ("(", last, ") - (", first, ") + 1")
    if start is not None and end is not None:
        if not 1 <= start <= end + 1:
            yield from call.tell("SLICE with these places is always NULL in ksqlDB")
            return
        count = (str(end - start + 1),)
        test: tuple[str | tuple[int, int], ...] = ("SIZE(", array, f") >= {end}")
    else:
        test = ("(", first, ") >= 1 AND (", last, ") BETWEEN (", first, ") - 1 AND SIZE(", array, ")")
    yield from call.replace(told, "CASE WHEN ", *test, " THEN SLICE(", array, ", ", first, ", ", *count, ") END")


def _edit_sort(call: Call) -> Iterator[Change]:
    """NULLs come last in both orders."""
    direction = call.find_text(1)
    if len(call.arguments) != 2:
        return
    if direction is not None and direction.upper() in ("DESC", "DESCENDING"):
        yield from call.replace("ARRAY_SORT takes no order: SORT_ARRAY", "SORT_ARRAY(", call.arguments[0], ", FALSE)")
    elif direction is not None and direction.upper() in ("ASC", "ASCENDING"):
        yield from call.replace("ARRAY_SORT takes no order", "ARRAY_SORT(", call.arguments[0], ")")


def _edit_join(call: Call) -> Iterator[Change]:
    """ARRAY_JOIN has NULLs as a word, and commas unless it has a delimiter."""
    if len(call.arguments) not in (1, 2):
        return
    told = "ARRAY_JOIN leaves out NULLs; in ksqlDB they are the word null"
    delimiter = ("','",) if len(call.arguments) == 1 else (call.arguments[1],)
    yield from call.replace(told, "ARRAY_JOIN(", call.arguments[0], ", ", *delimiter, ", 'null')")


def _edit_extract_all(call: Call) -> Iterator[Change]:
    """REGEXP_EXTRACT_ALL begins with the pattern, and gives whole matches unless a group is asked for."""
    if len(call.arguments) not in (2, 3):
        return
    pattern, text, *groups = call.arguments
    told = "the pattern is the second argument of REGEXP_EXTRACT_ALL"
    if not groups:
        told += "; it gives the first group unless 0 asks for the whole match"
    yield from call.replace(told, "REGEXP_EXTRACT_ALL(", text, ", ", pattern, ", ", *(groups or "0"), ")")


def _edit_mask(call: Call) -> Iterator[Change]:
    """MASK also replaces what is neither a letter nor a digit."""
    if len(call.arguments) == 1:
        told = "MASK keeps signs and spaces; ksqlDB makes each of them a hyphen: MASK(…, 'X', 'x', 'n', '-')"
        yield from call.replace(told, "MASK(", call.arguments[0], ", 'X', 'x', 'n', '-')")


_BY_OFFSET = {"LATEST_BY_OFFSET": ("MAX_BY", "newest"), "EARLIEST_BY_OFFSET": ("MIN_BY", "oldest")}


def _edit_by_offset(call: Call) -> Iterator[Change]:
    """The newest or oldest value that is not NULL. The function with several values is refused."""
    if len(call.arguments) == 1:
        (value,) = call.arguments
        function, which = _BY_OFFSET[call.name]
        told = f"{call.name} goes by the order of arrival in ksqlDB; {function} takes the {which} value by event time"
        yield from call.replace(told, function, "(", value, ", ROWTIME) FILTER (WHERE ", value, " IS NOT NULL)")


def _edit_character(call: Call) -> Iterator[Change]:
    code = call.find_number(0)
    if code is None or not 0 <= code < 256:
        yield from call.tell(
            "CHR takes a code modulo 256; ksqlDB takes any code of Unicode, and texts such as '\\u004b'"
        )


def _edit_find(call: Call) -> Iterator[Change]:
    if len(call.arguments) == 2:
        yield from call.replace(
            "INSTR of NULL is NULL; in ksqlDB it is 0: COALESCE", "COALESCE(INSTR(", *join(call.arguments), "), 0)"
        )


_FAILS = "{} fails for a text that does not fit; in ksqlDB it is NULL: {}"
RULES: Mapping[str, Rule] = {
    "FROM_UNIXTIME": rename("TIMESTAMP_MILLIS", "FROM_UNIXTIME of ksqlDB takes milliseconds: TIMESTAMP_MILLIS"),
    "UNIX_TIMESTAMP": _edit_now,
    "SLICE": _edit_slice,
    "SPLIT": shared.edit_split,
    "ARRAY_CONTAINS": shared.edit_contains,
    "ARRAY_SORT": _edit_sort,
    "ARRAY_JOIN": _edit_join,
    "ARRAY_REMOVE": shared.edit_remove,
    "AS_MAP": tell(
        "AS_MAP fails if a key is repeated or a value is missing; in ksqlDB the last value counts, and a missing one "
        "is NULL"
    ),
    "MAP": shared.edit_map,
    "ELT": shared.edit_element,
    "SIGN": wrap("CAST(", " AS INT)", "SIGN is a DOUBLE; in ksqlDB it is an INT"),
    "LN": shared.edit_logarithm,
    "LOG": _edit_logarithm,
    "SUBSTRING": shared.edit_substring,
    "LPAD": shared.edit_pad,
    "RPAD": shared.edit_pad,
    "TRIM": tell("TRIM removes spaces; in ksqlDB tabs and ends of lines, too"),
    "INITCAP": tell("INITCAP begins a word behind a blank; in ksqlDB behind a tab or an end of line, too"),
    "INSTR": _edit_find,
    "CHR": _edit_character,
    "ENCODE": tell("ENCODE makes bytes of a text; in ksqlDB it turns one encoding into another"),
    "REGEXP_EXTRACT": shared.edit_extract,
    "REGEXP_EXTRACT_ALL": _edit_extract_all,
    "MASK": _edit_mask,
    "REPLACE": tell("REPLACE of an empty text changes nothing; in ksqlDB it puts the text between all characters"),
    "URL_EXTRACT_HOST": lambda call: call.replace(
        "URL_EXTRACT_HOST fails for what is no URL; in ksqlDB it is NULL",
        *("TRY_PARSE_URL(", *join(call.arguments), ", 'HOST')"),
    ),
    "URL_EXTRACT_PROTOCOL": lambda call: call.replace(
        "URL_EXTRACT_PROTOCOL fails for what is no URL; in ksqlDB it is NULL",
        *("TRY_PARSE_URL(", *join(call.arguments), ", 'PROTOCOL')"),
    ),
    "URL_DECODE_PARAM": rename("TRY_URL_DECODE", _FAILS.format("URL_DECODE_PARAM", "TRY_URL_DECODE")),
    "PARSE_TIMESTAMP": tell(_FAILS.format("PARSE_TIMESTAMP", "TRY_TO_TIMESTAMP")),
    "PARSE_DATE": tell(_FAILS.format("PARSE_DATE", "TRY_TO_DATE")),
    "STRINGTOTIMESTAMP": tell(_FAILS.format("STRINGTOTIMESTAMP", "UNIX_MILLIS(TRY_TO_TIMESTAMP(…))")),
    "STRINGTODATE": tell(_FAILS.format("STRINGTODATE", "UNIX_DATE(TRY_TO_DATE(…))")),
    "EXTRACTJSONFIELD": tell(
        "EXTRACTJSONFIELD of a JSON null is NULL; in ksqlDB it is the word null. It formats objects in its own way"
    ),
    "COUNT_DISTINCT": tell("COUNT_DISTINCT is exact; in ksqlDB it is an estimate"),
    "COLLECT_LIST": tell(
        "COLLECT_LIST has its values in order, the least first unless ORDER BY says otherwise, and leaves out NULLs; "
        "in ksqlDB they come as they arrive, with NULLs"
    ),
    "COLLECT_SET": tell(
        "COLLECT_SET has its values in order and leaves out NULLs; in ksqlDB they come as they arrive, with a NULL"
    ),
    "SUM": tell("SUM over NULLs alone is NULL, and of an INT a BIGINT; in ksqlDB it is 0: COALESCE, and an INT"),
    "AVG": tell("AVG over NULLs alone is NULL; in ksqlDB it is 0: COALESCE"),
    "STDDEV_SAMP": tell(
        "STDDEV_SAMP is a standard deviation, NULL for a single row; in ksqlDB it is the variance (VAR_SAMP), and 0 "
        "for a single row"
    ),
    "LATEST_BY_OFFSET": _edit_by_offset,
    "EARLIEST_BY_OFFSET": _edit_by_offset,
    "UNIX_DATE": lambda call: shared.tell_clock(call) if not call.arguments else iter(()),
}
