"""CREATE VIEW -> the plan of its query, under the names that it gives to the columns."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.kinds import K021
from penstock.parser import ast
from penstock.planner.lower.context import Context, make_scope
from penstock.planner.lower.items import WINDOW_COLUMNS, OutputColumn, project_items
from penstock.planner.lower.query import lower_query
from penstock.planner.plan import Node, WTable


def lower_view(view: ast.CreateView, context: Context) -> Node:
    """The rows of a view; raises CompileError."""
    if not view.columns:
        return lower_query(view.query, context)
    query = view.query
    if isinstance(query, ast.Select) and len(query.items) == len(view.columns) and not any(map(is_star, query.items)):
        named = zip(query.items, view.columns, strict=True)
        return lower_query(replace(query, items=tuple(replace(item, alias=name) for item, name in named)), context)
    node = lower_query(query, context)
    shown = [c for c in node.schema if not isinstance(node.shape, WTable) or c.name not in WINDOW_COLUMNS]
    if len(view.columns) != len(shown):
        reason = f"it names {len(view.columns)} columns, and its query has {len(shown)}"
        raise CompileError(
            [K021.at(view.columns[0].span, "", statement="CREATE VIEW", target=view.name.text, reason=reason)]
        )
    outputs = []
    for column, name in zip(shown, view.columns, strict=True):
        value = exp.column(column.name, quoted=True)
        for part in value.walk():
            part.meta["span"] = name.span
        outputs.append(OutputColumn(name.text, value, name.span))
    return project_items(node, outputs, make_scope(node, None), view.name.span)


def is_star(item: ast.Item) -> bool:
    """Whether it stands for several columns."""
    value = item.value
    return isinstance(value, exp.Star) or (isinstance(value, exp.Column) and isinstance(value.this, exp.Star))
