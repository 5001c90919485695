"""Functions of Flink that mean something else in Penstock."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from penstock.translate.meanings import shared
from penstock.translate.meanings.call import Call, Change, Rule, rename, tell
from penstock.translate.meanings.shared import quote

_RETURNED: Mapping[str, str] = {
    **dict.fromkeys(("VARCHAR", "STRING"), ""),
    **dict.fromkeys(("INT", "INTEGER"), "INT"),
    "BOOLEAN": "BOOLEAN",
    "DOUBLE": "DOUBLE",
}


def _edit_json_value(call: Call) -> Iterator[Change]:
    """JSON_VALUE with a path that may say lax or strict, and a type."""
    if len(call.arguments) != 2:
        return
    text, (first, end) = call.arguments
    path, behind = call.statement.tokens[first], first + 1
    told = "JSON_VALUE is NULL for objects and arrays in Flink; GET_JSON_OBJECT gives their text"
    if path.type != "STRING":
        told += ", and knows no path with lax or strict"
        yield from call.replace(told, "GET_JSON_OBJECT(", text, ", ", (first, end), ")")
        return
    type_ = ""
    if call.statement.word(behind) == "RETURNING" and call.statement.word(behind + 1) in _RETURNED:
        type_ = _RETURNED[call.statement.word(behind + 1)]
        behind += 2
    while call.statement.says(behind, "NULL ON EMPTY") or call.statement.says(behind, "NULL ON ERROR"):
        behind += 3
    if behind == end:
        inner = ("GET_JSON_OBJECT(", text, ", ", quote(_write_path(path.value)), ")")
        yield from call.replace(told, *(("TRY_CAST(", *inner, f" AS {type_})") if type_ else inner))


def _write_path(path: str) -> str:
    """A path as GET_JSON_OBJECT has it."""
    bare = re.sub(r"^\s*(?:lax|strict)\s+", "", path, flags=re.IGNORECASE)
    return re.sub(r'\.?\["([^"\]]*)"\]', r"['\1']", bare).replace(".['", "['")


def _edit_pairs(call: Call) -> Iterator[Change]:
    """STR_TO_MAP, whose keys end at an equals sign."""
    yield from shared.tell_repeated(call)
    if len(call.arguments) == 1:
        told = "STR_TO_MAP looks for colons; in Flink for equals signs: STR_TO_MAP(…, ',', '=')"
        yield from call.replace(told, "STR_TO_MAP(", call.arguments[0], ", ',', '=')")


def _edit_sort(call: Call) -> Iterator[Change]:
    """ARRAY_SORT(array, ascending, nulls first): NULLs come first in rising order, and last in falling order."""
    words = [call.statement.word(first) for first, _ in call.arguments[1:]]
    told = "NULLs come last in ARRAY_SORT; in Flink they come first: SORT_ARRAY"
    if words in ([], ["TRUE"], ["TRUE", "TRUE"]):
        yield from call.replace(told, "SORT_ARRAY(", call.arguments[0], ")")
    elif words in (["FALSE"], ["FALSE", "FALSE"]):
        yield from call.replace("ARRAY_SORT takes no order: SORT_ARRAY", "SORT_ARRAY(", call.arguments[0], ", FALSE)")
    elif words == ["TRUE", "FALSE"]:
        yield from call.replace("ARRAY_SORT has NULLs last by itself", "ARRAY_SORT(", call.arguments[0], ")")


def _edit_trim(call: Call) -> Iterator[Change]:
    """LTRIM and RTRIM of certain characters."""
    if len(call.arguments) == 2:
        side = "LEADING" if call.name == "LTRIM" else "TRAILING"
        text, characters = call.arguments
        told = f"the characters come first in {call.name}; in Flink the text does: TRIM({side} … FROM …)"
        yield from call.replace(told, f"TRIM({side} ", characters, " FROM ", text, ")")


def _edit_list(call: Call) -> Iterator[Change]:
    yield from shared.tell_order(call)
    if len(call.arguments) == 1:
        yield from call.replace(
            "LISTAGG has a comma between the values: LISTAGG(…, ',')", "LISTAGG(", call.arguments[0], ", ',')"
        )


def _edit_part(call: Call) -> Iterator[Change]:
    """EXTRACT of a second is whole."""
    if call.statement.says(call.place + 2, "SECOND FROM"):
        told = "EXTRACT of a SECOND has a fraction; in Flink it is whole: SECOND(…)"
        yield from call.replace(told, "SECOND(", (call.place + 4, call.end - 1), ")")


def _edit_edge(call: Call) -> Iterator[Change]:
    """FIRST_VALUE and LAST_VALUE leave out NULLs."""
    if call.statement.word(call.end) == "OVER" and len(call.arguments) == 1:
        (value,) = call.arguments
        told = f"{call.name} is the value of a row, also NULL; Flink leaves out NULLs: FILTER"
        yield from call.replace(told, f"{call.name}(", value, ") FILTER (WHERE ", value, " IS NOT NULL)")


def _edit_seconds(call: Call) -> Iterator[Change]:
    if call.arguments:
        yield from call.tell("UNIX_TIMESTAMP fails for a text that is no time; in Flink it is the least BIGINT")
    else:
        yield from shared.tell_clock(call)


def _edit_replace(call: Call) -> Iterator[Change]:
    if "$" in (call.find_text(2) or "$"):
        yield from call.tell("REGEXP_REPLACE fails for a group that the pattern does not have; in Flink it is NULL")


def edit_map(call: Call) -> Iterator[Change]:
    """MAP[key, value, …]."""
    tokens = call.statement.tokens
    keys = [tokens[first] for first, _ in call.arguments[::2]]
    if any(key.type != "STRING" for key in keys) or len({key.value for key in keys}) < len(keys):
        yield from shared.tell_repeated(call)


def _edit_repeated(call: Call) -> Iterator[Change]:
    yield from shared.tell_repeated(call)


_NULL = "{} fails for a text that does not fit; in Flink it is NULL: {}"
RULES: Mapping[str, Rule] = {
    "JSON_VALUE": _edit_json_value,
    "STR_TO_MAP": _edit_pairs,
    "MAP_FROM_ARRAYS": _edit_repeated,
    "SPLIT": shared.edit_split,
    "ARRAY_CONTAINS": shared.edit_contains,
    "ARRAY_SORT": _edit_sort,
    "ARRAY_REMOVE": shared.edit_remove,
    "ELT": shared.edit_element,
    **dict.fromkeys(("LTRIM", "RTRIM"), _edit_trim),
    **dict.fromkeys(("SUBSTRING", "SUBSTR"), shared.edit_substring),
    **dict.fromkeys(("LPAD", "RPAD"), shared.edit_pad),
    **dict.fromkeys(("LN", "LOG", "LOG10", "LOG2"), shared.edit_logarithm),
    "LISTAGG": _edit_list,
    "ARRAY_AGG": tell(
        "ARRAY_AGG has its values in order, the least first unless ORDER BY says otherwise, and leaves out NULLs; in "
        "Flink they come as the rows do, with NULLs"
    ),
    "INITCAP": tell("INITCAP begins a word behind a blank; in Flink behind each sign that is no letter and no digit"),
    "GREATEST": tell("GREATEST leaves out NULL; in Flink a NULL makes it NULL"),
    "LEAST": tell("LEAST leaves out NULL; in Flink a NULL makes it NULL"),
    "REGEXP_EXTRACT": shared.edit_extract,
    "REGEXP_REPLACE": _edit_replace,
    "PARSE_URL": rename("TRY_PARSE_URL", _NULL.format("PARSE_URL", "TRY_PARSE_URL")),
    "URL_DECODE": rename("TRY_URL_DECODE", _NULL.format("URL_DECODE", "TRY_URL_DECODE")),
    "TO_TIMESTAMP": rename("TRY_TO_TIMESTAMP", _NULL.format("TO_TIMESTAMP", "TRY_TO_TIMESTAMP")),
    "TO_DATE": rename("TRY_TO_DATE", _NULL.format("TO_DATE", "TRY_TO_DATE")),
    "TO_TIMESTAMP_LTZ": lambda call: (
        call.tell(_NULL.format("TO_TIMESTAMP_LTZ", "TRY_TO_TIMESTAMP")) if call.find_number(1) is None else iter(())
    ),
    "UNIX_TIMESTAMP": _edit_seconds,
    "FROM_UNIXTIME": tell("FROM_UNIXTIME gives the time in UTC; in Flink in the time zone of the session"),
    "EXTRACT": _edit_part,
    "SUM": tell(
        "SUM of whole numbers is a BIGINT, and fails if it does not fit; in Flink it has the type of its argument, and "
        "wraps around"
    ),
    "AVG": tell(
        "AVG of whole numbers is a DOUBLE, and of a DECIMAL has four more digits; in Flink it is a whole number, and "
        "has at least six digits"
    ),
    **dict.fromkeys(("FIRST_VALUE", "LAST_VALUE"), _edit_edge),
    "TYPEOF": tell("TYPEOF gives the name of Spark's type; in Flink the name of Flink's"),
    **dict.fromkeys(("NOW", "PROCTIME"), shared.tell_clock),
}
BARE: frozenset[str] = frozenset({"CURRENT_TIMESTAMP", "CURRENT_DATE", "LOCALTIMESTAMP"})
"""Clocks without brackets."""
