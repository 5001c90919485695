"""A plan being run in steps. A step takes rows that arrive together, and gives all rows that they make final.

A plan is cut where it has intermediate streams. Each part is a stage: it has a watermark of its own, and sends rows to
the stages above it. Rows of a step meet the watermark that was in force before it. Then the watermark moves, and what
it closes is sent, too. No other rows come before the next step.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeGuard

from penstock.evaluator.changes import ChangeRun
from penstock.evaluator.expression_values import holds
from penstock.evaluator.held import Change, combined
from penstock.evaluator.held_tables import is_rejected
from penstock.evaluator.history import DRAINED, START, Clock, Tables, clocks
from penstock.evaluator.incremental import Incremental
from penstock.evaluator.output_lag import lag_of
from penstock.evaluator.single_rows import late_rows, result_rows
from penstock.evaluator.typed_values import EPOCH, Row, Unsupported, columns, milliseconds
from penstock.planner.connectors import connector_of
from penstock.planner.plan import (
    ForeignKeyJoin,
    Intermediate,
    KStream,
    KTable,
    Node,
    Origin,
    RemoteLookup,
    Scan,
    TableJoin,
    TableLookup,
    WithLate,
    WTable,
)
from penstock.planner.plan.walk import walk


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a step brings.

    `rows`: by declared relation. `newest`: how far the event times of a stream have come without a row. `idle`: streams
    that hold no watermark back. `tables`: what tables of databases have. `is_end`: whether nothing comes any more.
    """

    rows: Tables = field(default_factory=dict)
    newest: Mapping[str, datetime] = field(default_factory=dict)
    idle: Collection[str] = ()
    tables: Tables = field(default_factory=dict)
    is_end: bool = False


@dataclass(slots=True)
class StepAnswer:
    """What a step gives: rows of a stream or of windows, or the changes of a table; and the rows that are left out."""

    rows: list[Row] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    late: Tables = field(default_factory=dict)
    rejected: Tables = field(default_factory=dict)


class StagedRun:
    """A whole plan being run. Raises Unsupported for what the evaluator has no meaning of."""

    def __init__(self, plan: Node) -> None:
        self.plan = plan
        self.stages: list[StageRun] = []
        self.known: dict[Node, Scan] = {}
        self.stages.append(StageRun(self.cut(plan), self.stages))

    @property
    def gives_changes(self) -> bool:
        """Whether steps give changes, and no rows."""
        return isinstance(self.stages[-1].run, ChangeRun) and not isinstance(self.plan.shape, KStream)

    def size(self) -> int:
        """How many rows, or pairs of a key and a window, the stages remember. Raises Unsupported for tables."""
        runs = [stage.run for stage in self.stages]
        if any(isinstance(run, ChangeRun) for run in runs):
            raise Unsupported("how many rows a table keeps")
        return sum(run.size() for run in runs if isinstance(run, Incremental))

    def step(self, arrival: Arrival) -> StepAnswer:
        """Runs all stages, writers before readers."""
        answer = StepAnswer()
        sent: Tables = {}
        for stage in self.stages:
            answer.rows, answer.changes = stage.step(arrival, sent, answer)
            sent[stage.name] = answer.rows
        answer.changes = combined(answer.changes)
        return answer

    def cut(self, root: Node) -> Node:
        """The plan of one stage. The stages that write its intermediate streams are added before."""
        is_table = isinstance(root.shape, KTable)

        def is_apart(node: Node) -> bool:
            return isinstance(node, Intermediate) and (
                isinstance(node.shape, KStream) or (isinstance(node.shape, WTable) and not is_table)
            )

        def remake(node: Node) -> Node:
            if isinstance(node, Intermediate) and is_apart(node):
                if node not in self.known:
                    plan = self.cut(node.input)
                    self.known[node] = scan_of(node, f"#{len(self.stages)}")
                    self.stages.append(StageRun(plan, self.stages, self.known[node].origin.name))
                return self.known[node]
            return node.with_inputs(tuple(remake(each) for each in node.inputs))

        return remake(root)


def scan_of(node: Intermediate, name: str) -> Scan:
    """The reading of an intermediate stream."""
    shape = node.shape
    time = shape.time if isinstance(shape, KStream) else shape.end if isinstance(shape, WTable) else None
    lag = None if time is None else lag_of(node.input, time)
    delay = None if time is None else 0
    origin = Origin(name, "", (), node.schema, (), time, delay, None, lag=lag)
    return Scan(schema=node.schema, shape=shape, span=node.span, origin=origin)


