"""For which rows an expression fails: conditions that do not fail themselves, and the expression with NULL instead.

What can fail is an operator or function for which Spark has a form that gives NULL instead. It fails where its
operands are not NULL and that form is. An operator does not look at its second operand if the first is NULL; AND, OR,
CASE, IF and COALESCE look at no more than they need.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise

import msgspec
from sqlglot import exp

from penstock.planner.functions import NULL_FORMS, find_function
from penstock.planner.functions.facts import Laziness
from penstock.planner.plan.expressions import Expression
from penstock.planner.plan.failure import Failure
from penstock.planner.scalars.common_types import is_lossless, type_of
from penstock.planner.types import DOUBLE, FLOAT, INTEGERS, STRING, VOID, Array, Decimal, Map, Type

_LEAVES = (exp.Column, exp.Identifier, exp.Literal, exp.Boolean, exp.Null, exp.Interval, exp.Star)
_SKIPPING = (
    *(*NULL_FORMS, exp.IntDiv, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE),
    *(exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor),
)
"""Operators that do not look at their second operand if the first is NULL."""
_PLAIN = (
    *(*_SKIPPING, exp.Paren, exp.Neg, exp.Not, exp.BitwiseNot, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is, exp.DPipe),
    *(exp.Cast, exp.Bracket, exp.Like, exp.ILike, exp.RegexpLike, exp.Dot, exp.Anonymous, exp.Lambda),
)


class NoExactFormError(Exception):
    """A part of an expression may fail in a way that no condition tells."""

    def __init__(
        self, part: Expression, reason: str = "There is no condition that tells for which rows it fails."
    ) -> None:
        super().__init__(reason)
        self.part = part
        self.reason = reason


class Tried(msgspec.Struct, frozen=True):
    """`value` is the expression with NULL where it fails; `failures` come in the order of evaluation."""

    value: Expression
    failures: tuple[Failure, ...] = ()

    def is_known(self) -> Expression:
        return exp.Not(this=exp.Is(this=self.value.copy(), expression=exp.Null()))

    def where(self, condition: Expression) -> tuple[Failure, ...]:
        """The failures, where it is evaluated in those rows alone for which the condition is true."""
        return tuple(
            Failure(each.code, each.text, join_conditions(condition, each.condition)) for each in self.failures
        )


MOST_NODES = 2000
"""How large all conditions on the rows of a scan may be together. They grow faster than the expression."""
TOO_LARGE = f"The conditions that tell for which rows it fails have more than {MOST_NODES} parts."


def try_expression(node: Expression) -> Tried:
    """The expression, tried. Raises NoExactFormError."""
    result = _try(node)
    _check_size(node, result.failures)
    return result


def are_too_large(failures: Iterable[Failure]) -> bool:
    """Whether the conditions are more than Spark should be asked for each row."""
    nodes = (part for each in failures for part in each.condition.walk())
    return next(islice(nodes, MOST_NODES, None), None) is not None


def _check_size(node: Expression, failures: Sequence[Failure]) -> None:
    if are_too_large(failures):
        raise NoExactFormError(node, TOO_LARGE)


def _try(node: Expression) -> Tried:
    if isinstance(node, _LEAVES):
        return Tried(node.copy())
    match node:
        case exp.And() | exp.Or():
            left, right = try_expression(node.this), try_expression(node.expression)
            looks = default_condition(left.value, value=isinstance(node, exp.And))
            reached = looks if isinstance(node, exp.And) else exp.Not(this=looks)
            value = type(node)(this=left.value, expression=right.value)
            return Tried(value, (*left.failures, *right.where(reached)))
        case exp.Case() if node.this is None:
            branches = [(each.this, each.args["true"]) for each in node.args["ifs"]]
            return _try_case(node, branches, node.args.get("default"))
        case exp.Anonymous() if _find_laziness(node) is Laziness.CONDITION:
            condition, then, otherwise = node.expressions
            return _try_case(node, [(condition, then)], otherwise)
        case exp.Anonymous() if _find_laziness(node) is Laziness.KNOWN:
            return _try_coalesce(node)
        case exp.In() | exp.Between():
            return _try_comparison(node)
    if not isinstance(node, _PLAIN):
        return _only_if_sound(node)
    return _try_operands(node)


def _find_laziness(call: exp.Anonymous) -> Laziness | None:
    function = find_function(str(call.this))
    return None if function is None else function.laziness


def join_conditions(left: Expression, right: Expression) -> Expression:
    """Both conditions; the second one alone if the first is TRUE."""
    if isinstance(left, exp.Boolean) and left.this:
        return right.copy()
    return exp.And(this=left.copy(), expression=right.copy())


def default_condition(condition: Expression, *, value: bool) -> Expression:
    """The condition with a value in the place of NULL."""
    return exp.Anonymous(this="COALESCE", expressions=[condition.copy(), exp.Boolean(this=value)])


def _only_if_sound(node: Expression) -> Tried:
    """A node whose order of evaluation is unknown: nothing in it may fail."""
    for part in _list_parts(node):
        inner = try_expression(part)
        if inner.failures:
            raise NoExactFormError(part)
    return Tried(node.copy())


def _list_parts(node: Expression) -> Iterator[Expression]:
    for value in node.args.values():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, exp.Expression) and not isinstance(part, exp.DataType):
                yield part


def _try_comparison(node: Expression) -> Tried:
    """IN and BETWEEN: only what is compared may fail."""
    for part in _list_parts(node):
        if part is not node.this and try_expression(part).failures:
            raise NoExactFormError(part)
    value, inner = node.copy(), try_expression(node.this)
    value.set("this", inner.value)
    return Tried(value, inner.failures)


def _try_case(node: Expression, branches: Sequence[tuple[Expression, Expression]], default: Expression | None) -> Tried:
    """Conditions are looked at until one is true, then its result alone."""
    found: list[Failure] = []
    before: Expression = exp.Boolean(this=True)
    ifs = []
    for condition, result in branches:
        asked, given = try_expression(condition), try_expression(result)
        holds = default_condition(asked.value, value=False)
        found += [*asked.where(before), *given.where(join_conditions(before, holds))]
        _check_size(node, found)
        before = join_conditions(before, exp.Not(this=holds))
        ifs.append(exp.If(this=asked.value, true=given.value))
    last = None if default is None else try_expression(default)
    found += [] if last is None else last.where(before)
    return Tried(exp.Case(ifs=ifs, default=None if last is None else last.value), tuple(found))


def _try_coalesce(node: exp.Anonymous) -> Tried:
    found: list[Failure] = []
    before: Expression = exp.Boolean(this=True)
    values = []
    for each in map(try_expression, node.expressions):
        found += each.where(before)
        before = join_conditions(before, exp.Not(this=each.is_known()))
        values.append(each.value)
    return Tried(exp.Anonymous(this=node.this, expressions=values), tuple(found))


def _try_operands(node: Expression) -> Tried:
    """An operator, cast or function over what is evaluated first."""
    if isinstance(node, exp.Lambda):
        if try_expression(node.this).failures:
            raise NoExactFormError(node.this)
        return Tried(node.copy())
    operands = [try_expression(part) for part in _list_parts(node)]
    found = list(operands[0].failures) if operands else []
    for before, each in pairwise(operands):
        found += each.where(before.is_known()) if isinstance(node, _SKIPPING) else each.failures
    value = node.copy()
    place = iter(operands)
    for key, part in node.args.items():
        if isinstance(part, list):
            value.set(key, [next(place).value if isinstance(each, exp.Expression) else each for each in part])
        elif isinstance(part, exp.Expression) and not isinstance(part, exp.DataType):
            value.set(key, next(place).value)
    form, own = _find_form(node, value, operands)
    sound = form.copy()
    sound.meta.clear()
    return Tried(sound, (*found, *(Failure(code, _text(node), condition) for code, condition in own)))


def _find_form(
    node: Expression, value: Expression, operands: Sequence[Tried]
) -> tuple[Expression, list[tuple[str, Expression]]]:
    """`value` with NULL where the node itself fails, and when that is; its operands have been tried."""
    type_: Type | None = node.meta.get("type")
    if type(node) in NULL_FORMS:
        form = exp.Anonymous(this=NULL_FORMS[type(node)], expressions=[value.this, value.args["expression"]])
        own = []
        if isinstance(node, exp.Div | exp.Mod) and not _is_nonzero(node.expression):
            by_zero = exp.EQ(this=value.args["expression"].copy(), expression=_make_zero())
            own.append(("R020", _require_known(operands, by_zero)))
        if type_ not in (FLOAT, DOUBLE) and not isinstance(node, exp.Mod):
            own.append(("R022", _mark_lost(form, operands)))
        return (form, own) if own else (value, own)
    match node:
        case exp.TryCast():
            return value, []
        case exp.Cast():
            if node.to.args.get("nested"):
                raise NoExactFormError(node)
            if _widens(node):
                return value, []
            cast = exp.TryCast(this=value.this, to=node.to.copy(), safe=True)
            return cast, [("R021", _mark_lost(cast, operands))]
        case exp.Neg():
            if not _never_overflows(node):
                raise NoExactFormError(node)
        case exp.IntDiv():
            raise NoExactFormError(node)
        case exp.Bracket():
            return _try_element(node, value, operands)
        case exp.Like() | exp.ILike() | exp.RegexpLike():
            if not isinstance(node.expression.unnest(), exp.Literal):
                raise NoExactFormError(node)
        case exp.Anonymous():
            return _try_call(node, value, operands)
    return value, []


def _is_nonzero(divisor: Expression) -> bool:
    inner = divisor.unnest()
    inner = inner.this if isinstance(inner, exp.Cast) else inner
    return isinstance(inner, exp.Literal) and not inner.is_string and float(inner.name) != 0


def _widens(node: exp.Cast) -> bool:
    """Whether a CAST has a value for each value that is cast."""
    source, target = node.this.meta.get("type"), node.to.sql("spark")
    if source in INTEGERS and target in map(str, INTEGERS):
        return INTEGERS.index(source) <= [str(each) for each in INTEGERS].index(target)
    is_number = source in INTEGERS or isinstance(source, Decimal) or source == FLOAT
    if is_number and (decimal := type_of(node.to, [])) and isinstance(decimal, Decimal):
        return source is not None and is_lossless(source, decimal)
    return (is_number and target == "DOUBLE") or (source is not None and target == "STRING") or source == VOID


def _try_element(
    node: exp.Bracket, value: Expression, operands: Sequence[Tried]
) -> tuple[Expression, list[tuple[str, Expression]]]:
    container = node.this.meta.get("type")
    if isinstance(container, Map):
        return value, []
    if not isinstance(container, Array):
        raise NoExactFormError(node)
    array, index = value.this, value.expressions[0]
    size = exp.Anonymous(this="SIZE", expressions=[array.copy()])
    outside = exp.Or(
        this=exp.LT(this=index.copy(), expression=_make_zero()), expression=exp.GTE(this=index.copy(), expression=size)
    )
    form = exp.Anonymous(this="GET", expressions=[array, index])
    return form, [("R023", _require_known(operands, outside))]


def _try_call(
    node: exp.Anonymous, value: Expression, operands: Sequence[Tried]
) -> tuple[Expression, list[tuple[str, Expression]]]:
    function = find_function(str(node.this))
    if function is None or not function.never_fails(node.expressions):
        raise NoExactFormError(node)
    null_form = None if function.failing is None else function.failing.null_form
    if null_form is None or (null_form.cast_code and node.expressions[0].meta.get("type") != STRING):
        return value, []
    form = exp.Anonymous(this=null_form.function, expressions=value.expressions)
    code = (null_form.cast_code if len(operands) == 1 else None) or null_form.code
    return form, [(code, _mark_lost(form, operands))]


def _never_overflows(node: exp.Neg) -> bool:
    return isinstance(node.this.unnest(), exp.Literal) or node.meta.get("type") in (FLOAT, DOUBLE)


def _mark_lost(form: Expression, operands: Sequence[Tried]) -> Expression:
    """That the form is NULL though no operand is."""
    return _require_known(operands, exp.Is(this=form.copy(), expression=exp.Null()))


def _require_known(operands: Sequence[Tried], condition: Expression) -> Expression:
    for each in reversed(operands):
        if not isinstance(each.value, exp.Literal):
            condition = join_conditions(each.is_known(), condition)
    return condition


def _make_zero() -> Expression:
    return exp.Literal.number(0)


def _text(node: Expression) -> str:
    span = node.meta.get("span")
    return " ".join(span.text.split()) if span is not None else node.sql("spark")
