"""Findings as people read them. Every case is the whole text, so that a shifted caret is seen."""

from __future__ import annotations

from textwrap import dedent

import pytest

from penstock.diagnostics import Code, CompileError, Diagnostic, Label, Source, Span, render

J001 = Code("J001", "stream-stream join has no time bound")
N001 = Code("N001", "no relation is called {name}")


def span_of(source: Source, text: str) -> Span:
    start = source.text.index(text)
    return Span(source, start, start + len(text))


def expect(diagnostic: Diagnostic, text: str) -> None:
    assert render(diagnostic) == dedent(text).strip("\n")


def test_two_lines_and_a_hint() -> None:
    source = Source("paid.sql", "SELECT STREAM *\n\nFROM orders o\nJOIN payments p ON o.id = p.order_id")
    finding = J001.at(span_of(source, "orders o"), "left stream")
    finding = finding.also(span_of(source, "JOIN payments p ON o.id = p.order_id"), "both sides would be kept forever")
    expect(
        finding.with_hint("ON o.id = p.order_id AND p.time BETWEEN o.time AND o.time + INTERVAL '5' MINUTE"),
        """
        error[J001]: stream-stream join has no time bound
          --> paid.sql:3:6
        3 | FROM orders o
          |      ^^^^^^^^ left stream
        4 | JOIN payments p ON o.id = p.order_id
          | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ both sides would be kept forever
          = hint: ON o.id = p.order_id AND p.time BETWEEN o.time AND o.time + INTERVAL '5' MINUTE
        """,
    )


def test_several_labels_on_one_line_come_from_left_to_right() -> None:
    source = Source("q.sql", "SELECT a, b FROM t")
    expect(
        N001.at(span_of(source, "t"), "first", name="t")
        .also(span_of(source, "a"), "second")
        .also(span_of(source, "b")),
        """
        error[N001]: no relation is called t
          --> q.sql:1:18
        1 | SELECT a, b FROM t
          |        ^ second
          |           ^
          |                  ^ first
        """,
    )


def test_lines_left_out_are_marked_and_the_gutter_is_as_wide_as_the_last_number() -> None:
    source = Source("q.sql", "first\n" + "\n" * 8 + "tenth")
    expect(
        J001.at(span_of(source, "first")).also(span_of(source, "tenth")),
        """
        error[J001]: stream-stream join has no time bound
           --> q.sql:1:1
         1 | first
           | ^^^^^
        ...
        10 | tenth
           | ^^^^^
        """,
    )


def test_span_of_several_lines_shows_its_ends_without_indentation_and_blank_lines() -> None:
    source = Source("q.sql", "SELECT (\n  a +\n  b\n\n) FROM t")
    expect(
        J001.at(Span(source, 7, source.text.index(")")), "this sum"),
        """
        error[J001]: stream-stream join has no time bound
          --> q.sql:1:8
        1 | SELECT (
          |        ^
        ...
        3 |   b
          |   ^ this sum
        """,
    )


def test_span_of_blank_lines_alone() -> None:
    source = Source("q.sql", "a\n\n\nb")
    expect(
        J001.at(Span(source, 1, 4), "nothing here"),
        """
        error[J001]: stream-stream join has no time bound
          --> q.sql:1:2
        1 | a
          |  ^ nothing here
        """,
    )


def test_label_in_another_source() -> None:
    here, there = Source("queries.sql", "CREATE STREAM s"), Source("tables.sql", "\nCREATE TABLE s")
    expect(
        J001.at(span_of(here, "s"), "again").also(span_of(there, "CREATE TABLE s"), "declared here"),
        """
        error[J001]: stream-stream join has no time bound
          --> queries.sql:1:15
        1 | CREATE STREAM s
          |               ^ again
          ::: tables.sql:2:1
        2 | CREATE TABLE s
          | ^^^^^^^^^^^^^^ declared here
        """,
    )


def test_tabs_and_wide_characters_keep_carets_in_place() -> None:
    source = Source("q.sql", "\tSELECT '水e\u0301', x")
    expect(
        J001.at(span_of(source, "x"), "here").also(span_of(source, "水")),
        """
        error[J001]: stream-stream join has no time bound
          --> q.sql:1:16
        1 |     SELECT '水e\u0301', x
          |             ^^
          |                   ^ here
        """,
    )