class StageRun:
    """A part of a plan: what one query of Spark computes."""

    def __init__(self, plan: Node, writers: Collection[StageRun], name: str = "") -> None:
        self.plan, self.name = plan, name
        refuse_unknown(plan)
        self.beside = plan if isinstance(plan, WithLate) else None
        """What puts late rows beside the result. The run computes the result alone."""
        result = plan.input if isinstance(plan, WithLate) else plan
        lookups = any(isinstance(each, TableLookup) for each in walk(plan))
        self.run = ChangeRun(result) if lookups or isinstance(plan.shape, KTable) else Incremental(result)
        self.scans = {each.origin.name: each for each in walk(plan) if isinstance(each, Scan)}
        self.remote = [each.origin.name for each in walk(plan) if isinstance(each, RemoteLookup)]
        self.clocks = clocks(plan)
        self.writers = {each.name: each for each in writers if each.name in self.scans}
        self.newest: dict[str, datetime] = {}
        self.late: Tables = {}
        self.watermark = START

    def step(self, arrival: Arrival, sent: Tables, answer: StepAnswer) -> tuple[list[Row], list[Change]]:
        """Its rows and changes. `sent`: the rows of the stages below. `answer` gets what is left out."""
        self.late = {}
        tables = {name: arrival.tables.get(name, []) for name in self.remote}
        batch = tables | {
            name: sent[name] if name in self.writers else self.sort_out(scan, arrival.rows.get(name, []), answer)
            for name, scan in self.scans.items()
        }
        rows, changes = self.compute(batch)
        before = self.watermark
        self.advance(arrival, batch)
        if self.watermark > before:
            more, later = self.compute(tables | {name: [] for name in self.scans})
            rows, changes = [*rows, *more], [*changes, *later]
        return self.add_late(rows, before), changes

    def add_late(self, rows: list[Row], watermark: datetime) -> list[Row]:
        """The rows of the result, and beside them the late ones of this step if LATE INTO asks for them."""
        if self.beside is None:
            return rows
        both = result_rows(self.beside, rows)
        for scan, shown in self.beside.late:
            both += late_rows(self.beside, scan, shown, self.late.get(scan.origin.name, []), watermark)
        return both

    def compute(self, batch: Tables) -> tuple[list[Row], list[Change]]:
        """One micro-batch."""
        if isinstance(self.run, Incremental):
            return self.run.step(batch, self.watermark), []
        if isinstance(self.plan.shape, KStream):
            return self.run.send(batch), []
        return [], self.run.step(batch)

    def sort_out(self, scan: Scan, rows: list[Row], answer: StepAnswer) -> list[Row]:
        """The rows that the stage uses. `answer` gets the others, each once."""
        name, clock, used = scan.origin.name, self.clocks.get(scan.origin.name), list[Row]()
        for row in rows:
            if self.is_refused(scan, clock, row):
                left_out = answer.rejected
            elif clock is not None and row[clock.time] < self.watermark:
                left_out = answer.late
                self.late.setdefault(name, []).append(row)
            else:
                used.append(row)
                continue
            others = left_out.setdefault(name, [])
            if not any(row is other for other in others):
                others.append(row)
        return used

    def is_refused(self, scan: Scan, clock: Clock | None, row: Row) -> bool:
        """Whether the row is set aside: by what the source asks of its records, or as an expression fails for it."""
        origin = scan.origin
        if connector_of(origin.connector).parses_records and lacks_value(scan, row):
            return True
        if clock is not None and row[clock.time] is None:
            return True
        if isinstance(scan.shape, KTable) and is_rejected(scan, row):
            return True
        types = columns(origin.columns)
        return any(holds(each.condition, row, types) for each in scan.failures)

    def advance(self, arrival: Arrival, batch: Tables) -> None:
        """Moves the watermark: to the least of the inputs, without the ones that are idle."""
        if arrival.is_end:
            self.watermark = DRAINED
            return
        reached = [self.reach(name, clock, arrival, batch) for name, clock in self.clocks.items()]
        known = [time for name, time in zip(self.clocks, reached, strict=True) if name not in arrival.idle]
        least = [time for time in known if time is not None]
        if least and len(least) == len(known):
            self.watermark = max(self.watermark, min(least))

    def reach(self, name: str, clock: Clock, arrival: Arrival, batch: Tables) -> datetime | None:
        """The watermark of one input, None before it has had a row."""
        delay = milliseconds(clock.delay)
        writer = self.writers.get(name)
        if writer is not None:
            lag = milliseconds(self.scans[name].origin.lag or 0)
            return None if writer.watermark == START else writer.watermark - lag - delay
        times = [row[clock.time] for row in batch[name]]
        times += [each[name] for each in (self.newest, arrival.newest) if name in each]
        if not times:
            return None
        self.newest[name] = max(times)
        return self.newest[name] - delay


def lacks_value(scan: Scan, row: Row) -> bool:
    """Whether a record has no event time, one before 1970, or NULL in a column that is NOT NULL."""
    origin = scan.origin
    if origin.time is not None and origin.delay is not None and (row[origin.time] is None or row[origin.time] < EPOCH):
        return True
    others = {*(origin.key if isinstance(scan.shape, KTable) else ()), *dict(origin.metadata)}
    return any(row[each.name] is None for each in origin.columns if not each.nullable and each.name not in others)


def refuse_unknown(plan: Node) -> None:
    """Raises Unsupported for operators whose steps have no meaning here."""
    for node in walk(plan):
        match node:
            case TableLookup() if node.as_of is not None:
                raise Unsupported("a join with a table AS OF the time of a row")
            case TableLookup() | ForeignKeyJoin() if node.kept is not None:
                raise Unsupported("a join with windows that are let go after their retention")
            case Scan() if len({each.failures for each in walk(plan) if is_scan_of(each, node.origin)}) > 1:
                raise Unsupported("a stream that is read twice, with other rows that are set aside")
            case TableJoin() if node.is_windowed and isinstance(plan.shape, KTable):
                raise Unsupported("a table over joined windows")
            case _:
                pass


def is_scan_of(node: Node, origin: Origin) -> TypeGuard[Scan]:
    return isinstance(node, Scan) and node.origin.name == origin.name
