"""MEDIAN, percentiles and MODE -> expressions over the sorted list of the values of a group, as Spark computes them."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from penstock.diagnostics.source import Span
from penstock.parser.build.base import placed, span_of
from penstock.parser.build.standard import refuse

_SORTED = "SORT_ARRAY(COLLECT_LIST(CAST(value AS DOUBLE)))"
_PLACE = "(CAST(part AS DOUBLE) * (COUNT(value) - 1))"
_LOW, _HIGH = f"FLOOR({_PLACE})", f"CEIL({_PLACE})"
_LOWER, _HIGHER = f"GET({_SORTED}, CAST({_LOW} AS INT))", f"GET({_SORTED}, CAST({_HIGH} AS INT))"
_BETWEEN = f"{_LOWER} + ({_HIGHER} - {_LOWER}) * ({_PLACE} - {_LOW})"
CONTINUOUS = f"CASE WHEN {_LOW} = {_HIGH} OR {_LOWER} = {_HIGHER} THEN {_LOWER} ELSE {_BETWEEN} END"
DISCRETE = f"GET({_SORTED}, GREATEST(CAST(CEIL(CAST(part AS DOUBLE) * COUNT(value)) AS INT) - 1, 0))"
_RUN = "IF(x = s.last, s.run + 1, 1)"
# The longest run of equal values in the sorted list, the first one of several. The state begins before the first value.
MODE = (
    "AGGREGATE(SORT_ARRAY(COLLECT_LIST(value)), "
    "NAMED_STRUCT('best', GET(SORT_ARRAY(COLLECT_LIST(value)), 0), 'most', 0, "
    "'last', GET(SORT_ARRAY(COLLECT_LIST(value)), 0), 'run', 0), "
    f"(s, x) -> NAMED_STRUCT('best', IF({_RUN} > s.most, x, s.best), 'most', GREATEST({_RUN}, s.most), "
    f"'last', x, 'run', {_RUN}), s -> s.best)"
)
PERCENTILES = ("MEDIAN", "PERCENTILE", "MODE")


def fall(text: str) -> str:
    """The same over values in falling order."""
    return re.sub(
        r"SORT_ARRAY\(COLLECT_LIST\((value|CAST\(value AS DOUBLE\))\)\)", r"SORT_ARRAY(COLLECT_LIST(\1), FALSE)", text
    )


def expand_percentile(call: exp.Expression, read: Callable[[str], exp.Expression]) -> exp.Expression:
    """MEDIAN(x), PERCENTILE(x, 0.9), MODE(x), and their forms WITHIN GROUP (ORDER BY x). Others stay as they are."""
    if isinstance(call, exp.WithinGroup):
        return _expand_ordered(call, read)
    name, count = call.name.upper(), len(call.expressions)
    if name == "MEDIAN" and count == 1:
        half = placed(exp.Literal.number("0.5"), span_of(call))
        return _fill(call, CONTINUOUS, call.expressions[0], half, read)
    if name == "PERCENTILE" and count == 2:
        value, part = call.expressions
        return _fill(call, CONTINUOUS, value, part, read)
    return _fill(call, MODE, call.expressions[0], None, read) if name == "MODE" and count == 1 else call


def refuse_computed(span: Span, function: exp.Expression, clause: str) -> None:
    """Raises CompileError for FILTER and OVER behind what is computed from several aggregates."""
    if isinstance(function, exp.Paren):
        name = span_of(function).text.partition("(")[0].strip().upper()
        hints = {"FILTER": f"{name} of CASE WHEN condition THEN value END", "OVER": "GROUP BY a key and a window"}
        raise refuse(span, f"{clause} behind {name}", "It is computed from several aggregates.", hints[clause])


def _expand_ordered(call: exp.WithinGroup, read: Callable[[str], exp.Expression]) -> exp.Expression:
    function, orders = call.this, call.expression.expressions
    name = function.name.upper() if isinstance(function, exp.Anonymous) else ""
    text = _ORDERED.get((name, len(function.expressions)))
    if text is None or len(orders) != 1:
        return call
    (order,) = orders
    part = function.expressions[0] if function.expressions else None
    return _fill(call, fall(text) if order.args.get("desc") else text, order.this, part, read)


_ORDERED = {("PERCENTILE_CONT", 1): CONTINUOUS, ("PERCENTILE_DISC", 1): DISCRETE, ("MODE", 0): MODE}


def _is_array(part: exp.Expression | None) -> bool:
    return isinstance(part, exp.Anonymous) and part.name.upper() == "ARRAY"


def _list_parts(part: exp.Expression) -> list[exp.Expression]:
    """The literals from 0 to 1 of a part, which may be an array of such; empty for all else."""
    parts = part.expressions if _is_array(part) else [part]
    is_part = [isinstance(each, exp.Literal) and not each.is_string and 0 <= float(each.name) <= 1 for each in parts]
    return parts if all(is_part) else []


def _fill(
    call: exp.Expression,
    text: str,
    value: exp.Expression,
    part: exp.Expression | None,
    read: Callable[[str], exp.Expression],
) -> exp.Expression:
    """The expression over the value and the part; the call itself where the part is no literal."""
    parts = [None] if part is None else _list_parts(part)
    if not parts or isinstance(value, exp.Distinct):
        return call
    if part is not None and _is_array(part):
        items = ", ".join(
            text.replace("CAST(part AS DOUBLE)", f"CAST({each.name} AS DOUBLE)") for each in part.expressions
        )
        text = f"CASE WHEN COUNT(value) > 0 THEN ARRAY({items}) END"
    filled = read(text).copy()
    span = span_of(call)
    for node in filled.walk():
        node.meta["span"] = span
    for column in [*filled.find_all(exp.Column)]:
        named = {"value": value, "part": part}.get(column.name) if not column.table else None
        if named is not None:
            column.replace(named.copy())
    return placed(exp.Paren(this=filled), span)
