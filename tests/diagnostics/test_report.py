"""Findings as programs read them."""

from __future__ import annotations

import pytest

from penstock.diagnostics import Code, Source, Span, report

T001 = Code("T001", "no function is called {name}")


def test_all_fields() -> None:
    source = Source("q.sql", "SELECT 1;\nSELECT\n  fo(x)")
    start = source.text.index("fo")
    finding = T001.at(Span(source, start, start + 2), "here", name="fo").with_hint("did you mean floor?")
    assert report(finding) == {
        "code": "T001",
        "severity": "error",
        "message": "no function is called fo",
        "file": "q.sql",
        "line": 3,
        "column": 3,
        "end_line": 3,
        "end_column": 5,
        "hint": "did you mean floor?",
        "statement": 2,
    }


def test_columns_count_characters() -> None:
    source = Source("q.sql", "'水\U0001f30a' x")
    assert report(T001.at(Span(source, 5, 6), name="x"))["column"] == 6


def test_a_finding_without_a_place_has_nulls() -> None:
    found = report(T001.at(None, name="x"))
    places = ("file", "line", "column", "end_line", "end_column", "hint", "statement")
    assert [found[field] for field in places] == [None] * 7  # type: ignore[literal-required]


def test_a_fix_stands_in_for_a_missing_hint() -> None:
    assert report(T001.at(None, name="x").with_hint(None, fix="SELECT 1;"))["hint"] == "SELECT 1;"


@pytest.mark.parametrize(
    ("before", "number"),
    [
        ("", 1),
        ("a;", 2),
        ("a; b; ", 3),
        ("';' \";\" `;` -- ;\n/* ; */", 1),
        ("'it''s; fine'; ", 2),
        ("'open ; ", 2),
        ("-- ';\n;", 2),
    ],
)
def test_statements_are_counted_by_the_semicolons_that_end_one(before: str, number: int) -> None:
    source = Source("q.sql", before + "here")
    assert report(T001.at(Span(source, len(before), len(before) + 4), name="x"))["statement"] == number
