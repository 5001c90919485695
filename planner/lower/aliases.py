"""Names and numbers of SELECT items in other clauses -> the expressions that they stand for."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.limits import L007
from penstock.diagnostics.codes.names import N007
from penstock.parser import ast
from penstock.planner.lower.grouped import has_aggregate
from penstock.planner.lower.grouping_sets import is_grouping_sets
from penstock.planner.lower.select_items import OutputColumn, find_numbered, substitute_outputs
from penstock.planner.lower.time_windows import is_window_call, is_window_column
from penstock.planner.scalars.literals import bare
from penstock.planner.scalars.scopes import Scope

# The most nodes and levels of an expression: each use of an alias copies the expression that it stands for.
LARGEST_ITEM = 2_000
TALLEST_ITEM = 100


def replace_aliases(outputs: Sequence[OutputColumn], scope: Scope) -> list[OutputColumn]:
    """Replaces names of earlier items of the SELECT list by their expressions.

    A name that is a column of FROM means that column, as in Spark.

    Raises CompileError where an expression becomes too large.
    """
    spread: list[OutputColumn] = []
    aliases: set[str] = set()
    for output in outputs:
        used = aliases and {each.name.casefold() for each in output.value.find_all(exp.Column)}
        if aliases & used:
            output = replace(output, value=substitute_outputs(output.value, spread, scope))
            check_item(output.value, output)
        spread.append(output)
        if not scope.named(output.name):
            aliases.add(output.name.casefold())
    return spread


def check_item(value: exp.Expression, output: OutputColumn) -> None:
    """Raises CompileError for an expression that is too large or too deep to be planned."""
    count, pending = 0, [(value, 1)]
    while pending:
        node, height = pending.pop()
        count += 1
        if count > LARGEST_ITEM or height > TALLEST_ITEM:
            found = L007.at(output.span, "", name=output.name, limit=f"{LARGEST_ITEM:,}")
            raise CompileError([found.with_hint("compute a part of it in a subquery")])
        pending += [(each, height + 1) for each in node.iter_expressions()]


def replace_in_grouping(select: ast.Select, outputs: Sequence[OutputColumn], scope: Scope) -> ast.Select:
    """Replaces numbers of items and names of windows in GROUP BY, and names of items in HAVING, by their expressions.

    Raises CompileError for a number that is no item's.
    """
    keys = (each for each in select.group_by if not isinstance(each, exp.Var))  # ALL, which stands for no key
    group_by = tuple(replace_in_key(each, outputs, scope) for each in keys)
    having = None if select.having is None else substitute_outputs(select.having, outputs, scope)
    return replace(select, group_by=group_by, having=having)


def replace_in_key(key: exp.Expression, outputs: Sequence[OutputColumn], scope: Scope) -> exp.Expression:
    """Replaces numbers of items and names of windows in one expression of GROUP BY, also within ROLLUP and the like."""
    inner = bare(key)
    if is_grouping_sets(inner) or isinstance(inner, exp.Tuple):
        replaced = inner.copy()
        replaced.set("expressions", [replace_in_key(each, outputs, scope) for each in inner.expressions])
        return replaced
    if isinstance(inner, exp.Column) and not inner.table and not scope.named(inner.name):
        windows = (each.value for each in outputs if each.name.casefold() == inner.name.casefold())
        return next((each for each in windows if is_window_call(each) or is_window_column(each)), key)
    item = find_numbered(inner, outputs, "GROUP BY")
    if item is None:
        return key
    if has_aggregate(item.value):
        found = N007.at(inner.meta["span"], "", clause="GROUP BY", number=inner.name)
        raise CompileError([found.also(item.span, "an aggregate, which is computed for each group")])
    return item.value
