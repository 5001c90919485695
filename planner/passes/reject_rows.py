"""SET on_row_error = 'reject': a query whose scans set aside the rows for which its expressions would fail.

The expressions look at one row of a declared stream. They are filters and projections, and the keys and arguments of
the groups right above them. They are brought down to the columns of the scan, where the conditions on failing rows are
evaluated. Above, the expressions stand in the form that gives NULL, so that the order in which Spark evaluates does not
matter. Whatever else can fail, `check_row_errors.py` refuses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias, assert_never

from msgspec.structs import replace
from sqlglot import exp

from penstock.planner.connectors import connector_of
from penstock.planner.plan import (
    Aggregate,
    Column,
    Expression,
    Filter,
    GroupAggregate,
    KStream,
    Node,
    Project,
    RunningQuery,
    Scan,
    Settings,
    WindowAggregate,
    make_column,
)
from penstock.planner.plan.failure import Failure
from penstock.planner.plan.substitute import substitute
from penstock.planner.plan.walk import fold_plan, walk
from penstock.planner.scalars.failing import (
    NoExactFormError,
    Tried,
    default_condition,
    join_conditions,
    try_expression,
)

RowByRow: TypeAlias = Filter | Project | WindowAggregate | GroupAggregate
"""The operators that look at the rows of a scan one by one."""


def reject_failing_rows(query: RunningQuery, settings: Settings) -> RunningQuery:
    """The query with scans that set failing rows aside."""
    if not settings.rejects_failing:
        return query
    runs = find_runs(query.root)
    failures = {scan: find_failures(scan, run) for scan, run in runs.items()}
    above = {node for run in runs.values() for node in run}

    def remake(node: Node, below: tuple[Node, ...]) -> Node:
        if isinstance(node, Scan):
            return replace(node, failures=failures.get(node) or node.failures)
        remade = node.with_inputs(below)
        return _replace_forms(remade) if node in above else remade

    return replace(query, root=fold_plan(query.root, remake))


def find_runs(root: Node) -> dict[Scan, list[RowByRow]]:
    """Each declared stream whose records can be set aside, and the operators that look at its rows one by one."""
    nodes = list(dict.fromkeys(walk(root)))
    readers: dict[Node, list[Node]] = {}
    for node in nodes:
        for below in node.inputs:
            readers.setdefault(below, []).append(node)
    scans = (node for node in nodes if isinstance(node, Scan) and isinstance(node.shape, KStream))
    return {scan: _find_run(scan, readers) for scan in scans if connector_of(scan.origin.connector).parses_records}


def _find_run(scan: Scan, readers: dict[Node, list[Node]]) -> list[RowByRow]:
    """The operators above the scan that look at its rows one by one, each read by one alone."""
    run: list[RowByRow] = []
    below: Node = scan
    while len(readers.get(below, ())) == 1:
        (node,) = readers[below]
        is_group = isinstance(node, WindowAggregate | GroupAggregate)
        if not isinstance(node, RowByRow) or (is_group and not isinstance(below.shape, KStream)):
            break
        run.append(node)
        if is_group:
            break
        below = node
    return run


def find_failures(scan: Scan, run: Sequence[RowByRow]) -> tuple[Failure, ...]:
    """What fails for a row of the scan: its conditions in their order, then what is computed for rows that pass.

    Raises NoExactFormError.
    """
    values: dict[str, Expression] = {each.name: _make_column(each) for each in scan.schema}
    passed: Expression = exp.Boolean(this=True)
    found: list[Failure] = []
    for node in run:
        match node:
            case Filter():
                condition = try_expression(substitute(node.condition, values))
                found += condition.where(passed)
                passed = join_conditions(passed, default_condition(condition.value, value=False))
            case Project():
                values = {item.name: substitute(item.value, values) for item in node.items}
            case WindowAggregate() | GroupAggregate():
                return _drop_repeated(found, _try_groups(node, values), passed)
            case _:
                assert_never(node)
    return _drop_repeated(found, map(try_expression, values.values()), passed)


def list_failures(expression: Expression, schema: Iterable[Column]) -> tuple[Failure, ...]:
    """For which rows of a relation an expression fails, as far as conditions tell."""
    try:
        return try_expression(substitute(expression, {each.name: _make_column(each) for each in schema})).failures
    except NoExactFormError:
        return ()


def _drop_repeated(found: Iterable[Failure], last: Iterable[Tried], passed: Expression) -> tuple[Failure, ...]:
    """Each failure once. Failures of `last` count only for rows that have passed all conditions."""
    return tuple(dict.fromkeys([*found, *(each for part in last for each in part.where(passed))]))


def _make_column(column: Column) -> Expression:
    node = make_column(column.name)
    node.meta["type"] = column.type
    return node


def _try_groups(node: WindowAggregate | GroupAggregate, values: dict[str, Expression]) -> list[Tried]:
    """What is evaluated for a row: the keys, the condition of each aggregate, and its arguments where the
    condition is true.
    """
    result = [try_expression(substitute(key.value, values)) for key in node.keys]
    for aggregate in node.aggregates:
        taken = (*aggregate.arguments, *(each.value for each in aggregate.order_by))
        arguments = [try_expression(substitute(each, values)) for each in taken]
        if aggregate.condition is not None:
            condition = try_expression(substitute(aggregate.condition, values))
            holds = default_condition(condition.value, value=False)
            arguments = [condition, *(Tried(each.value, each.where(holds)) for each in arguments)]
        result += arguments
    return result


def _replace_forms(node: Node) -> Node:
    """The operator with its expressions in the form that gives NULL for failing rows, which do not come any more."""
    assert isinstance(node, RowByRow), f"a {type(node).__name__} does not look at single rows"
    match node:
        case Filter():
            return replace(node, condition=try_expression(node.condition).value)
        case Project():
            return replace(
                node, items=tuple(replace(item, value=try_expression(item.value).value) for item in node.items)
            )
        case WindowAggregate() | GroupAggregate():
            keys = tuple(replace(key, value=try_expression(key.value).value) for key in node.keys)
            return replace(node, keys=keys, aggregates=tuple(map(_replace_aggregate, node.aggregates)))
        case _:
            assert_never(node)


def _replace_aggregate(aggregate: Aggregate) -> Aggregate:
    condition = aggregate.condition
    return replace(
        aggregate,
        arguments=tuple(try_expression(each).value for each in aggregate.arguments),
        condition=None if condition is None else try_expression(condition).value,
        order_by=tuple(replace(each, value=try_expression(each.value).value) for each in aggregate.order_by),
    )
