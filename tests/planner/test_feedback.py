"""Warnings of updates that are lost, or that count twice, and what their fixes mean."""

from __future__ import annotations

import pytest

import penstock
from penstock.diagnostics import Diagnostic
from penstock.planner.plan import UpdateRows

DECLARED = """
CREATE STREAM a (id INT, customer STRING, amount DOUBLE, n INT, at TIMESTAMP, WATERMARK FOR at AS at)
WITH (connector = 'files', path = 'act', format = 'json');
CREATE STREAM b (id INT, customer STRING, amount DOUBLE, n INT, at TIMESTAMP, WATERMARK FOR at AS at)
WITH (connector = 'files', path = 'more', format = 'json');
CREATE TABLE t (customer STRING PRIMARY KEY, total DOUBLE, n BIGINT, names STRING, tags ARRAY<STRING>)
WITH (connector = 'duckdb', path = 'shop.db', table = 'customers');
CREATE TABLE same (customer STRING PRIMARY KEY, total DOUBLE)
WITH (connector = 'duckdb', path = 'shop.db', table = 'customers');
CREATE TABLE u (customer STRING PRIMARY KEY, total DOUBLE) WITH (connector = 'duckdb', path = 'shop.db', table = 'u');
"""
LOOKED_UP = "FROM a LEFT JOIN t c ON c.customer = a.customer"


def find_warnings(sql: str) -> list[Diagnostic]:
    return [each for each in penstock.compile(DECLARED + sql).diagnostics if each.code in ("K040", "K041")]


@pytest.mark.parametrize(
    ("statements", "fix"),
    [
        (
            "INSERT INTO t (customer, total)"
            f" SELECT STREAM a.customer, COALESCE(c.total, 0) + a.amount AS x {LOOKED_UP};",
            "UPDATE t SET total = COALESCE(t.total, 0) + a.amount FROM a WHERE t.customer = a.customer"
            " ELSE INSERT (total) VALUES (NULL)",
        ),
        (
            "INSERT INTO t (customer, total, n) SELECT STREAM a.customer, c.total + a.amount AS x, c.n FROM a"
            " JOIN t c ON c.customer = a.customer WHERE a.n > 3;",
            "UPDATE t SET total = t.total + a.amount FROM a WHERE t.customer = a.customer AND a.n > 3",
        ),
        (  # through a view, and other names
            f"CREATE VIEW v AS SELECT STREAM a.customer AS who, c.n AS many {LOOKED_UP};"
            "INSERT INTO t (customer, n) SELECT STREAM who, many + 1 AS x FROM v;",
            "UPDATE t SET n = t.n + 1 FROM a WHERE t.customer = a.customer ELSE INSERT (n) VALUES (NULL)",
        ),
        (f"INSERT INTO same SELECT STREAM a.customer, c.total + a.amount AS x {LOOKED_UP};", None),
        (f"INSERT INTO t (customer, n) SELECT STREAM a.customer, 1 AS n {LOOKED_UP} WHERE c.n IS NULL;", None),
        (f"INSERT INTO t (customer, n) SELECT STREAM CONCAT(a.customer, 'x') AS k, c.n + 1 AS n {LOOKED_UP};", None),
        (  # through a stream that another query writes
            f"INSERT INTO b SELECT STREAM a.id, a.customer, c.total AS amount, a.n, a.at {LOOKED_UP};"
            "INSERT INTO t (customer, total) SELECT STREAM customer, amount + 1 AS total FROM b;",
            None,
        ),
    ],
)
def test_a_table_that_is_looked_up_and_written(statements: str, fix: str | None) -> None:
    (warning,) = find_warnings(statements)
    assert (warning.code, warning.severity) == ("K040", "warning")
    if fix is None:
        assert warning.fix is None or "same" in warning.fix
        return
    assert warning.fix == fix
    fixed = penstock.compile(DECLARED + fix)
    assert isinstance(fixed.queries[0].change, UpdateRows)
    assert not [each for each in fixed.diagnostics if each.code == "K040"]


