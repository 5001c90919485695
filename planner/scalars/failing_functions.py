"""Which functions can fail for a row, and which of them have a form that gives NULL instead.

Memory aside: a text or array that is too large fails in no row by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.planner.functions import find_function

TRIED_FUNCTIONS = {
    "MAKE_TIMESTAMP": ("TRY_MAKE_TIMESTAMP", "R028"),
    "MOD": ("TRY_MOD", "R020"),
    "TO_DATE": ("TRY_TO_DATE", "R025"),
    "TO_NUMBER": ("TRY_TO_NUMBER", "R025"),
    "TO_TIMESTAMP": ("TRY_TO_TIMESTAMP", "R025"),
    "URL_DECODE": ("TRY_URL_DECODE", "R025"),
}
"""Of each the form that is NULL, over arguments that are not, where the function fails, and the code of the error."""

# These fail for some values of their arguments, and no other function tells which.
_FAILING = frozenset(
    (
        *("ABS", "NEGATIVE", "CEIL", "CEILING", "FLOOR", "ROUND", "BROUND", "CONV", "PMOD", "ELT", "PRINTF", "TO_CHAR"),
        *("FORMAT_STRING", "FORMAT_NUMBER", "ADD_MONTHS", "MAKE_DATE", "TIMESTAMP_MILLIS", "TIMESTAMP_SECONDS"),
        *("ARRAY_INSERT", "ELEMENT_AT", "TRY_ELEMENT_AT", "SEQUENCE", "MAP", "MAP_FROM_ARRAYS", "STR_TO_MAP"),
        *("TRANSFORM_KEYS", "ENCODE", "DECODE", "UNBASE64", "PARSE_URL", "MASK"),
    )
)
# These fail for some values of the arguments at these places alone: where literals stand there, for all rows or none.
_LITERALS = {
    **dict.fromkeys(("REGEXP_COUNT", "REGEXP_INSTR", "REGEXP_LIKE", "REGEXP_SUBSTR", "SPLIT"), (1,)),
    **dict.fromkeys(("REGEXP_EXTRACT", "REGEXP_EXTRACT_ALL", "REGEXP_REPLACE"), (1, 2)),
    **dict.fromkeys(("LPAD", "RPAD", "REPEAT", "ARRAY_REPEAT", "BIT_GET", "GETBIT", "NEXT_DAY", "DATE_FORMAT"), (1,)),
    **dict.fromkeys(
        ("FROM_UNIXTIME", "FROM_UTC_TIMESTAMP", "TO_UTC_TIMESTAMP", "TRY_TO_DATE", "TRY_TO_TIMESTAMP"), (1,)
    ),
    **dict.fromkeys(("TO_DATE", "TO_TIMESTAMP"), (1,)),
    "SLICE": (1, 2),
    "SPACE": (0,),
    "SPLIT_PART": (2,),
}
_OF_TEXTS = ("UNIX_TIMESTAMP", "TO_UNIX_TIMESTAMP")  # with a format


def never_fails(name: str, arguments: Sequence[exp.Expression]) -> bool:
    """Whether the function itself gives a value, or NULL, for all values of its arguments that are not literals."""
    if find_function(name) is None or name in _FAILING or (name in _OF_TEXTS and len(arguments) > 1):
        return False
    places = (place for place in _LITERALS.get(name, ()) if place < len(arguments))
    return all(_is_literal(arguments[place]) for place in places)


def _is_literal(argument: exp.Expression) -> bool:
    """A text or number as it stands, perhaps with a sign."""
    inner = argument.unnest()
    return isinstance(inner.this if isinstance(inner, exp.Neg) else inner, exp.Literal)
