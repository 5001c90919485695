"""The queries of a script being run over the steps of a test."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import ClassVar

from penstock.diagnostics.codes.testing import T101
from penstock.diagnostics.diagnostic import Code
from penstock.evaluator import Arrival, QueryFailure, Row, StagedRun, StepAnswer, Tables, Unsupported, Value
from penstock.planner.plan import DeleteRows, PutRows, RunningQuery, Scan, UpdateRows
from penstock.planner.plan.walk import walk

Key = tuple[Value, ...]
SignedRow = tuple[bool, Row]
"""A row, and whether it is added. If not, it is removed."""


@dataclass
class QueryRun:
    """One query: what it has sent in the last step, and the rows that it comes to."""

    refusal: ClassVar[Code] = T101
    """What a test is told that asks for what is not known."""

    query: RunningQuery
    key: tuple[str, ...] = ()
    run: StagedRun | None = None
    problem: str | None = None
    """What the evaluator does not know of it."""
    failure: QueryFailure | None = None
    sent: list[Row] = field(default_factory=list)
    changes: list[SignedRow] = field(default_factory=list)
    now: dict[Key, Row] = field(default_factory=dict)
    late: Tables = field(default_factory=dict)
    rejected: Tables = field(default_factory=dict)

    failed_with: str | None = None
    """The code of the failure, if it was in the last step."""

    def __post_init__(self) -> None:
        try:
            self.key = find_key(self.query)
            self.run = StagedRun(self.query.root)
        except Unsupported as problem:
            self.problem = str(problem)

    def refuse_written(self, names: Collection[str]) -> None:
        """Ends the query if it reads records of a relation that the script writes, which go through a place outside.

        Tables in which single rows are looked up are given as a whole.
        """
        scans = (node for node in walk(self.query.root) if isinstance(node, Scan))
        for name in (scan.origin.name for scan in scans if scan.origin.name.lower() in names):
            self.problem = f"a query that reads {name}, which the script itself writes"

    def step(self, arrival: Arrival) -> None:
        """Runs a step. What fails or is unknown is kept, and ends the query."""
        self.sent, self.changes, self.late, self.rejected, self.failed_with = [], [], {}, {}, None
        if self.run is None or self.problem is not None or self.failure is not None:
            return
        try:
            answer = self.run.step(arrival)
        except Unsupported as problem:
            self.problem = str(problem)
        except OverflowError as problem:
            self.problem = f"a value beyond the range that is modelled: {problem}"
        except QueryFailure as failure:
            self.failure, self.failed_with = failure, failure.code.id
        else:
            self.take(answer, is_table=self.run.gives_changes)

    def reads(self, name: str) -> bool:
        """Whether the query reads the declared relation."""
        return any(isinstance(node, Scan) and node.origin.name == name for node in walk(self.query.root))

    def take(self, answer: StepAnswer, *, is_table: bool) -> None:
        """Applies what a step gave to the rows that there are."""
        self.late, self.rejected, self.sent = answer.late, answer.rejected, answer.rows
        if is_table:
            for change in answer.changes:
                self.replace(change.key, change.new)
            return
        for row in answer.rows:
            key = tuple(row[name] for name in self.key) if self.key else (len(self.now),)
            self.replace(key, row)

    def replace(self, key: Key, row: Row | None) -> None:
        """Puts a row in the place of the row of a key. Changes of one step that undo each other are left out."""
        key = tuple(map(repr, key))
        old = self.now.pop(key, None)
        if old is not None and (True, old) in self.changes:
            self.changes.remove((True, old))
        elif old is not None:
            self.changes.append((False, old))
        if row is not None:
            self.now[key] = row
            if (False, row) in self.changes:
                self.changes.remove((False, row))
            else:
                self.changes.append((True, row))


def find_key(query: RunningQuery) -> tuple[str, ...]:
    """The columns whose newest row counts, none if all rows stay. Raises Unsupported."""
    match query.change:
        case None:
            return query.key or (query.sink.key if query.sink.table else ())
        case PutRows(table, None):
            return table.key
        case PutRows() | DeleteRows() | UpdateRows():
            raise Unsupported("rows of a table that others own, which are updated or deleted")
