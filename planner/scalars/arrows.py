"""`f(s->name)`: a lambda by its syntax, and a field where the function takes no lambda, as in ksqlDB."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.planner.functions import Function
from penstock.planner.functions.signature import LambdaOf, signature


def read_arrows(function: Function, arguments: Sequence[exp.Expression]) -> list[exp.Expression]:
    """The arguments of a call, with `s.name` for `s->name` where the function takes no lambda."""
    patterns = (each for text in function.signatures for each in signature(text).parameters)
    if any(isinstance(each, LambdaOf) for each in patterns):
        return list(arguments)
    return [_read_arrow(each) if isinstance(each, exp.Lambda) else each for each in arguments]


def _read_arrow(arrow: exp.Lambda) -> exp.Expression:
    """The arrow binds as tightly as a dot: in `s->a + 1` it takes `a` alone. A lambda that is no field stays one."""
    body = _read_arrow(arrow.this) if isinstance(arrow.this, exp.Lambda) else arrow.this.copy()
    first = body
    while not isinstance(first, exp.Column) and isinstance(first.this, exp.Expression):
        first = first.this
    spans = first.meta.get("span"), body.meta.get("span")
    begins = spans[0] is not None and spans[1] is not None and spans[0].start == spans[1].start
    if len(arrow.expressions) != 1 or not isinstance(first, exp.Column) or not begins:
        return arrow
    (base,) = arrow.expressions
    field: exp.Expression
    if "table" in first.args:
        field = exp.Dot(this=exp.Column(this=first.args["table"], table=base.copy()), expression=first.this)
        field.this.meta["span"] = arrow.meta["span"]
    else:
        field = exp.Column(this=first.this, table=base.copy())
    field.meta["span"] = arrow.meta["span"]
    if first is body:
        return field
    first.replace(field)
    body.meta["span"] = arrow.meta["span"]
    return body
