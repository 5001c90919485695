"""What the lowering of one statement carries along, and its two ways to tell findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import msgspec
from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.kinds import K018
from penstock.parser import ast
from penstock.planner import scalars
from penstock.planner.catalog import Catalog
from penstock.planner.plan import Aggregate, KStream, Node, Scan, Snapshot
from penstock.planner.scalars import Typed
from penstock.planner.scalars.literals import bare
from penstock.planner.scalars.scopes import Scope, ScopeColumn


class Context(msgspec.Struct, frozen=True):
    """The catalog, the statement's text, the WITH tables in sight, the warnings so far.

    `late` is the LATE INTO of the statement's own SELECT.

    Errors are raised as CompileError, several at once where they are independent. `warnings` grows, and so does
    `reads`: the derived streams whose rows the statement uses, in lower case.
    """

    catalog: Catalog
    statement: Span
    common_tables: Mapping[str, Node] = msgspec.field(default_factory=dict)
    warnings: list[Diagnostic] = msgspec.field(default_factory=list)
    reads: set[str] = msgspec.field(default_factory=set)
    late: ast.Late | None = None
    views: dict[str, Node] = msgspec.field(default_factory=dict)
    """In a read, the plans of the views that it uses, by their names in lower case."""

    def with_table(self, name: str, node: Node) -> Context:
        return replace(self, common_tables={**self.common_tables, name.lower(): node})


@contextmanager
def collect_findings(findings: list[Diagnostic]) -> Iterator[None]:
    """Adds the findings of a CompileError to the list, so that what follows is checked as well."""
    try:
        yield
    except CompileError as error:
        findings.extend(error.diagnostics)


def place(expression: exp.Expression, span: Span) -> exp.Expression:
    """The expression, all of whose nodes are said to stand at one place."""
    for node in expression.walk():
        node.meta["span"] = span
    return expression


def resolve_scalar(expression: exp.Expression, scope: Scope) -> Typed:
    """The expression with names resolved and types known; raises CompileError."""
    findings: list[Diagnostic] = []
    typed = scalars.resolve(expression, scope, findings)
    if typed is None:
        raise CompileError(findings)
    return typed


def resolve_key(expression: exp.Expression, scope: Scope) -> exp.Expression:
    """What rows are brought together by, resolved; raises CompileError also for values that cannot be compared."""
    typed = resolve_scalar(bare(expression), scope)
    if not scalars.is_ordered(typed.type):
        raise CompileError([K018.at(expression.meta["span"], "", type=typed.type)])
    return typed.expression


def resolve_condition(expression: exp.Expression, scope: Scope, clause: str) -> exp.Expression:
    """A resolved BOOLEAN expression; raises CompileError."""
    findings: list[Diagnostic] = []
    resolved = scalars.resolve_boolean(expression, scope, findings, clause)
    if resolved is None:
        raise CompileError(findings)
    return resolved


def resolve_aggregate(call: exp.Expression, scope: Scope) -> Aggregate:
    """A resolved aggregate call, its `name` still empty; raises CompileError."""
    findings: list[Diagnostic] = []
    resolved = scalars.resolve_aggregate(call, scope, findings)
    if resolved is None:
        raise CompileError(findings)
    return resolved


def list_subqueries(expression: exp.Expression) -> Iterator[tuple[exp.Expr, ast.Query]]:
    """The IN, EXISTS and scalar subqueries in an expression, each with its query."""
    for node in expression.find_all(exp.In, exp.Exists, exp.Subquery):
        query = node.args.get("query") if isinstance(node, exp.In) else node.this
        if query is not None and not isinstance(query, exp.Expression):
            yield node, query


def name_side(value: exp.Expression, relation: ast.Relation) -> str:
    """A column with the relation that it is of; any other value as it is written."""
    text: str = value.meta["span"].text
    if isinstance(relation, ast.Table) and isinstance(value, exp.Column) and not value.table:
        return f"{(relation.alias or relation.name).text}.{text}"
    return text


def make_scope(node: Node, alias: str | None) -> Scope:
    """The scope of a single relation: the columns that it shows, under their own names."""
    columns = tuple(ScopeColumn(alias, c.name, c.name, c.type) for c in node.schema if not c.hidden)
    times = list_event_times(node)
    return Scope(columns, times=tuple(each for each in columns if each.column in times))


def list_event_times(node: Node) -> set[str]:
    """The columns that can be the event time of a stream, or of the records of a declared table."""
    if isinstance(node.shape, KStream):
        times = {each.column for each in node.shape.times}
        return times or ({node.origin.time} if isinstance(node, Snapshot) and node.origin.time else set())
    return {node.origin.time} if isinstance(node, Scan) and node.origin.time else set()
