"""Names, aggregates and OVER in clauses that do not have them -> what these clauses take, or the clause that does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.expression_types import T007, T008
from penstock.diagnostics.codes.names import N001, N003
from penstock.parser import ast, name_text
from penstock.planner.lower.context import list_subqueries
from penstock.planner.lower.grouped import has_aggregate
from penstock.planner.plan import conjuncts
from penstock.planner.scalars.scopes import is_same_name

_ATOMS = (exp.Column, exp.Literal, exp.Anonymous, exp.Paren, exp.Cast, exp.Case)


@contextmanager
def explain_clauses(select: ast.Select) -> Iterator[None]:
    """Gives findings about the clauses of a SELECT the hints that depend on its other clauses."""
    try:
        yield
    except CompileError as error:
        raise CompileError([_explain(each, select) for each in error.diagnostics]) from None


def _explain(found: Diagnostic, select: ast.Select) -> Diagnostic:
    if found.code == N003.id and found.labels:
        return _explain_relation(found, select)
    if found.code not in (N001.id, T007.id, T008.id) or not found.labels:
        return found
    place = found.labels[0].span
    for clause, condition in _list_conditions(select):
        if _contains(condition, place):
            return _explain_in(found, select, clause, condition)
    if found.code == T007.id and any(_contains(each, place) for each in select.group_by):
        hint = "GROUP BY takes what each row has; a subquery in FROM computes an aggregate before it"
        return found if found.hint else found.with_hint(hint)
    return found


def _explain_relation(found: Diagnostic, select: ast.Select) -> Diagnostic:
    """The finding about the name of a relation that has another name in this SELECT."""
    written, dot, rest = found.labels[0].span.text.partition(".")
    for table in _list_tables(select.relation):
        if dot and table.alias is not None and table.name.folded == written.strip('`"').lower():
            alias = name_text(table.alias.text)
            found = found.because(f"{table.name.text} is called {alias} here.")
            return found.with_sql(f"{alias}.{rest}")
    return found


def _list_tables(relation: ast.Relation) -> Iterator[ast.Table]:
    """The tables and streams that FROM names."""
    pending = [relation]
    while pending:
        each = pending.pop()
        if isinstance(each, ast.Table):
            yield each
        elif isinstance(each, ast.Join):
            pending += (each.left, each.right)


def _list_conditions(select: ast.Select) -> Iterator[tuple[str, exp.Expression]]:
    if select.where is not None:
        yield "WHERE", select.where
    relation = select.relation
    while isinstance(relation, ast.Join):
        if relation.on is not None:
            yield "ON", relation.on
        relation = relation.left


def _contains(expression: exp.Expression, place: Span) -> bool:
    """Whether a place is in an expression, and in no subquery of it."""
    span: Span = expression.meta["span"]
    if span.source is not place.source or not span.start <= place.start < place.end <= span.end:
        return False
    inside: list[Span] = [query.span for _, query in list_subqueries(expression) if hasattr(query, "span")]
    return not any(each.start <= place.start < each.end for each in inside)


def _explain_in(found: Diagnostic, select: ast.Select, clause: str, condition: exp.Expression) -> Diagnostic:
    """The finding about a condition that one row has to tell."""
    place = found.labels[0].span
    if found.code == N001.id:
        return _explain_alias(found, select, clause, condition, place.text)
    if found.code == T008.id:
        is_over = found.message == T008.message.format(construct="OVER")
        return _move_to_qualify(found, select, condition) if is_over and clause == "WHERE" else found
    if clause == "ON":
        return found.with_hint("ON compares single rows: GROUP BY in a subquery of FROM, and ON with its result")
    return _move_to_having(found, select, condition)


def _explain_alias(
    found: Diagnostic, select: ast.Select, clause: str, condition: exp.Expression, name: str
) -> Diagnostic:
    """The finding about a name that the SELECT list gives."""
    item = next((each for each in select.items if each.alias is not None and each.alias.text == name), None)
    # An item that reads a column of its own name has the same problem.
    if item is None or any(is_same_name(each.name, name) for each in item.value.find_all(exp.Column)):
        return found
    why = f"{clause} comes before the SELECT list, which names {name}"
    found = found.because(why)
    if has_aggregate(item.value):
        return _move_to_having(found, select, condition) if clause == "WHERE" else found
    if next(item.value.find_all(exp.Window), None) is not None:
        return _move_to_qualify(found, select, condition) if clause == "WHERE" else found
    text = item.value.meta["span"].text
    return found.with_sql(text if isinstance(item.value, _ATOMS) else f"({text})", after=f" instead of {name}")


def _move_to_having(found: Diagnostic, select: ast.Select, where: exp.Expression) -> Diagnostic:
    """The finding with the conditions on aggregates in HAVING."""
    parts = [*conjuncts(where)]
    names = {each.alias.folded for each in select.items if each.alias is not None and has_aggregate(each.value)}
    moved = [
        each for each in parts if has_aggregate(each) or names & {c.name.lower() for c in each.find_all(exp.Column)}
    ]
    having = " AND ".join(_text(each) for each in moved)
    begin = _find_word(where, "WHERE")
    ends = [each.meta["span"] for each in select.group_by if "span" in each.meta]
    end = max((each.end for each in ends), default=0)
    if begin is None or not ends or min(each.start for each in ends) < begin.start or select.having is not None:
        return found.with_hint(f"conditions on aggregates stand behind GROUP BY: HAVING {having}")
    span: Span = where.meta["span"]
    rest = " AND ".join(_text(each) for each in parts if each not in moved)
    between = span.source.text[span.end : end].strip()
    kept = f"WHERE {rest} {between}" if rest else between
    return found.with_sql(f"{kept} HAVING {having}", Span(span.source, begin.start, end))


def _move_to_qualify(found: Diagnostic, select: ast.Select, where: exp.Expression) -> Diagnostic:
    """The finding with QUALIFY, whose condition may use OVER."""
    word, span = _find_word(where, "WHERE"), where.meta["span"]
    is_alone = len(conjuncts(where)) == 1 and not (select.group_by or select.windows or select.deduplicate)
    if word is None or not is_alone:
        return found.with_hint("conditions on OVER stand in QUALIFY, behind the other clauses of the query")
    return found.with_sql("QUALIFY", word, after=f" {span.text}")


def _list_names(expression: exp.Expression) -> set[str]:
    return {each.name.lower() for each in expression.find_all(exp.Column)}


def _text(part: exp.Expression) -> str:
    text: str = part.meta["span"].text
    return f"({text})" if isinstance(part, exp.Or) else text


def _find_word(condition: exp.Expression, word: str) -> Span | None:
    """The keyword in front of a condition; None where more stands between them."""
    span: Span = condition.meta["span"]
    before = re.search(rf"\b{word}\s*\Z", span.source.text[max(span.start - 40, 0) : span.start], re.IGNORECASE)
    if before is None:
        return None
    start = span.start - len(before[0])
    return Span(span.source, start, start + len(word))
