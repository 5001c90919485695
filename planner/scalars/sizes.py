"""How large literal arguments make a text or an array: what no row can hold is refused."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.diagnostics.codes.expression_types import T017
from penstock.diagnostics.codes.limits import L006
from penstock.diagnostics.diagnostic import Diagnostic
from penstock.planner.functions import find_function
from penstock.planner.scalars.literals import bare, whole_number

LIMIT = 1_000_000
"""Characters or elements. A micro-batch has many rows: a thousand of a megabyte each fill Spark's memory."""


def size_problem(call: exp.Anonymous) -> Diagnostic | None:
    """Why the result of a call cannot be held, or a SEQUENCE never ends; `call` has resolved arguments."""
    span = call.meta.get("span")
    function = find_function(call.name)
    own = None if function is None else function.size
    if own is None:
        return None
    if own.count is None and _never_ends(call.expressions):
        return (
            None if span is None else T017.at(span, expression=span.text).because("Its steps lead away from its end.")
        )
    size = least_size(call)
    if size <= LIMIT:
        return None
    return L006.at(span, function=call.name, count=f"{size:,}", things=own.things, limit=f"{LIMIT:,}")


def least_size(expression: exp.Expression) -> int:
    """The number of characters or elements, with the elements of elements, as far as literals tell.

    1 if it is unknown.
    """
    inner = _uncast(expression)
    if isinstance(inner, exp.Literal) and inner.is_string:
        return len(inner.name)
    function = find_function(inner.name) if isinstance(inner, exp.Anonymous) else None
    if function is None or function.size is None:
        return 1
    size, arguments = function.size, inner.expressions
    if size.count is None:
        return _steps(arguments)
    return _count(arguments[size.count]) * (1 if size.of is None else least_size(arguments[size.of]))


def _count(argument: exp.Expression) -> int:
    number = whole_number(_uncast(argument))
    return 1 if number is None else max(0, int(number))


def _bounds(arguments: Sequence[exp.Expression]) -> tuple[int, int, int] | None:
    """Start, end and step of a SEQUENCE of literals."""
    numbers = [whole_number(_uncast(each)) for each in arguments]
    known = [int(number) for number in numbers if number is not None]
    if len(known) < len(numbers):
        return None
    start, end, *step = known
    return start, end, step[0] if step else 1 if start <= end else -1


def _never_ends(arguments: Sequence[exp.Expression]) -> bool:
    bounds = _bounds(arguments)
    if bounds is None:
        return False
    start, end, step = bounds
    return start != end and (end - start) * step <= 0


def _steps(arguments: Sequence[exp.Expression]) -> int:
    bounds = _bounds(arguments)
    if bounds is None or bounds[2] == 0:
        return 1
    start, end, step = bounds
    return (end - start) // step + 1


def _uncast(expression: exp.Expression) -> exp.Expression:
    inner = bare(expression)
    return bare(inner.this) if isinstance(inner, exp.Cast) else inner