@pytest.mark.parametrize(
    ("char", "shown"),
    [("\x1b", r"\x1b"), ("\u202e", r"\u202e"), ("\x00", r"\x00"), ("\u2028", r"\u2028"), ("\r", r"\r")],
)
def test_characters_that_steer_a_terminal_are_shown_as_escapes(char: str, shown: str) -> None:
    source = Source(f"q{char}.sql", f"a{char}b z")
    finding = Code("N001", "no {name}").at(span_of(source, "z"), char, name=char).because(char)
    blanks = " " * len(shown)
    assert render(finding.with_hint(char, fix=char), color=False).splitlines() == [
        f"error[N001]: no {shown}",
        f"  --> q{shown}.sql:1:5",
        f"1 | a{shown}b z",
        f"  |  {blanks}  ^ {shown}",
        f"  = note: {shown}",
        f"  = hint: {shown}",
        "  = fix:",
        f"    {shown}",
    ]


@pytest.mark.parametrize(
    ("text", "line"), [("", "1 |"), ("SELECT", "1 | SELECT"), ("SELECT\n", "2 |"), ("SELECT\r\n", "2 |")]
)
def test_the_end_of_the_text_is_a_place(text: str, line: str) -> None:
    source = Source("q.sql", text)
    last = render(J001.at(Span(source, len(text), len(text)), "something must follow")).splitlines()[2:]
    blanks = " " * (len(text) if line.endswith("SELECT") else 0)
    assert last == [line, f"  | {blanks}^ something must follow"]


def test_long_lines_are_clipped_around_each_caret() -> None:
    source = Source("q.sql", "x" + "a, " * 200 + "NEEDLE" + ", b" * 200)
    rows = render(J001.at(span_of(source, "NEEDLE"), "here").also(Span(source, 0, 1), "start")).splitlines()
    assert [row[:4] for row in rows[2:]] == ["1 | ", "  | ", "1 | ", "  | "]
    assert all(len(row) <= 110 for row in rows)
    assert rows[3] == "  | ^ start"
    caret = rows[5].index("^")
    assert rows[4][caret : caret + 6] == "NEEDLE"
    assert rows[5][caret:] == "^^^^^^ here"
    assert rows[4].startswith("1 | …")
    assert rows[4].endswith("…")


def test_a_span_longer_than_the_line_shown_is_underlined_to_its_edge() -> None:
    source = Source("q.sql", "b" * 1_000)
    carets = render(J001.at(Span(source, 0, 1_000), "long")).splitlines()[3]
    assert carets == "  | " + "^" * 100 + " long"


def test_note_hint_and_fix() -> None:
    finding = J001.at(None).because("one\ntwo").with_hint("do it", fix="SELECT 1;\n\n  SELECT 2;")
    expect(
        finding,
        """
        error[J001]: stream-stream join has no time bound
          = note: one
                  two
          = hint: do it
          = fix:
            SELECT 1;

              SELECT 2;
        """,
    )


def test_a_warning_says_so_and_colours_come_only_when_asked_for() -> None:
    source = Source("q.sql", "a")
    finding = Code("W009", "one partition", severity="warning").at(Span(source, 0, 1))
    assert render(finding).startswith("warning[W009]: one partition\n")
    assert "\x1b" not in render(finding)
    assert render(finding, color=True).startswith("\x1b[1;33mwarning[W009]\x1b[0m: one partition\n")


def test_every_span_of_a_text_can_be_rendered_and_points_into_it() -> None:
    source = Source("q.sql", "a\t水\r\n\n e\u0301 b")
    for start in range(len(source.text) + 1):
        for end in range(start, len(source.text) + 1):
            rows = render(Diagnostic("J001", "m", (Label(Span(source, start, end), "here"),))).splitlines()
            assert "^" in rows[3]
            assert rows[-1].endswith("here")


def test_an_exception_shows_places_and_hints() -> None:
    source = Source("orders.sql", "SELECT STREAM prod FROM orders")
    found = N001.at(span_of(source, "prod"), "here", name="prod").with_guess("product")
    assert str(CompileError([found, found])) == (
        "N001: no relation is called prod\n"
        "  --> orders.sql:1:15\n"
        "1 | SELECT STREAM prod FROM orders\n"
        "  |               ^^^^ here\n"
        "  = hint: did you mean product?\n\n"
    ) + str(CompileError([found]))
    assert str(CompileError([found] * 23)).endswith("\n\n… and 3 more")
