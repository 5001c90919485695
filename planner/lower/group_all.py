"""GROUP BY ALL -> the keys that it stands for."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.building import B002
from penstock.parser import ast
from penstock.planner.lower.from_rows import FromRows
from penstock.planner.lower.grouped import find_topmost, has_aggregate
from penstock.planner.lower.over import has_over
from penstock.planner.lower.select_items import OutputColumn
from penstock.planner.lower.time_windows import read_window_call
from penstock.planner.lower.window_parts import find_called_window, is_part_name
from penstock.planner.plan.substitute import free_columns
from penstock.planner.scalars.literals import bare


def name_all_keys(select: ast.Select, outputs: Sequence[OutputColumn], rows: FromRows) -> ast.Select:
    """The SELECT with the keys that ALL in its GROUP BY stands for: the items without aggregates, and the window.

    ALL stays where it stands for no key. Raises CompileError for an item of a window and of other columns.
    """
    if not select.group_by or not isinstance(select.group_by[0], exp.Var):
        return select
    keys: list[exp.Expression] = []
    windows = list(select.group_by[1:])
    for value in (each.value for each in outputs):
        if has_aggregate(value) or has_over(value):
            continue
        parts = list(find_topmost(value, lambda node: is_window_part(node, rows)))
        if not parts:
            keys += [value] if value.find(exp.Column) else []
            continue
        inside = {id(column) for part in parts for column in part.find_all(exp.Column)}
        if any(id(column) not in inside for column in free_columns(value, in_over=False)):
            found = B002.at(value.meta["span"], "", construct="GROUP BY ALL beside a window and columns in one item")
            raise CompileError([found.with_hint("GROUP BY the keys by their names")])
        windows += [call for part in parts if (call := find_called_window(part)) is not None]
    group_by = (*keys, *drop_equal_windows(windows, rows))
    return replace(select, group_by=group_by or select.group_by)


def is_window_part(node: exp.Expression, rows: FromRows) -> bool:
    """Whether it says something of the window of a group."""
    if isinstance(node, exp.Column):
        return is_part_name(node, rows)
    return find_called_window(node) is not None


def drop_equal_windows(calls: Sequence[exp.Expression], rows: FromRows) -> list[exp.Expression]:
    """Drops calls whose window FROM or an earlier call has already. Raises CompileError. Raises CompileError."""
    kept: list[exp.Expression] = []
    known = [] if rows.window is None else [(rows.window.window, rows.window.time)]
    for call in map(bare, calls):
        timed = read_window_call(call, rows)
        if (timed.window, timed.time) not in known:
            known.append((timed.window, timed.time))
            kept.append(call)
    return kept
