"""The number of partitions of a join's state: from the SQL into the query, the job, the checkpoint."""

from __future__ import annotations

import pytest

from penstock.codegen import spark_text, write_job
from penstock.codegen.program import PARTITIONS_SETTING, STORE_SETTING, Program
from penstock.compilation import compile

STREAM = """CREATE STREAM {name} (k BIGINT KEY, v BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - 10 SEC)
WITH (connector = 'files', path = 'data/{name}', format = 'json'{partitions});
"""
JOIN = """CREATE STREAM {out} AS SELECT STREAM a.k, a.v, b.v AS w, a.time FROM {a} a JOIN {b} b
ON a.k = b.k AND b.time BETWEEN a.time AND a.time + 5 MIN;
"""


def program(*statements: str, **counts: int | None) -> Program:
    """Statements over streams with these numbers of partitions."""
    places = {name: "" if count is None else f", partitions = {count}" for name, count in counts.items()}
    return compile("".join([*(STREAM.format(name=n, partitions=p) for n, p in places.items()), *statements])).program


def joined(out: str, a: str, b: str) -> str:
    return JOIN.format(out=out, a=a, b=b)


def state_partitions(made: Program) -> dict[str, int | None]:
    return {query.name: query.partitions for query in made.queries}


def test_each_join_has_the_number_of_its_streams() -> None:
    made = program(
        joined("x", "a", "b"), joined("y", "c", "b2"), joined("z", "c", "d"), a=8, b=8, c=None, b2=16, d=None
    )
    assert state_partitions(made) == {"x": 8, "y": 16, "z": 4}


def test_a_query_without_state_has_no_partitions() -> None:
    (query,) = program("SELECT STREAM k FROM a PARTITION BY v INTO 7 PARTITIONS;", a=8).queries
    assert (query.partitions, query.state_settings) == (None, ())


def test_other_operators_have_that_of_the_setting() -> None:
    made = program("CREATE TABLE t AS SELECT k, COUNT(*) AS n FROM a GROUP BY k;", a=8)
    assert state_partitions(made) == {"t": 4}


def test_joins_over_joins_each_have_their_own() -> None:
    rekeyed = "(SELECT STREAM a.k, b.v, a.time FROM a JOIN b ON a.k = b.k AND b.time BETWEEN a.time AND a.time + 1 MIN"
    sql = f"""SELECT STREAM x.k FROM {rekeyed} PARTITION BY v) x JOIN c
    ON x.v = c.k AND c.time BETWEEN x.time AND x.time + 1 MIN;"""
    made = program(sql, a=8, b=8, c=16)
    assert state_partitions(made) == {"query_intermediate1": 8, "query": 16}


def test_a_join_re_keyed_by_the_setting_keeps_its_times() -> None:
    sql = """CREATE STREAM x AS SELECT STREAM a.k, b.time FROM a JOIN b ON a.k = b.k AND b.time BETWEEN a.time
    AND a.time + 1 MIN JOIN c ON a.k = c.k AND c.time BETWEEN a.time AND a.time + 5 MIN;
    SELECT STREAM k, COUNT(*) AS n, window_end FROM x GROUP BY k, TUMBLE(time, 1 HOUR);"""

    def behind(*before: str, **counts: int | None) -> list[int | None]:
        made = program(*before, sql, **counts)
        return [each.lag for query in made.queries for each in query.watermark_inputs]

    assert behind("SET auto_repartition = ON;", a=8, b=8, c=16) == behind(a=8, b=8, c=8)


def test_the_session_is_told_before_the_query_starts() -> None:
    (query,) = program(joined("x", "a", "b"), a=8, b=8).queries
    assert dict(query.state_settings)[PARTITIONS_SETTING] == "8"
    assert STORE_SETTING in dict(query.state_settings)


def test_another_number_is_another_query_and_the_same_is_not() -> None:
    def fingerprint(a: int | None, b: int | None, *before: str) -> str:
        return program(joined("x", "a", "b"), a=a, b=b).queries[0].fingerprint

    assert fingerprint(8, 8) == fingerprint(8, None) == fingerprint(None, 8)
    assert fingerprint(8, 8) != fingerprint(16, 16)
    assert fingerprint(4, 4) == fingerprint(None, None)


@pytest.mark.parametrize(("count", "told"), [(8, "in 8 partitions"), (4, ""), (None, "")])
def test_it_is_told_where_it_differs(count: int | None, told: str) -> None:
    made = program(joined("x", "a", "b"), a=count, b=count)
    assert spark_text(made).count(told or " partitions") == bool(told)
    assert f"partitions={count or 4}" in write_job(made)["job.py"]
