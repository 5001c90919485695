"""Row values such as `(a, b)`, which exist in comparisons only -> comparisons of their parts."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.diagnostics.codes import syntax
from penstock.diagnostics.diagnostic import CompileError
from penstock.diagnostics.source import Span
from penstock.parser.build.base import Builder, balanced, placed
from penstock.parser.build.standard import enclose, repeat

_EQUALITIES: tuple[type[exp.Expression], ...] = (exp.EQ, exp.NullSafeEQ)
_INEQUALITIES: tuple[type[exp.Expression], ...] = (exp.NEQ, exp.NullSafeNEQ)
_STRICT: dict[type[exp.Expression], type[exp.Expression]] = {exp.LTE: exp.LT, exp.GTE: exp.GT}


def row(span: Span, *values: exp.Expression) -> exp.Tuple:
    return placed(exp.Tuple(expressions=list(values)), span)


def compare_rows(span: Span, kind: type[exp.Expression], left: exp.Expression, right: exp.Expression) -> exp.Expression:
    """A comparison of two values, at least one of which is a row; part by part, from the left."""
    lefts, rights = _parts(left), _parts(right)
    if len(lefts) != len(rights):
        raise CompileError([syntax.S027.at(span, left=len(lefts), right=len(rights))])
    pairs = list(zip(lefts, rights, strict=True))
    if kind in _EQUALITIES or kind in _INEQUALITIES:
        parts = [placed(kind(this=one, expression=other), span) for one, other in pairs]
        return enclose(balanced(exp.And if kind in _EQUALITIES else exp.Or, parts))
    strict = _STRICT.get(kind, kind)
    one, other = pairs[-1]
    result: exp.Expression = placed(kind(this=one, expression=other), span)
    for one, other in reversed(pairs[:-1]):
        equal = placed(exp.EQ(this=repeat(one), expression=repeat(other)), span)
        rest = placed(exp.And(this=equal, expression=result), span)
        before = placed(strict(this=one, expression=other), span)
        result = enclose(placed(exp.Or(this=before, expression=rest), span))
    return result


def find_row(span: Span, operand: exp.Tuple, values: Sequence[exp.Expression]) -> exp.Expression:
    """`(a, b) IN ((1, 2), (3, 4))`."""
    equal = [
        compare_rows(span, exp.EQ, operand if place == 0 else repeat(operand), each)
        for place, each in enumerate(values)
    ]
    return equal[0] if len(equal) == 1 else enclose(balanced(exp.Or, equal))


def is_row(value: exp.Expression) -> bool:
    """Whether it is a row, perhaps in further brackets."""
    while isinstance(value, exp.Paren):
        value = value.this
    return isinstance(value, exp.Tuple)


def _parts(value: exp.Expression) -> list[exp.Expression]:
    return [enclose(each) for each in (value.unnest().expressions if is_row(value) else [value])]


RULES: dict[str, Builder] = {"row": row}
