"""WITH and UNION ALL -> the plans of their parts, put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.kinds import K004, K005, K011, K024
from penstock.parser import ast
from penstock.planner import scalars
from penstock.planner.lower.context import Context, collect_findings
from penstock.planner.lower.select_items import name_columns, rename_columns
from penstock.planner.lower.table_union import check_counts, count_shown, unite_rows
from penstock.planner.plan import Column, EventTime, KStream, KTable, Named, Node, UnionAll, anchor_times, make_column
from penstock.planner.types import Type

LowerQuery: TypeAlias = Callable[[ast.Query, Context], Node]


def lower_with(query: ast.With, context: Context, lower_query: LowerQuery) -> Node:
    """The plan of the body, which sees the tables in front of it; raises CompileError."""
    seen: dict[str, ast.Name] = {}
    for table in query.tables:
        first = seen.setdefault(table.name.folded, table.name)
        if first is not table.name:
            raise CompileError([K011.at(table.name.span, "", name=table.name.text).also(first.span, "first")])
        node = name_columns(lower_query(table.query, context), table.columns, table.name.text, table.name.span)
        context = context.with_table(table.name.text, node)
    return lower_query(query.body, context)


def lower_union(union: ast.UnionQuery, context: Context, lower_query: LowerQuery) -> Node:
    """All branches, cast to common types where that loses nothing. A common event time is kept."""
    branches = lower_branches(union, context, lower_query)
    if all(isinstance(each.shape, KTable) for each in branches):
        return unite_tables(union, branches)
    aligned = align_branches(union, branches)
    shape = unite_shapes([branch.shape for branch in aligned if isinstance(branch.shape, KStream)])
    schema = tuple(Column(each.name, each.type) for each in aligned[0].schema)
    return UnionAll(schema=schema, shape=shape, span=union.span, inputs=aligned)


def lower_branches(union: ast.UnionQuery, context: Context, lower_query: LowerQuery) -> list[Node]:
    """The plans of the branches; raises CompileError with what is wrong in any of them.

    Rows of VALUES are branches. That nothing is read is told once.
    """
    branches: list[Node] = []
    findings: list[Diagnostic] = []
    for branch in union.branches:
        with collect_findings(findings):
            branches.append(lower_query(branch, context))
    idle = [each for each in findings if each.code == K024.id]
    if findings:
        raise CompileError([each for each in findings if each not in idle[1:]])
    return branches


def align_branches(union: ast.UnionQuery, branches: list[Node]) -> tuple[Node, ...]:
    """The branches with the names of the first one and common types. Raises CompileError where there are none."""
    first, findings = branches[0], list[Diagnostic]()
    tables: list[Span] = []
    for node, syntax in zip(branches, union.branches, strict=True):
        if not isinstance(node.shape, KStream):
            tables.append(syntax.span)
        elif len(node.schema) != len(first.schema):
            reason = f"the first has {len(first.schema)} columns, this one {len(node.schema)}"
            findings.append(K005.at(syntax.span, "", reason=reason).also(union.branches[0].span, "first branch"))
    if tables:
        found = K004.at(tables[0], "a table")
        for span in tables[1:]:
            found = found.also(span, "a table")
        findings.append(
            found.with_hint("unite the streams in a subquery, then GROUP BY; or make tables of all branches")
        )
    if findings:
        raise CompileError(findings)
    types = [find_common_type(union, branches, position) for position in range(len(first.schema))]
    return tuple(align_branch(branch, first, types) for branch in branches)


def unite_tables(union: ast.UnionQuery, branches: list[Node]) -> Node:
    """The rows of all tables, each as often as it comes; raises CompileError."""
    check_counts(branches, [each.span for each in union.branches])
    types = [find_common_type(union, branches, position) for position in range(count_shown(branches[0]))]
    return unite_rows(branches, types, union.span)


def unite_shapes(shapes: list[KStream]) -> KStream:
    """The shape of streams put together: the key and the event times that all of them have."""
    keys = {shape.key for shape in shapes}
    common = [time.column for time in shapes[0].times if all(shape.has_time(time.column) for shape in shapes)]
    kept = [anchor_times(time for name in common for time in shape.times if time.column == name) for shape in shapes]
    times = tuple(
        EventTime(
            each[0].column, max(t.delay for t in each), min(t.offset_min for t in each), max(t.offset_max for t in each)
        )
        for each in zip(*kept, strict=True)
    )
    return KStream(keys.pop() if len(keys) == 1 else (), times)


def find_common_type(union: ast.UnionQuery, branches: list[Node], position: int) -> Type:
    type_ = branches[0].schema[position].type
    for branch, syntax in zip(branches, union.branches, strict=True):
        other = branch.schema[position].type
        common = type_ if other == type_ else scalars.common_type(type_, other)
        if common is None or not (scalars.is_lossless(type_, common) and scalars.is_lossless(other, common)):
            reason = f"column {branches[0].schema[position].name} is {type_} and {other}"
            raise CompileError([K005.at(syntax.span, "", reason=reason).with_hint("CAST one of them")])
        type_ = common
    return type_


def align_branch(branch: Node, first: Node, types: list[Type]) -> Node:
    """The branch under the names of the first one and the common types; unchanged if it has them."""
    assert isinstance(branch.shape, KStream)
    names = {c.name: target.name for c, target in zip(branch.schema, first.schema, strict=True)}
    items = [
        Named(names[c.name], scalars.cast(make_column(c.name), c.type, type_), type_)
        for c, type_ in zip(branch.schema, types, strict=True)
    ]
    return rename_columns(branch, items, branch.shape.rename(names), branch.span)
