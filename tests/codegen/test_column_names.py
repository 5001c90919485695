"""Names that a script chooses are no part of a fingerprint; all other parts of the SQL are."""

from __future__ import annotations

import pytest

import penstock
from penstock.codegen.fingerprint import fingerprint, leave_numbers_out
from penstock.codegen.program import QueryOutput, SparkQuery, View

OUTPUT = QueryOutput("out", "console", (), ())


def find_fingerprint(sql: str, *numbered: str) -> str:
    return fingerprint("q", [], [], [sql], OUTPUT, None, numbered)


def test_of_numbered_columns_only_the_numbers_count() -> None:
    sql = "SELECT\n  SUM(`a#1`) AS `b#2`\nFROM `q_r0`"
    other = "SELECT SUM(`a long ``name#1`) AS `c#2` FROM `q_r0`"
    assert find_fingerprint(sql, "a#1", "b#2") == find_fingerprint(other, "a long `name#1", "c#2")
    assert find_fingerprint('"a#1"', "a#1") == find_fingerprint('"b#1"', "b#1")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("`a#1`", "`a#2`"),
        ("'a#1'", "'b#1'"),
        ("'`a#1`'", "'`b#1`'"),
        (r"'it\'s `a#1`'", r"'it\'s `b#1`'"),
        (r"'\\' || `a#1` || '`a#1`'", r"'\\' || `b#1` || '`b#1`'"),
        ("`s`.`a#1`", "`s`.`b#1`"),
        ("`x``a#1`", "`x``b#1`"),
        ("`a`", "`b`"),
        ("'a  b'", "'a b'"),
        ("`a  b`", "`a b`"),
        ("`#1`", "`a#1`"),
    ],
)
def test_all_else_counts(one: str, other: str) -> None:
    assert find_fingerprint(one, "a#1", "a#2", "b#1") != find_fingerprint(other, "a#1", "a#2", "b#1")


def test_people_see_the_names_of_the_script() -> None:
    sql = "SELECT\n  SUM(`a``#1`) AS `b#22`, '`c#3`' FROM `q_r0`"
    assert leave_numbers_out(sql) == "SELECT\n  SUM(`a```) AS `b`, '`c#3`' FROM `q_r0`"


def lower(items: str) -> SparkQuery:
    """A query over a stream two of whose columns have names that end in numbers."""
    stream = "CREATE STREAM s (`v#1` INT, `w#1` INT, `w#3` INT, t TIMESTAMP, WATERMARK FOR t AS t) WITH "
    place = "(connector = 'files', path = 's', format = 'json');"
    return penstock.compile(f"{stream}{place} SELECT STREAM {items} FROM s GROUP BY TUMBLE(t, 1 MIN);").program.queries[
        0
    ]


def test_columns_of_files_keep_their_names() -> None:
    """No column gets a number that one of the input has, and the fingerprint has the whole names of these."""
    lowered = lower("SUM(`v#1`) AS `v`, SUM(`w#3`) AS w")
    aggregation, last = (view.sql for view in lowered.views[-2:] if isinstance(view, View))
    assert "SUM(`v#1`) AS `v#2`" in aggregation
    assert "SUM(`w#3`) AS `w#4`" in aggregation
    assert "`v#2` AS `v`" in last
    assert lowered.fingerprint == lower("SUM(`v#1`) AS a, SUM(`w#3`) AS `b#3`").fingerprint
    assert lowered.fingerprint != lower("SUM(`w#1`) AS v, SUM(`w#3`) AS w").fingerprint


def test_the_output_has_the_names_and_the_order_of_the_script() -> None:
    last = lower("SUM(`v#1`) AS `x y`, COUNT(*) AS n, MAX(t) AS `x#1`").views[-1]
    assert isinstance(last, View)
    assert [line.strip(" ,") for line in last.sql.splitlines()[1:4]] == [
        "`x y#2` AS `x y`",
        "`n#4` AS `n`",
        "`x#1#5` AS `x#1`",
    ]
