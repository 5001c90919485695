"""The steps of a case, with the names of the script resolved and its types applied to all values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.testing import T101, T106, T108, T109
from penstock.evaluator import Arrival, QueryFailure, Row, Tables, Unsupported, Value
from penstock.parser.ast import (
    GivenEnd,
    GivenRows,
    GivenSilence,
    GivenWatermark,
    Moment,
    Name,
    RowSource,
    RowValues,
    Then,
)
from penstock.planner.catalog import Declared
from penstock.planner.plan import Column, Origin
from penstock.testing.cases import Case, CaseStep
from penstock.testing.given_values import read_moment, read_start
from penstock.testing.row_files import list_names, match_names, read_rows
from penstock.testing.row_text import row_texts
from penstock.testing.script_relations import (
    ScriptRelations,
    choose_columns,
    complete_row,
    convert_row,
    list_computed,
    list_stored,
    read_row,
)

T = TypeVar("T")


@dataclass
class PlannedStep:
    """What arrives, what is expected, and the text that asks for it."""

    arrival: Arrival
    then: list[Then]
    span: Span


@dataclass
class StepPlanner:
    """The inputs of a script, as the steps before have left them."""

    script: ScriptRelations
    folder: Path
    start: datetime
    newest: dict[str, datetime] = field(default_factory=dict)
    idle: set[str] = field(default_factory=set)
    silent: dict[str, int] = field(default_factory=dict)
    """How long streams have had no rows, in milliseconds."""
    tables: Tables = field(default_factory=dict)
    findings: list[Diagnostic] = field(default_factory=list)

    def plan(self, step: CaseStep, begin: Span) -> PlannedStep:
        """Findings are collected."""
        rows: Tables = {}
        moved: dict[str, datetime] = {}
        is_end = False
        for given in step.given:
            match given:
                case GivenRows() if given.table:
                    self.note(partial(self.set_table, given))
                case GivenRows():
                    self.note(partial(self.add_rows, given, rows))
                case GivenWatermark():
                    for moment in given.moments:
                        self.note(partial(self.move, moment, moved))
                case GivenSilence():
                    self.note(partial(self.silence, given))
                case GivenEnd():
                    is_end = True
        arrival = Arrival(rows, moved, frozenset(self.idle), dict(self.tables), is_end)
        span = step.given[0].span if step.given else begin
        return PlannedStep(arrival, step.then, span)

    def note(self, action: Callable[[], None]) -> None:
        """Runs an action, and collects what is wrong with it."""
        try:
            action()
        except CompileError as refusal:
            self.findings += refusal.diagnostics

    def set_table(self, given: GivenRows) -> None:
        declared = self.script.find_input(given.relation, table=True)
        rows = self.read(given, declared)
        key = declared.origin.key
        keys: set[tuple[Value, ...]] = set()
        for row in rows if key else ():
            values = tuple(row[name] for name in key)
            if None in values or values in keys:
                found = T106.at(given.span, statement=f"GIVEN TABLE {declared.name}")
                raise CompileError([found.because(explain_key(declared.origin, row, self.start, values in keys))])
            keys.add(values)
        self.tables[declared.origin.name] = rows

    def add_rows(self, given: GivenRows, arrived: Tables) -> None:
        declared = self.script.find_input(given.relation, table=False)
        rows = self.read(given, declared)
        origin = declared.origin
        arrived.setdefault(origin.name, []).extend(rows)
        if rows:
            self.end_silence(origin.name)
        for row in rows:
            if origin.time is not None and row[origin.time] is not None:
                self.newest[origin.name] = max(self.newest.get(origin.name, row[origin.time]), row[origin.time])

    def read(self, given: GivenRows, declared: Declared) -> list[Row]:
        stored, computed = list_stored(declared.origin), list_computed(declared.origin)
        rows = read_source(given.rows, given.columns, stored, declared.name, self, computed)[1]
        try:
            return [complete_row(row, declared.origin) for row in rows]
        except (Unsupported, OverflowError) as problem:
            raise CompileError([T101.at(given.relation.span, reason=str(problem))]) from None
        except QueryFailure as problem:
            found = T106.at(given.span, statement=f"GIVEN {declared.name}")
            raise CompileError([found.because(f"The event time of a row is unknown: {problem}.")]) from None

    def move(self, moment: Moment, moved: dict[str, datetime]) -> None:
        declared = self.script.find_input(moment.relation, table=False)
        origin = declared.origin
        if origin.time is None or origin.delay is None:
            found = T109.at(moment.relation.span, relation=declared.name, clause="WATERMARK FOR")
            raise CompileError([found.because("Nothing waits for its event time.")])
        try:
            newest = read_moment(moment.time, self.start) + timedelta(milliseconds=origin.delay)
        except OverflowError:
            raise CompileError([T108.at(moment.time.span, text=repr(moment.time.text))]) from None
        if newest < self.newest.get(origin.name, newest):
            found = T106.at(moment.span, statement="an earlier watermark")
            raise CompileError([found.because(f"The watermark of {declared.name} is already later.")])
        self.newest[origin.name] = moved[origin.name] = newest
        self.end_silence(origin.name)

    def end_silence(self, name: str) -> None:
        self.idle.discard(name)
        self.silent.pop(name, None)

    def silence(self, given: GivenSilence) -> None:
        declared = self.script.find_input(given.relation, table=False)
        origin = declared.origin
        if origin.idle is None:
            found = T109.at(given.relation.span, relation=declared.name, clause="IDLE AFTER")
            raise CompileError([found.because("Its watermark stays, however long it is silent.")])
        length = given.length.milliseconds
        self.silent[origin.name] = self.silent.get(origin.name, 0) + (length or 0)
        if length is None or self.silent[origin.name] >= origin.idle:
            self.idle.add(origin.name)


def explain_key(origin: Origin, row: Row, start: datetime, is_known: bool) -> str:
    """What is wrong with the key of a row: another row has it, or a part of it is NULL."""
    if is_known:
        columns = [each for name in origin.key for each in origin.columns if each.name == name]
        return f"Two of its rows have the same {' and '.join(origin.key)}: {', '.join(row_texts(row, columns, start))}."
    return f"The {' and '.join(name for name in origin.key if row[name] is None)} of one of its rows is NULL."


def plan_case(case: Case, script: ScriptRelations, folder: Path) -> tuple[list[PlannedStep], StepPlanner]:
    """The steps, and the planner of them. Raises CompileError with all that is wrong with what is given."""
    planner = StepPlanner(script, folder, read_start(case.begin.at))
    steps = [planner.plan(step, case.begin.span) for step in case.steps]
    if planner.findings:
        raise CompileError(planner.findings)
    return steps, planner


def read_values(source: RowValues, chosen: tuple[Column, ...], start: datetime) -> list[Row]:
    """The rows. Raises CompileError with what is wrong with each of them."""
    rows: list[Row] = []
    findings: list[Diagnostic] = []
    for row in source.rows:
        try:
            rows.append(read_row(row, chosen, start))
        except CompileError as refusal:
            findings += refusal.diagnostics
    if findings:
        raise CompileError(findings)
    return rows


def read_source(
    source: RowSource,
    names: tuple[Name, ...],
    known: tuple[Column, ...],
    relation: str,
    place: StepPlanner,
    computed: Mapping[str, Iterable[str]] = {},
) -> tuple[tuple[Column, ...], list[Row]]:
    """The columns that a statement has values for, and its rows. Raises CompileError."""
    if isinstance(source, RowValues):
        chosen = choose_columns(names, known, relation, computed)
        return chosen, read_values(source, chosen, place.start)
    rows = match_names(read_rows(source, place.folder), (each.name for each in known), source)
    in_file = choose_columns(list_names(rows, source), known, relation, computed)
    chosen = choose_columns(names, known, relation, computed) if names or not rows else in_file
    span = source.path.span
    texts = [{each.name: row.get(each.name) for each in chosen} for row in rows]
    return chosen, [convert_row(row, chosen, place.start, span) for row in texts]
