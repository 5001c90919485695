"""THEN, and what has come -> whether it is so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from penstock.diagnostics import Diagnostic, Span, nearest
from penstock.diagnostics.codes.testing import T101, T105, T106, T110, T111, T112, T113
from penstock.diagnostics.diagnostic import CompileError
from penstock.evaluator import Row, Unsupported, clocks
from penstock.parser.ast import (
    RowsOf,
    Then,
    ThenChanges,
    ThenFails,
    ThenRefused,
    ThenRows,
    ThenState,
)
from penstock.planner.plan import Column, RunningQuery
from penstock.planner.types import VOID
from penstock.testing.planned_steps import StepPlanner, read_source
from penstock.testing.query_runs import QueryRun
from penstock.testing.row_text import difference
from penstock.testing.script_relations import Output, choose_columns, count, list_stored, read_row

SIGN = Column("", VOID)
"""The column of + and - in the changes of a table. No column of a script has an empty name."""


@dataclass(frozen=True)
class Seen:
    """What a THEN with rows has met: the columns that it names, and the rows that came."""

    then: ThenRows | ThenChanges
    chosen: tuple[Column, ...]
    actual: list[Row]
    differs: bool


@dataclass
class Judge:
    """Compares what is expected of one step with what has come. `seen` collects the rows for `--update`."""

    place: StepPlanner
    runs: dict[RunningQuery, QueryRun]
    seen: list[Seen]

    @property
    def start(self) -> datetime:
        return self.place.start

    def judge(self, then: Then) -> list[Diagnostic]:
        """What is wrong, no finding if it is as expected. Raises CompileError for what cannot be asked."""
        match then:
            case ThenRows():
                return self.compare_rows(then)
            case ThenChanges():
                return self.compare_changes(then)
            case ThenState():
                return self.measure_state(then)
            case ThenFails():
                return self.find_failure(then)
            case ThenRefused():
                return []  # judged when the script is compiled
            case _:
                assert_never(then)

    def compare_rows(self, then: ThenRows) -> list[Diagnostic]:
        if then.of is RowsOf.RESULT:
            output = self.place.script.find_output(then.relation)
            known, runs = output.columns, self.find_runs(output.queries, then.relation.span)
            actual = [row for run in runs for row in (run.sent if output.is_stream else run.now.values())]
            left_out = describe_left_out(runs)
        else:
            left_out = []
            known, actual = self.list_left_out(then)
        chosen, expected = read_source(then.rows, then.columns, known, then.relation.text, self.place)
        return self.report_difference(then, chosen, expected, actual, left_out)

    def list_left_out(self, then: ThenRows) -> tuple[tuple[Column, ...], list[Row]]:
        """The columns of an input, and its rows that are late or rejected in a query that reads it."""
        declared = self.place.script.find_declared(then.relation)
        name, found = declared.origin.name, list[Row]()
        self.require_readers(then, name)
        for run in self.runs.values():
            if run.problem is not None and run.reads(name):
                raise refuse(run, then.relation.span)
            rows = (run.late if then.of is RowsOf.LATE else run.rejected).get(name, [])
            found += [row for row in rows if not any(row is other for other in found)]
        columns = {each.name: each for each in (*declared.origin.columns, *list_stored(declared.origin))}
        return tuple(columns.values()), found

    def require_readers(self, then: ThenRows, name: str) -> None:
        """Raises CompileError if no row of the input can be late or rejected, whatever is given."""
        readers = [run for run in self.runs.values() if run.reads(name)]
        reason = None
        if not readers:
            reason = "No query of the script reads it."
        elif then.of is RowsOf.LATE and not any(
            run.problem is not None or name in clocks(run.query.root) for run in readers
        ):
            reason = "No query that reads it waits for its watermark, so none of its rows is late."
        if reason is not None:
            raise CompileError([T105.at(then.relation.span, relation=then.relation.text).because(reason)])

    def compare_changes(self, then: ThenChanges) -> list[Diagnostic]:
        output = self.find_table(then)
        runs = self.find_runs(output.queries, then.relation.span)
        chosen = choose_columns(then.columns, output.columns, then.relation.text)
        expected = [{SIGN.name: sign(each.added)} | read_row(each.row, chosen, self.start) for each in then.changes]
        actual = [{SIGN.name: sign(added)} | row for run in runs for added, row in run.changes]
        return self.report_difference(then, (SIGN, *chosen), expected, actual, describe_left_out(runs))

    def find_table(self, then: ThenChanges) -> Output:
        output = self.place.script.find_output(then.relation)
        if output.is_stream:
            found = T106.at(then.span, statement="CHANGES").because(f"{then.relation.text} is a stream.")
            raise CompileError([found.with_hint("a row of a stream never changes: THEN with VALUES has its new rows")])
        return output

    def measure_state(self, then: ThenState) -> list[Diagnostic]:
        output = self.place.script.find_output(then.relation)
        try:
            runs = (run.run for run in self.find_runs(output.queries, then.relation.span))
            size = sum(run.size() for run in runs if run is not None)
        except Unsupported as problem:
            raise needs_spark(then.relation.span, str(problem)) from None
        if size <= then.most:
            return []
        found = count(size, "row")
        return [T111.at(then.span, relation=then.relation.text, found=found, most=then.most)]

    def find_failure(self, then: ThenFails) -> list[Diagnostic]:
        failed = [run.failed_with for run in self.runs.values() if run.failed_with is not None]
        code = then.code.text.upper()
        known = list_failures()
        if code not in known:
            found = T112.at(then.code.span, code=code)
            guess = nearest(code, known)
            words = f"did you mean {guess}?" if guess else "docs/errors has the codes of failures"
            raise CompileError([found.because("No row ever fails with it.").with_hint(words)])
        if code in failed:
            return []
        unknown = [run for run in self.runs.values() if run.problem is not None]
        if unknown:
            raise refuse(unknown[0], then.code.span)
        found = T112.at(then.code.span, code=code)
        return [found.because(f"Rows fail with {', '.join(sorted(set(failed)))}.") if failed else found]

    def find_runs(self, queries: Sequence[RunningQuery], span: Span) -> list[QueryRun]:
        """The runs of the queries. Raises CompileError if one of them is not known or has ended."""
        runs = [self.runs[query] for query in queries]
        for run in runs:
            if run.problem is not None:
                raise refuse(run, span)
            if run.failure is not None and run.failed_with is None:
                found = T113.at(span, query=run.query.name, reason=str(run.failure))
                raise CompileError([found.because("It has ended in an earlier step.")])
        return runs

    def report_difference(
        self,
        then: ThenRows | ThenChanges,
        chosen: Sequence[Column],
        expected: Iterable[Row],
        actual: Sequence[Row],
        left_out: list[str],
    ) -> list[Diagnostic]:
        table = difference(expected, actual, chosen, self.start)
        self.seen.append(Seen(then, tuple(chosen), list(actual), bool(table)))
        if not table:
            return []
        return [T110.at(then.span, relation=then.relation.text).because("\n".join([*table, *left_out]))]


def list_failures() -> list[str]:
    """What rows can fail with. All codes are loaded only for this."""
    from penstock.diagnostics.all_codes import CATALOG

    return sorted(code.id for code in CATALOG if code.id.startswith("R"))


def describe_left_out(runs: Sequence[QueryRun]) -> list[str]:
    """How many rows of this step the queries do not use, and why. That often explains a row that is missing."""
    words = {"rejected": [run.rejected for run in runs], "late": [run.late for run in runs]}
    lines = {
        f"{count(len(rows), 'row')} of {name} {'is' if len(rows) == 1 else 'are'} {word}."
        for word, tables in words.items()
        for each in tables
        for name, rows in each.items()
    }
    return sorted(lines)


def sign(added: bool) -> str:
    return "+" if added else "-"


def refuse(run: QueryRun, span: Span) -> CompileError:
    """The finding for a query that cannot be run."""
    if run.refusal is T101:
        return needs_spark(span, str(run.problem))
    return CompileError([run.refusal.at(span, reason=str(run.problem))])


def needs_spark(span: Span, reason: str) -> CompileError:
    return CompileError([T101.at(span, reason=reason).with_hint("penstock test --spark runs tests on Spark")])
