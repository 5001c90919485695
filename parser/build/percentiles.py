"""MEDIAN and percentiles -> the places in the sorted list of the values of a group, as Spark computes them."""

from __future__ import annotations

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
PERCENTILES = ("MEDIAN", "PERCENTILE")
WITHIN_GROUP = ("PERCENTILE_CONT", "PERCENTILE_DISC")


def expand_percentile(call: exp.Expression, read: Callable[[str], exp.Expression]) -> exp.Expression:
    """MEDIAN(x), PERCENTILE(x, 0.9), and `PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)`; others stay as they are."""
    if isinstance(call, exp.WithinGroup):
        return _expand_ordered(call, read)
    if call.name.upper() == "MEDIAN" and len(call.expressions) == 1:
        half = placed(exp.Literal.number("0.5"), span_of(call))
        return _fill(call, CONTINUOUS, call.expressions[0], half, read)
    if call.name.upper() == "PERCENTILE" and len(call.expressions) == 2:
        value, part = call.expressions
        return _fill(call, CONTINUOUS, value, part, read)
    return call


def refuse_computed(span: Span, function: exp.Expression, clause: str) -> None:
    """Raises CompileError for FILTER and OVER behind what is computed from several aggregates."""
    if isinstance(function, exp.Paren):
        name = span_of(function).text.partition("(")[0].strip().upper()
        hints = {"FILTER": f"{name} of CASE WHEN condition THEN value END", "OVER": "GROUP BY a key and a window"}
        raise refuse(span, f"{clause} behind {name}", "It is computed from several aggregates.", hints[clause])


def _expand_ordered(call: exp.WithinGroup, read: Callable[[str], exp.Expression]) -> exp.Expression:
    function, orders = call.this, call.expression.expressions
    name = function.name.upper() if isinstance(function, exp.Anonymous) else ""
    if name not in WITHIN_GROUP or len(function.expressions) != 1 or len(orders) != 1:
        return call
    (part,), (order,) = function.expressions, orders
    if order.args.get("desc"):
        return call
    return _fill(call, CONTINUOUS if name == "PERCENTILE_CONT" else DISCRETE, order.this, part, read)


def _is_part(part: exp.Expression) -> bool:
    """Whether it is a literal from 0 to 1."""
    return isinstance(part, exp.Literal) and not part.is_string and 0 <= float(part.name) <= 1


def _fill(
    call: exp.Expression,
    text: str,
    value: exp.Expression,
    part: exp.Expression,
    read: Callable[[str], exp.Expression],
) -> exp.Expression:
    """The expression over the value and the part; the call itself where the part is no literal."""
    if not _is_part(part) or isinstance(value, exp.Distinct):
        return call
    filled = read(text).copy()
    span = span_of(call)
    for node in filled.walk():
        node.meta["span"] = span
    for column in [*filled.find_all(exp.Column)]:
        column.replace(value.copy() if column.name == "value" else part.copy())
    return placed(exp.Paren(this=filled), span)
