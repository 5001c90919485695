"""`FROM a, b, c WHERE …`: each condition goes to the join whose columns it names, with and without their relations."""

from __future__ import annotations

import itertools

import pytest

from penstock.compilation import compile
from penstock.diagnostics import CompileError
from penstock.planner import plan_text

DECLARED = """
CREATE STREAM s (id INT, k1 INT, t1 INT, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL '1' SECOND)
WITH (connector = 'files', path = 's', format = 'json');
CREATE TABLE u (uid INT PRIMARY KEY, uname STRING, city STRING)
WITH (connector = 'files', path = 'u', format = 'json', operation = 'op');
CREATE TABLE w (wid INT PRIMARY KEY, wname STRING, city STRING)
WITH (connector = 'files', path = 'w', format = 'json', operation = 'op');
CREATE TABLE x (xid INT PRIMARY KEY, xname STRING)
WITH (connector = 'files', path = 'x', format = 'json', operation = 'op');
"""
# Each condition, and the same with the relations of its columns.
CONDITIONS = (
    ("k1 = uid", "s.k1 = u.uid"),
    ("t1 = wid", "s.t1 = w.wid"),
    ("id = xid", "s.id = x.xid"),
    ("id > 3", "s.id > 3"),
    ("uname <> wname", "u.uname <> w.wname"),
    ("u.city = wname", "u.city = w.wname"),
)


def plan(sql: str) -> str:
    return plan_text(compile(DECLARED + sql).queries)


@pytest.mark.parametrize("tables", [*itertools.permutations(("u", "w", "x"))], ids=" ".join)
@pytest.mark.parametrize("order", [1, -1])
def test_columns_need_no_relation(tables: tuple[str, ...], order: int) -> None:
    select = f"SELECT STREAM uname, wname, xname FROM s, {', '.join(tables)} WHERE "
    bare, qualified = (" AND ".join(each[side] for each in CONDITIONS[::order]) for side in (0, 1))
    assert plan(select + bare) == plan(select + qualified)


def test_a_join_with_on_beside_a_list() -> None:
    select = "SELECT STREAM uname, wname FROM s, u JOIN w ON {} WHERE {}"
    assert plan(select.format("t1 = wid", "k1 = uid")) == plan(select.format("s.t1 = w.wid", "s.k1 = u.uid"))


def test_a_list_inside_of_a_subquery() -> None:
    inner = "SELECT STREAM k1, t1, wname AS uname FROM s, w, x WHERE t1 = wid AND id = xid"
    assert plan(f"SELECT STREAM q.uname, city FROM ({inner}) AS q, u WHERE k1 = uid")


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("SELECT STREAM uname FROM s, u", "ON s.id = u.uid"),
        ("SELECT STREAM uname FROM s, u, w WHERE k1 = uid", "ON s.id = w.wid"),
        ("SELECT u.uname FROM u, w", "ON u.uid = w.wid"),
    ],
)
def test_the_hint_names_columns_that_are_there(sql: str, hint: str) -> None:
    with pytest.raises(CompileError) as refused:
        plan(sql)
    (finding,) = refused.value.diagnostics
    assert (finding.code, finding.hint) == ("J015", hint)


def test_a_column_of_two_relations_is_ambiguous() -> None:
    with pytest.raises(CompileError) as refused:
        plan("SELECT STREAM uname FROM s, u, w WHERE k1 = uid AND t1 = wid AND city = 'Rome'")
    assert [each.code for each in refused.value.diagnostics] == ["N002"]


@pytest.mark.parametrize(
    "form",
    ["CROSS JOIN UNNEST(list) AS q(e) CROSS JOIN UNNEST(list) AS r(f)", ", UNNEST(list) AS q(e), UNNEST(list) AS r(f)"],
)
def test_a_condition_compares_elements_of_two_lists(form: str) -> None:
    select = "SELECT STREAM e, f FROM (SELECT STREAM id, ARRAY(1, 2) AS list FROM s) AS l {} WHERE {}"
    assert plan(select.format(form, "e < f AND id > 1")) == plan(select.format(form, "q.e < r.f AND l.id > 1"))
