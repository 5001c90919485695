"""How large plans, expressions and types may become. Shared parts multiply: what reads a plan may visit each use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.limits import L004, L007, L008
from penstock.planner.plan import Expression, GroupAggregate, Named, Node, Project, UnionAll, WindowAggregate
from penstock.planner.plan.walk import fold_plan
from penstock.planner.types import Array, Map, Struct, Type

LARGEST_PLAN = 500
"""Operators of one plan: far more than people write, and still planned within a second."""
LARGEST_EXPRESSION = 10_000
"""Parts of one expression, such as a column, a literal or a call."""
LARGEST_SUM = 500_000
"""Parts of all expressions of one plan."""
LARGEST_TYPE = 2_000
"""Types within one type, itself included."""
DEEPEST_TYPE = 64


def check_size(root: Node, span: Span) -> None:
    """Raises CompileError for a plan with too many operators, a shared one counted as often as it is read."""
    if root.size > LARGEST_PLAN:
        found = L004.at(span, "", limit=LARGEST_PLAN)
        raise CompileError([found.with_hint("write what others read to a place of its own with INSERT INTO")])


def check_expressions(root: Node) -> None:
    """Raises CompileError for an expression that is too large once its columns are replaced by what computes them.

    Spark moves conditions below the SELECT lists that compute their columns, and accounts count rows by these
    conditions. A view that uses a column twice, over a view that does so too, doubles an expression at every level.
    """
    total = 0

    def measure(node: Node, below: tuple[dict[str, int], ...]) -> dict[str, int]:
        nonlocal total
        known = {name: size for sizes in below for name, size in sizes.items()}
        named = {id(each.value): each.name for each in list_named(node)}
        found: dict[int, int] = {}
        for each in node.expressions:
            found[id(each)] = size = count_parts(each, known)
            total += size
            if size > LARGEST_EXPRESSION or total > LARGEST_SUM:
                raise CompileError([explain_large(named.get(id(each), "an expression"), each, node.span)])
        if isinstance(node, UnionAll):
            branches = [tuple(sizes.values()) for sizes in below]  # in the order of the columns
            return {out.name: max(sizes) for out, *sizes in zip(node.schema, *branches, strict=True)}
        own = {each.name: found[id(each.value)] for each in list_named(node)}
        return {each.name: own.get(each.name, known.get(each.name, 1)) for each in node.schema}

    fold_plan(root, measure)


def list_named(node: Node) -> Sequence[Named]:
    """The columns that the operator computes from single rows, each with its expression."""
    if isinstance(node, Project):
        return node.items
    return node.keys if isinstance(node, WindowAggregate | GroupAggregate) else ()


def count_parts(expression: Expression, sizes: Mapping[str, int]) -> int:
    """The parts of the expression, if each column has the size that `sizes` names; others are one part."""
    parts = expression.walk(prune=lambda part: isinstance(part, exp.Column))
    return sum(sizes.get(each.name, 1) if isinstance(each, exp.Column) else 1 for each in parts)


def explain_large(name: str, expression: Expression, place: Span) -> Diagnostic:
    """The finding for an expression with too many parts."""
    found = L007.at(expression.meta.get("span", place), "", name=name, limit=f"{LARGEST_EXPRESSION:,}")
    reason = "A name stands for what a view or a subquery computes, and that for what is below."
    return found.because(reason).with_hint("write a part to a place of its own with INSERT INTO, and read that")


def check_type(type_: Type, name: str, span: Span) -> None:
    """Raises CompileError for a type that is too large or too deep. `name`: what has it."""
    count, pending = 0, [(type_, 1)]
    while pending:
        part, depth = pending.pop()
        count += 1
        if depth > DEEPEST_TYPE or count > LARGEST_TYPE:
            limit = f"{DEEPEST_TYPE} levels" if depth > DEEPEST_TYPE else f"{LARGEST_TYPE:,} parts"
            found = L008.at(span, "", name=name, limit=limit)
            raise CompileError([found.with_hint("select the fields that are needed")])
        pending += [(each, depth + 1) for each in list_parts(part)]


def list_parts(type_: Type) -> tuple[Type, ...]:
    """The types of the elements, keys, values or fields."""
    match type_:
        case Array():
            return (type_.element,)
        case Map():
            return type_.key, type_.value
        case Struct():
            return tuple(each for _, each in type_.fields)
        case _:
            return ()
