"""The script of a test: what its relations are, which rows they can be given, and which rows come out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlglot import exp

from penstock.compilation import Compilation, compile_sources
from penstock.diagnostics import CompileError, Diagnostic, Source, Span, nearest
from penstock.diagnostics.codes.names import N001
from penstock.diagnostics.codes.testing import T103, T104, T105
from penstock.evaluator import Row, columns, evaluate_scalar
from penstock.parser import name_text
from penstock.parser.ast import Name, RowValue
from penstock.planner.catalog import Declared, Derived
from penstock.planner.plan import Column, KStream, Origin, RemoteLookup, RunningQuery
from penstock.planner.plan.walk import walk
from penstock.planner.types import STRING
from penstock.testing.given_values import convert_at, read_scalar


@dataclass(frozen=True)
class Output:
    """A relation that the script computes: the queries that write its rows, and its columns."""

    name: str
    queries: tuple[RunningQuery, ...]
    columns: tuple[Column, ...]

    @property
    def is_stream(self) -> bool:
        """Whether its rows are never replaced, so that each step has rows of its own."""
        return all(isinstance(each.root.shape, KStream) and not each.sink.table for each in self.queries)


@dataclass
class ScriptRelations:
    """An accepted script."""

    compilation: Compilation
    views: dict[str, RunningQuery] = field(default_factory=dict)
    """The views that a test has asked for."""
    planned: dict[str, RunningQuery] = field(default_factory=dict)
    """The views that any test has asked for."""

    def for_test(self) -> ScriptRelations:
        """The script for one test."""
        return ScriptRelations(self.compilation, planned=self.planned)

    @property
    def queries(self) -> tuple[RunningQuery, ...]:
        """The queries of the script, and of the views that a test has asked for."""
        return (*self.compilation.queries, *self.views.values())

    def find_input(self, relation: Name, *, table: bool) -> Declared:
        """A relation whose rows are given; `table`: by GIVEN TABLE. Raises CompileError."""
        entry = self.compilation.catalog.require(relation)
        if isinstance(entry, Derived):
            found = T104.at(relation.span, relation=entry.name)
            raise CompileError([found.because("The script computes them.").with_hint("give the rows that it reads")])
        looked_up = self.is_looked_up(entry)
        if looked_up != table:
            found = T104.at(relation.span, relation=entry.name)
            reason = "Rows are looked up in it." if looked_up else "It is read as a stream of records."
            hint = f"GIVEN {'TABLE ' if looked_up else ''}{name_text(entry.name)}"
            raise CompileError([found.because(reason).with_hint(hint)])
        return entry

    def find_declared(self, relation: Name) -> Declared:
        """A stream or table of the outside. Raises CompileError."""
        entry = self.compilation.catalog.require(relation)
        if isinstance(entry, Derived):
            found = T105.at(relation.span, relation=entry.name)
            raise CompileError([found.because("Only inputs have rows that are late or rejected.")])
        return entry

    def is_looked_up(self, declared: Declared) -> bool:
        """Whether queries ask a database for single rows of the table."""
        nodes = (node for query in self.queries for node in walk(query.root))
        return any(isinstance(node, RemoteLookup) and node.origin.name == declared.origin.name for node in nodes)

    def find_output(self, relation: Name) -> Output:
        """A relation whose rows are expected. Raises CompileError."""
        written = tuple(each for each in self.compilation.queries if each.sink.name.lower() == relation.folded)
        written = written or tuple(each for each in self.compilation.queries if each.name.lower() == relation.folded)
        if not written:
            entry = self.compilation.catalog.require(relation, (each.name for each in self.compilation.queries))
            if isinstance(entry, Declared):
                found = T105.at(relation.span, relation=entry.name).because("No query of the script writes them.")
                raise CompileError([found.with_hint(f"GIVEN {name_text(entry.name)} gives rows of an input")])
            written = (self.plan_view(entry),)
        shown = tuple(each for each in written[0].root.schema if not each.hidden)
        return Output(relation.text, written, shown)

    def plan_view(self, view: Derived) -> RunningQuery:
        """The view as a query of its own."""
        if view.name not in self.planned:
            stream = "STREAM " if isinstance(view.node.shape, KStream) else ""
            text = f"SELECT {stream}* FROM {name_text(view.name)}"
            (query,) = compile_sources([Source("<view>", text)], self.compilation.catalog).queries
            self.planned[view.name] = query
        self.views[view.name] = self.planned[view.name]
        return self.views[view.name]


def load_script(source: Source) -> ScriptRelations:
    """Raises CompileError."""
    return ScriptRelations(compile_sources([source]))


def choose_columns(
    names: Iterable[Name], known: tuple[Column, ...], relation: str, computed: Mapping[str, Iterable[str]] = {}
) -> tuple[Column, ...]:
    """The columns that a statement names, all without names. Raises CompileError.

    `computed`: columns in lower case that cannot be given, and the ones that they are computed of.
    """
    by_name = {each.name.lower(): each for each in known}
    chosen: list[Column] = []
    findings: list[Diagnostic] = []
    for name in names:
        column = by_name.get(name.folded)
        if column is None:
            guess = nearest(name.text, [each.name for each in known])
            found = N001.at(name.span, f"{relation} has no such column", name=name.text)
            if name.folded in computed:
                words = " and ".join(map(name_text, computed[name.folded]))
                found = found.because(f"{name.text} is computed.").with_hint(f"give {words}")
                findings.append(found)
                continue
            findings.append(found.with_guess(guess and name_text(guess)))
        elif column in chosen:
            findings.append(T103.at(name.span, reason=f"column {column.name} is named twice"))
        else:
            chosen.append(column)
    if findings:
        raise CompileError(findings)
    return tuple(chosen) or known


def list_stored(origin: Origin) -> tuple[Column, ...]:
    """The columns that a test can give: what records hold, and the word that deletes a row of a table."""
    stored = tuple(each for each in origin.columns if origin.computed_time is None or each.name != origin.time)
    if origin.operation is None or any(each.name == origin.operation for each in stored):
        return stored
    return (*stored, Column(origin.operation, STRING))


def list_computed(origin: Origin) -> dict[str, list[str]]:
    """The column that the declaration computes, and the ones that it is computed of."""
    if origin.computed_time is None or origin.time is None:
        return {}
    names = dict.fromkeys(each.name for each in origin.computed_time.find_all(exp.Column))
    return {origin.time.lower(): list(names)}


def read_row(row: RowValue, chosen: tuple[Column, ...], start: datetime) -> Row:
    """The values of a row by column. Raises CompileError."""
    if len(row.values) != len(chosen):
        raise CompileError([wrong_length(row.span, len(row.values), len(chosen))])
    return {column.name: read_scalar(value, column, start) for column, value in zip(chosen, row.values, strict=True)}


def convert_row(row: Mapping[str, Any], chosen: tuple[Column, ...], start: datetime, span: Span) -> Row:
    """The values of a row of a file by column. Raises CompileError at the place of the file's name."""
    return {each.name: convert_at(row[each.name], each, start, span, repr(row[each.name])) for each in chosen}


def wrong_length(span: Span, values: int, expected: int) -> Diagnostic:
    return T103.at(span, reason=f"{count(values, 'value')} for {count(expected, 'column')}")


def count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def complete_row(row: Row, origin: Origin) -> Row:
    """The row with NULL in the columns that were not given, and with its event time."""
    whole: Row = {each.name: row.get(each.name) for each in list_stored(origin)}
    if origin.computed_time is not None and origin.time is not None:
        whole[origin.time] = evaluate_scalar(origin.computed_time, whole, columns(origin.columns))
    return whole
