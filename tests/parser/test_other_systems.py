"""Statements of other systems that the grammar does not have are refused with what to write instead."""

from __future__ import annotations

import pytest

from penstock.diagnostics import CompileError, Source
from penstock.parser import other_statements, parse
from penstock.parser import other_systems as forms
from tests.parser.texts import findings, statement

# What is refused, and a piece of its hint.
REFUSED = (
    ("ALTER TABLE users ADD COLUMN age INT", "change the declaration"),
    ("CREATE OR REPLACE FUNCTION f AS 'a.b.C'", "run no code of their own"),
    ("CREATE TEMPORARY MACRO m(x INT) x + 1", "run no code of their own"),
    ("CREATE DATABASE IF NOT EXISTS shop", "no catalog"),
    ("CREATE STREAMING TABLE clicks AS SELECT * FROM raw", "CREATE STREAM clicks AS SELECT STREAM"),
    ("CREATE OR REFRESH MATERIALIZED VIEW sums AS SELECT a FROM t", "CREATE TABLE sums AS SELECT"),
    ("CREATE SOURCE TABLE users (id INT PRIMARY KEY)", "CREATE TABLE users"),
    ("TRUNCATE TABLE users", "DELETE FROM users USING s WHERE users.k = s.k"),
    ("PRINT clicks FROM BEGINNING", "SELECT STREAM * FROM clicks"),
    ("PAUSE counts", "PAUSE QUERY counts"),
    ("SHOW COLUMNS FROM users", "DESCRIBE users"),
    ("SHOW SCHEMAS", "SHOW TABLES"),
    ("EXPLAIN ESTIMATED_COST SELECT a FROM t", "EXPLAIN PLAN"),
    ("USE CATALOG shop", "no catalog"),
    ("BEGIN STATEMENT SET", "planned together"),
    ("MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN DELETE", "ELSE INSERT"),
    ("INSERT INTO TABLE t PARTITION (d = 1) SELECT a FROM s", "leave out PARTITION"),
    ("INSERT INTO t SELECT a FROM s ON CONFLICT DO NOTHING", "replaces rows by that key"),
    ("SELECT a FROM shop.orders", "no catalog"),
    ("SELECT JSON_OBJECT('a' VALUE a) FROM t", "TO_JSON(NAMED_STRUCT"),
    ("SELECT JSON_VALUE(a, '$.b' RETURNING INT) FROM t", "GET_JSON_OBJECT"),
    ("SELECT a IS JSON FROM t", "JSON_OBJECT_KEYS(text) IS NOT NULL"),
    ("SELECT a ~ 'b' FROM t", "RLIKE"),
    ("SELECT a << 1 FROM t", "SHIFTLEFT"),
    ("SELECT a >> 1 FROM t", "SHIFTRIGHT"),
    ("SELECT a:b.c FROM t", "GET_JSON_OBJECT"),
    ("SELECT * REPLACE (UPPER(a) AS a) FROM t", "EXCEPT (a)"),
    ("SELECT (a, b) OVERLAPS (c, d) FROM t", "start1 < end2"),
    ("SELECT LAST_VALUE(a) IGNORE NULLS OVER (ORDER BY b) FROM t", "MAX_BY"),
    ("SELECT a FROM t PIVOT (SUM(a) FOR b IN ('x'))", "FILTER"),
    ("SELECT a FROM t TABLESAMPLE (10 PERCENT)", "PMOD(HASH(key), 10)"),
    ("CREATE STREAM s AS FROM t SELECT a", "SELECT STREAM * FROM t"),
    ("SELECT a FROM TABLE(TUMBLE(TABLE (SELECT b FROM t), DESCRIPTOR(b), INTERVAL '1' HOUR))", "WITH q AS"),
)
# What may look like words of other systems, and is an error of another kind. None: no hint is better than a wrong one.
OTHERWISE = (
    ("EXPLAIN SELCT a FROM t", "did you mean SELECT instead of SELCT?"),
    ("SHOW TABELS", "did you mean TABLES instead of TABELS?"),
    ("SELECT a FORM t", "did you mean FROM instead of FORM?"),
    ("SELECT a, FROM t", "leave out the comma: a FROM"),
)


@pytest.mark.parametrize(("text", "piece"), REFUSED, ids=[text for text, _ in REFUSED])
def test_hint(text: str, piece: str) -> None:
    (found,) = findings(text)
    assert found.code == "S001"
    assert piece in (found.hint or "")


@pytest.mark.parametrize(("text", "hint"), OTHERWISE, ids=[text for text, _ in OTHERWISE])
def test_other_hints_come_first(text: str, hint: str | None) -> None:
    (found,) = findings(text)
    assert found.hint == hint


@pytest.mark.parametrize(
    ("text", "construct"),
    [
        ("SELECT a FROM t MATCH_RECOGNIZE (PARTITION BY a ORDER BY b PATTERN (A B))", "MATCH_RECOGNIZE"),
        ("SELECT a FROM t WATERMARK b DELAY OF INTERVAL 10 SECONDS", "WATERMARK in a query"),
    ],
)
def test_known_constructs_are_not_supported(text: str, construct: str) -> None:
    (found,) = findings(text)
    assert (found.code, found.message) == ("B002", f"not supported yet: {construct}")


def test_every_statement_of_the_table_is_unknown_to_the_grammar() -> None:
    """An entry that the grammar takes by now would never be used."""
    for pattern, _ in other_statements.STATEMENTS:
        text = pattern.replace("{name}", "t").replace("{string}", "'t'")
        with pytest.raises(CompileError) as raised:
            parse(Source("<test>", f"{text} t"))
        assert raised.value.diagnostics[0].hint


def test_hints_can_be_read_to_the_end() -> None:
    hints = [hint for _, hint in (*other_statements.STATEMENTS, *forms.CLAUSES)] + list(forms.CALLS.values())
    assert not [hint for hint in hints if "…" in hint or "{" in hint.replace("{name}", "")]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("INSERT INTO t BY NAME SELECT a, b + 1 AS c FROM s", "INSERT INTO t (a, c) SELECT a, b + 1 AS c FROM s"),
        ("SELECT a FROM t GROUP BY a, b WITH ROLLUP", "SELECT a FROM t GROUP BY ROLLUP(a, b)"),
        ("SELECT a FROM t GROUP BY a, b WITH CUBE", "SELECT a FROM t GROUP BY CUBE(a, b)"),
        ("SELECT a FROM t GROUP BY a, b GROUPING SETS ((a), ())", "SELECT a FROM t GROUP BY GROUPING SETS ((a), ())"),
        ("VALUES (1), (2) ORDER BY 1 LIMIT 1", "SELECT * FROM (VALUES (1), (2)) ORDER BY 1 LIMIT 1"),
        ("SELECT a FROM t WHERE !b", "SELECT a FROM t WHERE NOT b"),
    ],
)
def test_other_spellings(text: str, same: str) -> None:
    assert statement(text) == statement(same)


@pytest.mark.parametrize("text", ["INSERT INTO t BY NAME SELECT * FROM s", "INSERT INTO t BY NAME SELECT a + 1 FROM s"])
def test_by_name_needs_names(text: str) -> None:
    (found,) = findings(text)
    assert found.code == "S026"


def test_bytes_are_pairs_of_digits() -> None:
    assert [found.code for found in findings("SELECT X'1' FROM t")] == ["S026"]
    assert not findings("SELECT X'', x FROM t")
