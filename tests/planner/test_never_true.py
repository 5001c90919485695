"""Warnings of conditions that no row fulfils, and what is to be written."""

from __future__ import annotations

import pytest

import penstock
from penstock.diagnostics import Diagnostic

DECLARED = """
CREATE STREAM s (id BIGINT KEY, product STRING, a INT, j STRING, time TIMESTAMP, WATERMARK FOR time AS time)
WITH (connector = 'files', path = 'd', format = 'json');
CREATE STREAM r (id BIGINT KEY, b INT, time TIMESTAMP, WATERMARK FOR time AS time)
WITH (connector = 'files', path = 'r', format = 'json');
"""


def find_warnings(sql: str) -> list[Diagnostic]:
    return [each for each in penstock.compile(DECLARED + sql).diagnostics if each.code in ("T030", "T031")]


@pytest.mark.parametrize(
    ("condition", "hint"),
    [
        ("a = NULL", "a IS NULL"),
        ("NULL = a", "a IS NULL"),
        ("a == CAST(NULL AS INT)", "a IS NULL"),
        ("a <> NULL", "a IS NOT NULL"),
        ("a != NULL", "a IS NOT NULL"),
        ("NOT (a = NULL)", "a IS NULL"),
        ("a > NULL", None),
        ("a BETWEEN NULL AND 3", None),
        ("product LIKE NULL", None),
        ("a IN (NULL)", "a IS NULL"),
        ("a IN (NULL, NULL)", "a IS NULL"),
        ("a NOT IN (1, NULL)", "a IS NOT NULL AND a NOT IN (1)"),
        ("a NOT IN (NULL)", "a IS NOT NULL"),
        ("CASE a WHEN NULL THEN 1 ELSE 2 END = 1", "CASE WHEN a IS NULL THEN …"),
        ("IF(a = NULL, 1, 2) = 1", "a IS NULL"),
        ("a = 1 OR a = NULL", "a IS NULL"),
    ],
)
def test_comparisons_with_null(condition: str, hint: str | None) -> None:
    (warning,) = find_warnings(f"SELECT STREAM id FROM s WHERE {condition};")
    assert (warning.code, warning.hint) == ("T030", hint)
    if hint is not None and "…" not in hint:
        assert find_warnings(f"SELECT STREAM id FROM s WHERE {hint};") == []


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT STREAM id, a = NULL AS never FROM s;",
        "SELECT product, COUNT(*) AS n FROM s GROUP BY product HAVING COUNT(*) = NULL;",
        "SELECT product, COUNT(*) FILTER (WHERE a = NULL) AS n FROM s GROUP BY product;",
        "SELECT STREAM s.id FROM s JOIN r ON s.id = r.id AND s.time = r.time AND r.b = NULL;",
        "CREATE VIEW v AS SELECT STREAM id, a FROM s WHERE a = NULL; SELECT STREAM id FROM v;",
    ],
)
def test_in_every_clause(statement: str) -> None:
    assert [each.code for each in find_warnings(statement)] == ["T030"]


@pytest.mark.parametrize(
    "condition",
    [
        *("a IS NULL", "a <=> NULL", "a IS DISTINCT FROM NULL", "a IN (1, NULL)", "COALESCE(a, NULL) = 1"),
        *("NULLIF(a, 1) = 2", "CASE WHEN a IS NULL THEN 1 END = 1", "GET_JSON_OBJECT(j, '$') = 'x'"),
        *("GET_JSON_OBJECT(j, '$.a.b[0]') = 'x'", "GET_JSON_OBJECT(j, '$[''a b''][*].c') = 'x'"),
    ],
)
def test_what_can_be_true(condition: str) -> None:
    assert find_warnings(f"SELECT STREAM id FROM s WHERE {condition};") == []


@pytest.mark.parametrize(
    ("path", "better"),
    [
        *(("a", "$.a"), ("a.b", "$.a.b"), (".a", "$.a"), ("[0].a", "$[0].a"), ("a[0]", "$.a[0]")),
        *(("", "$"), ("$a", "$.$a"), ("$.", "$.name"), ("$..a", "$.name")),
    ],
)
def test_paths_of_json(path: str, better: str) -> None:
    (warning,) = find_warnings(f"SELECT STREAM GET_JSON_OBJECT(j, '{path}') AS v FROM s;")
    assert warning.code == "T031"
    assert warning.hint == f"'{better}'"
    assert find_warnings(f"SELECT STREAM GET_JSON_OBJECT(j, {warning.hint}) AS v FROM s;") == []
