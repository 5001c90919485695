"""Rules of tests -> AST nodes of TEST, GIVEN and THEN."""

from __future__ import annotations

from sqlglot import exp

from penstock.diagnostics.codes import syntax
from penstock.diagnostics.diagnostic import CompileError
from penstock.diagnostics.source import Span
from penstock.grammar import Token
from penstock.parser.ast import (
    BeginTest,
    ChangedRow,
    GivenEnd,
    GivenRows,
    GivenSilence,
    GivenWatermark,
    Moment,
    Name,
    RowFile,
    RowsOf,
    RowSource,
    RowValue,
    RowValues,
    TestStatement,
    Text,
    ThenChanges,
    ThenFails,
    ThenRefused,
    ThenRows,
    ThenState,
    parse_count,
)
from penstock.parser.build.base import Builder, duration, name, token_span


def text(span: Span, token: Token) -> Text:
    """A string of the rule at `span`."""
    return Text(token.value, token_span(span, token))


def script_files(span: Span, *tokens: Token) -> tuple[Text, ...]:
    return tuple(text(span, token) for token in tokens)


def begin_test(span: Span, title: Token, scripts: tuple[Text, ...], at: Token | None) -> BeginTest:
    return BeginTest(text(span, title), scripts, None if at is None else text(span, at), span)


def given_rows(span: Span, relation: Token, columns: tuple[Name, ...] | None, rows: RowSource) -> GivenRows:
    return GivenRows(name(span, relation), columns or (), rows, False, span)


def given_table(span: Span, relation: Token, columns: tuple[Name, ...] | None, rows: RowSource) -> GivenRows:
    return GivenRows(name(span, relation), columns or (), rows, True, span)


def row_values(span: Span, *rows: RowValue) -> RowValues:
    return RowValues(rows, span)


def row_value(span: Span, values: tuple[exp.Expression, ...]) -> RowValue:
    return RowValue(values, span)


def row_file(span: Span, path: Token) -> RowFile:
    return RowFile(text(span, path), span)


def given_watermark(span: Span, *moments: Moment) -> GivenWatermark:
    return GivenWatermark(moments, span)


def moment(span: Span, relation: Token, time: Token) -> Moment:
    return Moment(name(span, relation), text(span, time), span)


def given_silence(span: Span, relation: Token, length: exp.Interval) -> GivenSilence:
    return GivenSilence(name(span, relation), duration(length), span)


def given_end(span: Span) -> GivenEnd:
    return GivenEnd(span)


def then_rows(span: Span, relation: Token, columns: tuple[Name, ...] | None, rows: RowSource) -> ThenRows:
    return ThenRows(RowsOf.RESULT, name(span, relation), columns or (), rows, span)


def then_late(span: Span, relation: Token, columns: tuple[Name, ...] | None, rows: RowSource) -> ThenRows:
    return ThenRows(RowsOf.LATE, name(span, relation), columns or (), rows, span)


def then_rejected(span: Span, relation: Token, columns: tuple[Name, ...] | None, rows: RowSource) -> ThenRows:
    return ThenRows(RowsOf.REJECTED, name(span, relation), columns or (), rows, span)


def nothing(span: Span) -> RowValues:
    return RowValues((), span)


def then_changes(
    span: Span, relation: Token, columns: tuple[Name, ...] | None, *listed: ChangedRow | RowValues
) -> ThenChanges:
    """The changes, or what NOTHING stands for."""
    changes = tuple(each for each in listed if isinstance(each, ChangedRow))
    return ThenChanges(name(span, relation), columns or (), changes, listed[0].span.to(listed[-1].span), span)


def added_row(span: Span, row: RowValue) -> ChangedRow:
    return ChangedRow(True, row, span)


def removed_row(span: Span, row: RowValue) -> ChangedRow:
    return ChangedRow(False, row, span)


def then_state(span: Span, relation: Token, most: Token) -> ThenState:
    """Raises CompileError if the number is no count."""
    count = parse_count(most.value)
    if count is None:
        found = syntax.S007.at(token_span(span, most), number=most.value)
        raise CompileError([found.with_hint("a number of rows has at most 9 digits, as in AT MOST 2 ROWS")])
    return ThenState(name(span, relation), count, span)


def then_fails(span: Span, code: Token) -> ThenFails:
    return ThenFails(name(span, code), span)


def then_refused(span: Span, code: Token) -> ThenRefused:
    return ThenRefused(name(span, code), span)


def test_start(span: Span, statement: TestStatement) -> TestStatement:
    return statement


RULES: dict[str, Builder] = {
    "test_start": test_start,
    "script_files": script_files,
    "begin_test": begin_test,
    "given_rows": given_rows,
    "given_table": given_table,
    "row_values": row_values,
    "row_value": row_value,
    "row_file": row_file,
    "given_watermark": given_watermark,
    "moment": moment,
    "given_silence": given_silence,
    "given_end": given_end,
    "then_rows": then_rows,
    "then_late": then_late,
    "then_rejected": then_rejected,
    "nothing": nothing,
    "then_changes": then_changes,
    "added_row": added_row,
    "removed_row": removed_row,
    "then_state": then_state,
    "then_fails": then_fails,
    "then_refused": then_refused,
}
