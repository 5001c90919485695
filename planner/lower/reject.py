"""SET on_row_error = 'reject': a query whose scans set aside the rows for which its expressions would fail.

The expressions are those that look at one row of a declared stream: filters and projections, and the keys and arguments
of the groups right above them. They are brought down to the columns of the scan, where the conditions on failing rows
are evaluated. Above, the expressions stand in the form that gives NULL, so that the order in which Spark evaluates does
not matter. Whatever else can fail is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.connectors import C015
from penstock.planner.connectors import connector_of
from penstock.planner.failing import TOO_LARGE, NoExactFormError, Tried, are_too_large, both, tried, with_default
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
    WindowAggregate,
)
from penstock.planner.plan.failure import Failure
from penstock.planner.plan.substitute import substitute
from penstock.planner.plan.walk import expressions, fold_plan, inputs, walk, with_inputs

_HINT = "a form that gives NULL, such as TRY_DIVIDE, TRY_CAST or GET, fails for no row; or SET on_row_error = 'fail'"


def with_rejects(query: RunningQuery) -> RunningQuery:
    """The query with scans that set failing rows aside; raises CompileError for what can fail elsewhere."""
    nodes = list(dict.fromkeys(walk(query.root)))
    readers: dict[Node, list[Node]] = {}
    for node in nodes:
        for below in inputs(node):
            readers.setdefault(below, []).append(node)
    failures: dict[Node, tuple[Failure, ...]] = {}
    covered: set[Node] = set()
    for scan in nodes:
        if isinstance(scan, Scan) and isinstance(scan.shape, KStream) and _parses(scan):
            run = _run(scan, readers)
            covered |= set(run)
            failures[scan] = _failures(scan, run)
    for node in nodes:
        if node not in covered:
            _check(node)

    def remade(node: Node, below: tuple[Node, ...]) -> Node:
        if isinstance(node, Scan):
            return replace(node, failures=failures.get(node) or node.failures)
        above = with_inputs(node, below)
        return _with_forms(above) if node in covered else above

    return replace(query, root=fold_plan(query.root, remade))


def _parses(scan: Scan) -> bool:
    """Whether rejected rows of it are found again."""
    return connector_of(scan.origin.connector).parses_records


def _run(scan: Scan, readers: dict[Node, list[Node]]) -> list[Node]:
    """The operators above the scan that look at its rows one by one, each read by one alone."""
    run: list[Node] = []
    below: Node = scan
    while len(readers.get(below, ())) == 1:
        (node,) = readers[below]
        is_group = isinstance(node, WindowAggregate | GroupAggregate) and isinstance(below.shape, KStream)
        if not (isinstance(node, Filter | Project) or is_group):
            break
        run.append(node)
        if is_group:
            break
        below = node
    return run


def _failures(scan: Scan, run: Sequence[Node]) -> tuple[Failure, ...]:
    """What fails for a row of the scan: its conditions in their order, then what is computed of those that pass."""
    values: dict[str, Expression] = {each.name: _column(each) for each in scan.schema}
    passed: Expression = exp.Boolean(this=True)
    found: list[Failure] = []
    for node in run:
        match node:
            case Filter():
                condition = _tried(substitute(node.condition, values))
                found += condition.where(passed)
                passed = both(passed, with_default(condition.value, value=False))
            case Project():
                values = {item.name: substitute(item.value, values) for item in node.items}
            case WindowAggregate() | GroupAggregate():
                of_groups = _of_groups(node, values)
                return _distinct([*found, *(each for part in of_groups for each in part.where(passed))], node)
    last = [_tried(value) for value in values.values()]
    return _distinct([*found, *(each for part in last for each in part.where(passed))], run[-1] if run else scan)


def _column(column: Column) -> Expression:
    node = exp.Column(this=exp.to_identifier(column.name, quoted=True))
    node.meta["type"] = column.type
    return node


def _of_groups(node: WindowAggregate | GroupAggregate, values: dict[str, Expression]) -> list[Tried]:
    """What is evaluated of a row: the keys, and of each aggregate the condition, and the arguments where it is true."""
    result = [_tried(substitute(key.value, values)) for key in node.keys]
    for aggregate in node.aggregates:
        arguments = [_tried(substitute(each, values)) for each in aggregate.arguments]
        if aggregate.condition is not None:
            condition = _tried(substitute(aggregate.condition, values))
            holds = with_default(condition.value, value=False)
            arguments = [condition, *(Tried(each.value, each.where(holds)) for each in arguments)]
        result += arguments
    return result


def _distinct(failures: Sequence[Failure], node: Node) -> tuple[Failure, ...]:
    """Each failure once; raises CompileError for too many."""
    found = tuple(dict.fromkeys(failures))
    if are_too_large(found):
        refusal = C015.at(node.span, text=_short(found[-1].text)).because(TOO_LARGE)
        raise CompileError([refusal.with_hint(_HINT)])
    return found


def _with_forms(node: Node) -> Node:
    """The operator with its expressions in the form that gives NULL for failing rows, which do not come any more."""
    match node:
        case Filter():
            return replace(node, condition=tried(node.condition).value)
        case Project():
            return replace(node, items=tuple(replace(item, value=tried(item.value).value) for item in node.items))
        case WindowAggregate() | GroupAggregate():
            keys = tuple(replace(key, value=tried(key.value).value) for key in node.keys)
            return replace(node, keys=keys, aggregates=tuple(map(_aggregate, node.aggregates)))
    raise AssertionError(f"a {type(node).__name__} does not look at single rows")


def _aggregate(aggregate: Aggregate) -> Aggregate:
    condition = aggregate.condition
    return replace(
        aggregate,
        arguments=tuple(tried(each).value for each in aggregate.arguments),
        condition=None if condition is None else tried(condition).value,
    )


def _check(node: Node) -> None:
    """Raises CompileError if an expression of the operator can fail."""
    for expression in expressions(node):
        failures = _tried(expression).failures
        if failures:
            found = C015.at(expression.meta.get("span") or node.span, text=_short(failures[0].text))
            found = found.because("It is not computed of single rows of one declared files stream, read once.")
            raise CompileError([found.with_hint(_HINT)])


def _tried(expression: Expression) -> Tried:
    try:
        return tried(expression)
    except NoExactFormError as unknown:
        span = unknown.part.meta.get("span")
        text = " ".join(span.text.split()) if span is not None else unknown.part.sql("spark")
        found = C015.at(span, text=_short(text)).because(unknown.reason)
        raise CompileError([found.with_hint(_HINT)]) from None


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
