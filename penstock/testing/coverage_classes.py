"""A class of rows in which faults of streaming live, and the rows of a test in which classes are looked for.

The evaluator says which rows reach an operator. It is asked for the rows of the operator's inputs. It is asked for
variations of the operator, too, such as a join whose bound is a single point.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from sqlglot import exp

from penstock.evaluator import Arrival, Row, Tables, Unsupported, Value, columns, evaluate, evaluate_scalar
from penstock.planner.plan import (
    Column,
    Filter,
    GroupAggregate,
    KStream,
    Node,
    Origin,
    RemoteLookup,
    RunningQuery,
    Scan,
    WindowAggregate,
)
from penstock.planner.plan.texts import expression_text, relation_text
from penstock.planner.plan.walk import walk
from penstock.testing.query_runs import QueryRun

LONGEST_TEXT = 60


@dataclass(frozen=True)
class WantedStep:
    """Rows that a step should bring: rows of operators, by what their columns should be.

    `closes`: the watermarks of all streams are moved a day on. `silent`: a stream that is idle from now on.
    """

    rows: tuple[tuple[Node, Row], ...] = ()
    closes: bool = False
    silent: str | None = None


Wanted: TypeAlias = tuple[WantedStep, ...]


def want(*rows: tuple[Node, Row]) -> Wanted:
    """One step that brings these rows."""
    return (WantedStep(rows),)


@dataclass(frozen=True)
class CoveredClass:
    """Rows of one kind for an operator. `is_met`: whether a test has such rows. `wanted`: rows that are likely such."""

    text: str
    is_met: Callable[[Watched], bool]
    wanted: tuple[Wanted, ...] = ()


@dataclass
class Watched:
    """What a test gives a query: the rows that it uses, by step and declared relation, and what it leaves out."""

    query: RunningQuery
    steps: list[Tables] = field(default_factory=list)
    late_steps: list[Tables] = field(default_factory=list)
    rejected: Tables = field(default_factory=dict)
    idle: list[tuple[Collection[str], Collection[str]]] = field(default_factory=list)
    """For each step the streams that are idle, and the streams that have rows."""
    failing: Tables | None = None
    """The rows of the step in which the query fails."""
    known: dict[tuple[int, int | None, bool], list[Row]] = field(default_factory=dict)

    def rows(self, node: Node, last: int | None = None, *, alone: bool = False) -> list[Row]:
        """The rows of an operator after a step, by default after all steps, or by this step `alone`."""
        key = (id(node), last, alone)
        if key not in self.known:
            end = len(self.steps) if last is None else last + 1
            self.known[key] = evaluate(node, self.gather(self.steps[end - 1 if alone else 0 : end], end))
        return self.known[key]

    def gather(self, steps: Sequence[Tables], end: int) -> Tables:
        """The rows of several steps. Tables of databases are as they are in the last one before `end`."""
        gathered: Tables = {}
        for node in walk(self.query.root):
            if isinstance(node, Scan):
                gathered[node.origin.name] = [row for step in steps for row in step.get(node.origin.name, [])]
            elif isinstance(node, RemoteLookup):
                name = node.origin.name
                gathered[name] = self.steps[end - 1].get(name, []) if self.steps else []
        return gathered

    def rows_tried(self, node: Node) -> list[Row]:
        """The rows of an operator, and the ones of the step in which the query fails."""
        if self.failing is None:
            return self.rows(node)
        steps = [*self.steps, self.failing]
        self.steps.append(self.failing)
        try:
            return evaluate(node, self.gather(steps, len(steps)))
        finally:
            self.steps.pop()


def watch(query: RunningQuery, arrivals: Iterable[Arrival]) -> Watched:
    """Runs a query over the steps of a test. Raises Unsupported for what the evaluator does not know."""
    run, watched = QueryRun(query), Watched(query)
    for arrival in arrivals:
        run.step(arrival)
        if run.problem is not None:
            raise Unsupported(run.problem)
        if run.failed_with is not None:
            watched.failing = {**arrival.rows, **arrival.tables}
            return watched
        left_out = {id(row) for each in (run.late, run.rejected) for rows in each.values() for row in rows}
        used = {name: [row for row in rows if id(row) not in left_out] for name, rows in arrival.rows.items()}
        watched.steps.append({**used, **arrival.tables})
        watched.idle.append((arrival.idle, [name for name, rows in arrival.rows.items() if rows]))
        watched.late_steps.append(run.late)
        for name, rows in run.rejected.items():
            watched.rejected.setdefault(name, []).extend(rows)
    return watched


def stand_in(node: Node, name: str, added: tuple[Column, ...] = ()) -> Scan:
    """A declared relation with the rows of an operator, so that the evaluator can be given them."""
    schema = (*node.schema, *added)
    return Scan(
        schema=schema, shape=KStream(), span=node.span, origin=Origin(name, "", (), schema, (), None, None, None)
    )


def values_of(expressions: Iterable[exp.Expression], row: Row, node: Node) -> tuple[Value, ...]:
    """The values of expressions over a row of an operator, in a form that can be compared."""
    types = columns(node.schema)
    return tuple(
        repr(value) if (value := evaluate_scalar(each, row, types)) is not None else None for each in expressions
    )


def text_of(expression: exp.Expression) -> str:
    """An expression as the script has it, in one line that is not too long."""
    span = expression.meta.get("span")
    text = " ".join((expression_text(expression) if span is None else span.text).split())
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def name_sides(*nodes: Node) -> list[str]:
    """What the inputs of an operator are called: by the relations that they read, if these differ."""
    names = [relation_text(each) for each in nodes]
    if len(set(names)) == len(names):
        return names
    return [f"{name} (input {place})" for place, name in enumerate(names, start=1)]


def column_name(expression: exp.Expression) -> str | None:
    """The column that an expression is, maybe cast; None if it is another expression."""
    while isinstance(expression, exp.Cast | exp.Paren):
        expression = expression.this
    return str(expression.name) if isinstance(expression, exp.Column) else None


def may_be_null(expression: exp.Expression, node: Node) -> bool:
    """Whether the value can be NULL, by the columns that it is made of: counts and event times never are."""
    certain = set(list_counts(node)) | {each.name for each in node.schema if not each.nullable}
    if isinstance(node.shape, KStream):
        certain |= {each.column for each in node.shape.times}
    return any(each.name not in certain for each in expression.find_all(exp.Column))


def list_counts(node: Node) -> list[str]:
    """The columns of groups that count rows or values, also behind a condition on them."""
    while isinstance(node, Filter):
        node = node.input
    if not isinstance(node, WindowAggregate | GroupAggregate):
        return []
    return [each.name for each in node.aggregates if each.function in ("COUNT", "COUNT_IF")]


def is_written(expression: exp.Expression) -> bool:
    """Whether it stands in the script. Other expressions are made by the planner."""
    return any("span" in each.meta for each in expression.walk())
