"""ON and WHERE of a join -> the equalities between its sides, and its other conditions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.joins import J008, J012, J013
from penstock.diagnostics.codes.kinds import K018
from penstock.parser import ast
from penstock.planner import scalars
from penstock.planner.lower.context import Context, collect_findings, resolve_condition, resolve_scalar
from penstock.planner.lower.from_rows import FromRows
from penstock.planner.lower.joins.sides import find_right_span
from penstock.planner.plan import KStream, Node, conjuncts, find_columns
from penstock.planner.scalars import Typed
from penstock.planner.scalars.implicit import is_printable
from penstock.planner.scalars.literals import bare
from penstock.planner.scalars.scopes import Scope
from penstock.planner.scalars.typed import cast_hint
from penstock.planner.types import STRING

Equality = tuple[exp.Expression, exp.Expression]


def split_conditions(
    join: ast.Join,
    parts: Sequence[exp.Expression],
    left: FromRows,
    right: FromRows,
    scope: Scope,
    context: Context,
    filters: Iterable[exp.Expression] = (),
) -> tuple[list[Equality], list[exp.Expression]]:
    """The equalities between the sides, and all other conditions, resolved. `filters` of WHERE compare no keys."""
    equalities: list[Equality] = []
    conditions: list[exp.Expression] = []
    findings: list[Diagnostic] = []
    for part in parts:
        with collect_findings(findings):
            equality = find_key_equality(part, left, right, scope, context)
            if equality is None:
                conditions.append(resolve_condition(part, scope, "ON"))
            else:
                equalities.append(equality)
    for part in filters:
        with collect_findings(findings):
            conditions.append(resolve_condition(part, scope, "WHERE"))
    if not equalities and not findings:
        findings.append(explain_no_equality(join, parts, left, right))
    if findings:
        raise CompileError(findings)
    return equalities, conditions


def explain_no_equality(join: ast.Join, parts: Sequence[exp.Expression], left: FromRows, right: FromRows) -> Diagnostic:
    """The finding of a join without a key. `parts`: its conditions, except comparisons of times or windows."""
    both = all(isinstance(rows.node.shape, KStream) for rows in (left, right))
    found = J008.at(find_right_span(join), "every left row would meet every right row" + " in the interval" * both)
    hint = "ON the key of one side = the key of the other" + ", and a bound on the times" * both
    if all(any(each is part for part in parts) for each in conjuncts(join.on)):
        return found.with_hint(hint)
    if both:
        return found.because("ON compares times alone. They bound the join, and are no key.").with_hint(hint)
    found = found.because("ON compares windows alone. They say which rows may meet, and are no key of a table.")
    return found.with_hint("SELECT STREAM in both subqueries gives final rows, which may be joined by their windows")


def find_key_equality(
    part: exp.Expression, left: FromRows, right: FromRows, scope: Scope, context: Context
) -> Equality | None:
    """`part` as an equality of a left and a right expression of one type, None if it is none."""
    node = bare(part)
    if not isinstance(node, exp.EQ):
        return None
    first, second = resolve_scalar(bare(node.this), scope), resolve_scalar(bare(node.expression), scope)
    return compare_values(first, second, left, right, part.meta["span"], context)


def compare_values(
    first: Typed, second: Typed, left: FromRows, right: FromRows, span: Span, context: Context
) -> Equality | None:
    """The equality of two values as one of a left and a right expression of one type, None if it is none."""
    sides = (find_side(first.expression, left.node, right.node), find_side(second.expression, left.node, right.node))
    if sides == ("right", "left"):
        first, second = second, first
    elif sides != ("left", "right"):
        return None
    for typed in (first, second):
        if not scalars.is_ordered(typed.type):
            raise CompileError([K018.at(span, "", type=typed.type)])
    if first.type == second.type:
        return first.expression, second.expression
    common = scalars.common_type(first.type, second.type)
    if common is None or not all(scalars.is_lossless(t, common) for t in (first.type, second.type)):
        found = J012.at(span, "", left=first.type, right=second.type)
        raise CompileError([found.with_sql(_propose_cast(first, second, left, right), otherwise=_CAST_ONE)])
    source = first.type if first.type != common else second.type
    found = J013.at(span, "", source=source, target=common)
    context.warnings.append(found.with_hint(f"declare both keys as {common}"))
    return scalars.cast(first.expression, first.type, common), scalars.cast(second.expression, second.type, common)


_CAST_ONE = "cast one side so that both have one type"


def _propose_cast(first: Typed, second: Typed, left: FromRows, right: FromRows) -> str | None:
    """What to compare in the place of a text and a value of another type. A table keeps its key as it is."""
    for text, other, rows in ((first, second, left), (second, first, right)):
        cast = cast_hint(text, other.type) if isinstance(rows.node.shape, KStream) else None
        if text.type == STRING and cast is not None and other.span is not None:
            return f"TRY_{cast} = {other.span.text}"
        if text.type == STRING and text.span is not None and is_printable(other.type):
            return f"{cast_hint(other, STRING)} = {text.span.text}"
    return None


def find_side(expression: exp.Expression, left: Node, right: Node) -> str:
    """`left` or `right` where the expression uses columns of that side alone, else an empty text."""
    used = find_columns(expression)
    for side, node in (("left", left), ("right", right)):
        if used and used <= {c.name for c in node.schema}:
            return side
    return ""