@pytest.mark.parametrize(
    "statement",
    [
        f"INSERT INTO u SELECT STREAM a.customer, c.total {LOOKED_UP};",
        "INSERT INTO t (customer, n) SELECT STREAM customer, n FROM a;",
        "UPDATE t SET n = t.n + 1 FROM a WHERE t.customer = a.customer ELSE INSERT (n) VALUES (0);",
    ],
)
def test_other_tables_and_updates_lose_nothing(statement: str) -> None:
    assert find_warnings(statement) == []


def test_an_update_of_what_is_looked_up() -> None:
    sql = f"CREATE VIEW j AS SELECT STREAM a.customer, c.total, a.amount {LOOKED_UP};"
    sql += "UPDATE t SET total = j.total + j.amount FROM j WHERE t.customer = j.customer;"
    (warning,) = find_warnings(sql)
    assert warning.code == "K040"
    assert warning.fix is None
    assert "leave the join out" in (warning.hint or "")


@pytest.mark.parametrize(
    ("set_", "default", "start"),
    [
        ("total = t.total + a.amount", "(total) VALUES (a.amount)", "0"),
        ("total = a.amount + t.total", "(total) VALUES (a.amount)", "0"),
        ("total = t.total + a.amount + 1", "(total) VALUES (a.amount)", "0"),
        ("total = ROUND(COALESCE(t.total, 0) + a.amount, 2)", "(total) VALUES (a.amount)", "0"),
        ("n = t.n + a.n", "(n) VALUES (CAST(a.n AS BIGINT))", "0"),
        ("n = t.n + 1", "(n) VALUES (1)", "0"),
        ("n = t.n - a.n", "(n) VALUES (-a.n)", "0"),
        ("n = CASE WHEN a.amount > 0 THEN t.n + 1 ELSE t.n END", "(n) VALUES (1)", "0"),
        ("n = IF(a.amount > 0, t.n + 1, t.n)", "(n) VALUES (1)", "0"),
        ("total = t.total * a.amount", "(total) VALUES (a.amount)", "1"),
        ("names = t.names || a.customer", "(names) VALUES (a.customer)", "''"),
        ("names = CONCAT(t.names, ',', a.customer)", "(names) VALUES (a.customer)", "''"),
    ],
)
def test_a_first_amount_that_counts_twice(set_: str, default: str, start: str) -> None:
    statement = f"UPDATE t SET {set_} FROM a WHERE t.customer = a.customer ELSE INSERT {default};"
    (warning,) = find_warnings(statement)
    assert warning.code == "K041"
    assert warning.fix == statement[: statement.index("VALUES (")] + f"VALUES ({start})"
    assert find_warnings(warning.fix) == []


def test_the_fix_is_one_for_all_columns() -> None:
    statement = "UPDATE t SET total = t.total + a.amount, n = t.n + 1 FROM a WHERE t.customer = a.customer ELSE INSERT "
    found = find_warnings(statement + "(n, total) VALUES (1, a.amount)")
    assert [each.code for each in found] == ["K041", "K041"]
    assert {each.fix for each in found} == {statement + "(n, total) VALUES (0, 0)"}


@pytest.mark.parametrize(
    ("set_", "default"),
    [
        ("total = t.total + a.amount", "(total) VALUES (0)"),
        ("n = t.n + 1", "(n) VALUES (10)"),
        ("n = GREATEST(t.n, a.n)", "(n) VALUES (a.n)"),
        ("n = a.n", "(n) VALUES (a.n)"),
        ("n = t.n + a.n", "(n, total) VALUES (0, a.amount)"),
        ("n = t.n * 1", "(n) VALUES (1)"),
    ],
)
def test_what_counts_once(set_: str, default: str) -> None:
    assert find_warnings(f"UPDATE t SET {set_} FROM a WHERE t.customer = a.customer ELSE INSERT {default};") == []
