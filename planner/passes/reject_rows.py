"""SET on_row_error = 'reject': a query whose scans set aside the rows for which its expressions would fail.

The expressions are those that look at one row of a declared stream: filters and projections, and the keys and arguments
of the groups right above them. They are brought down to the columns of the scan, where the conditions on failing rows
are evaluated. Above, the expressions stand in the form that gives NULL, so that the order in which Spark evaluates does
not matter. Whatever else can fail is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias, assert_never

from sqlglot import exp

from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.connectors import C015
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
    TOO_LARGE,
    NoExactFormError,
    Tried,
    are_too_large,
    default_condition,
    join_conditions,
    try_expression,
)

RowByRow: TypeAlias = Filter | Project | WindowAggregate | GroupAggregate
"""The operators that look at the rows of a scan one by one."""
_HINT = "a form that gives NULL, such as TRY_DIVIDE, TRY_CAST or GET, fails for no row; or SET on_row_error = 'fail'"


def reject_failing_rows(query: RunningQuery, settings: Settings) -> RunningQuery:
    """The query with scans that set failing rows aside; raises CompileError for what can fail elsewhere."""
    if not settings.rejects_failing:
        return query
    nodes = list(dict.fromkeys(walk(query.root)))
    readers: dict[Node, list[Node]] = {}
    for node in nodes:
        for below in node.inputs:
            readers.setdefault(below, []).append(node)
    failures: dict[Node, tuple[Failure, ...]] = {}
    covered: set[Node] = set()
    for scan in nodes:
        if isinstance(scan, Scan) and isinstance(scan.shape, KStream) and _parses_records(scan):
            run = _find_run(scan, readers)
            covered |= set(run)
            failures[scan] = _find_failures(scan, run)
    for node in nodes:
        if node not in covered:
            _check_operator(node)

    def remake(node: Node, below: tuple[Node, ...]) -> Node:
        if isinstance(node, Scan):
            return replace(node, failures=failures.get(node) or node.failures)
        above = node.with_inputs(below)
        return _replace_forms(above) if node in covered else above

    return replace(query, root=fold_plan(query.root, remake))


def _parses_records(scan: Scan) -> bool:
    """Whether rejected rows of it are found again."""
    return connector_of(scan.origin.connector).parses_records


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


def _find_failures(scan: Scan, run: Sequence[RowByRow]) -> tuple[Failure, ...]:
    """What fails for a row of the scan: its conditions in their order, then what is computed of those that pass."""
    values: dict[str, Expression] = {each.name: _make_column(each) for each in scan.schema}
    passed: Expression = exp.Boolean(this=True)
    found: list[Failure] = []
    for node in run:
        match node:
            case Filter():
                condition = _try_expression(substitute(node.condition, values))
                found += condition.where(passed)
                passed = join_conditions(passed, default_condition(condition.value, value=False))
            case Project():
                values = {item.name: substitute(item.value, values) for item in node.items}
            case WindowAggregate() | GroupAggregate():
                of_groups = _try_groups(node, values)
                return _drop_repeated([*found, *(each for part in of_groups for each in part.where(passed))], node)
            case _:
                assert_never(node)
    last = [_try_expression(value) for value in values.values()]
    return _drop_repeated([*found, *(each for part in last for each in part.where(passed))], run[-1] if run else scan)


def _make_column(column: Column) -> Expression:
    node = make_column(column.name)
    node.meta["type"] = column.type
    return node


def _try_groups(node: WindowAggregate | GroupAggregate, values: dict[str, Expression]) -> list[Tried]:
    """What is evaluated of a row: the keys, and of each aggregate the condition, and the arguments where it is true."""
    result = [_try_expression(substitute(key.value, values)) for key in node.keys]
    for aggregate in node.aggregates:
        arguments = [_try_expression(substitute(each, values)) for each in aggregate.arguments]
        if aggregate.condition is not None:
            condition = _try_expression(substitute(aggregate.condition, values))
            holds = default_condition(condition.value, value=False)
            arguments = [condition, *(Tried(each.value, each.where(holds)) for each in arguments)]
        result += arguments
    return result


def _drop_repeated(failures: Sequence[Failure], node: Node) -> tuple[Failure, ...]:
    """Each failure once; raises CompileError for too many."""
    found = tuple(dict.fromkeys(failures))
    if are_too_large(found):
        refusal = C015.at(node.span, text=_shorten(found[-1].text)).because(TOO_LARGE)
        raise CompileError([refusal.with_hint(_HINT)])
    return found


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
    )


def _check_operator(node: Node) -> None:
    """Raises CompileError if an expression of the operator can fail."""
    for expression in node.expressions:
        failures = _try_expression(expression).failures
        if failures:
            found = C015.at(expression.meta.get("span") or node.span, text=_shorten(failures[0].text))
            found = found.because("It is not computed of single rows of one declared files stream, read once.")
            raise CompileError([found.with_hint(_HINT)])


def _try_expression(expression: Expression) -> Tried:
    try:
        return try_expression(expression)
    except NoExactFormError as unknown:
        span = unknown.part.meta.get("span")
        text = " ".join(span.text.split()) if span is not None else unknown.part.sql("spark")
        found = C015.at(span, text=_shorten(text)).because(unknown.reason)
        raise CompileError([found.with_hint(_HINT)]) from None


def _shorten(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
