"""What becomes of each row that is read: rejected, late, filtered or used."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.codegen import lower, spark_text
from penstock.codegen.program import View
from penstock.codegen.sql.printing import print_inline
from penstock.codegen.sql.row_forms import is_delete
from penstock.codegen.sql.trees import column
from penstock.compilation import compile
from penstock.planner.plan import (
    DEFAULTS,
    BoundEnd,
    Column,
    Emission,
    Hop,
    JoinType,
    Node,
    Settings,
    Sink,
    StateStore,
    Tumble,
)
from penstock.planner.plan.scan import DELETES
from penstock.planner.types import BIGINT, STRING, TIMESTAMP
from tests.codegen.plans import (
    MINUTE,
    aggregate,
    grouped,
    item,
    joined,
    project,
    query,
    scan,
    union,
    where,
    windowed,
)
from tests.codegen.running import Running, at

K = item("k", "k", STRING)


def row(id_: str, minute: float, v: int | None, k: str = "a") -> dict[str, object]:
    return {"id": id_, "k": k, "time": at(minute), "v": v}


@pytest.mark.spark
def test_unsound_rows_are_set_aside_and_counted(spark: SparkSession, tmp_path: Path) -> None:
    running = Running(spark, query(where(scan(), "v > 1")), tmp_path)
    future = (datetime.now(UTC) + timedelta(hours=2)).isoformat()
    soon = (datetime.now(UTC) + timedelta(minutes=30)).isoformat()
    rows = [row("1", 0, 1), row("2", -90, 2), '{"id": "3", "v": "many"}', '{"id": "4", "v"', {"id": "5", "v": 9}]
    running.push(
        orders=[*rows, {"id": "6", "time": future, "v": 9}, {"id": "7", "time": soon, "v": 9}, row("8", 0, None)]
    )
    assert sorted(each[0] for each in running.rows) == ["2", "7"]
    assert running.counts == {"in:orders": 8, "rejected:orders": 4, "filtered:orders": 2, "used:orders": 2}
    rejected = running.rejected("orders")
    assert [reason for reason, _ in rejected] == [
        "event time more than an hour after arrival",
        "malformed record",
        "malformed record",
        "no event time",
    ]
    assert [record for _, record in rejected[1:]] == [rows[2], rows[3], '{"id":"5","v":9}']


@pytest.mark.spark
def test_without_a_watermark_any_time_will_do(spark: SparkSession, tmp_path: Path) -> None:
    running = Running(spark, query(scan(delay=None)), tmp_path)
    running.push(orders=[{"id": "1"}, {"id": "2", "time": "2999-01-01T00:00:00Z"}, "nonsense"])
    assert sorted(each[0] for each in running.rows) == ["1", "2"]
    assert running.counts == {"in:orders": 3, "rejected:orders": 1, "used:orders": 2}


@pytest.mark.spark
def test_a_row_is_used_if_any_way_takes_it(spark: SparkSession, tmp_path: Path) -> None:
    orders = scan()
    doubled = project(orders, item("id", "id", STRING), item("v", "v * 2", BIGINT))
    ids = project(orders, item("id", "id", STRING), item("v", "v", BIGINT))
    running = Running(spark, query(where(union(where(doubled, "v > 4"), ids), "v < 8")), tmp_path)
    running.push(orders=[row("1", 0, 1), row("2", 0, 3), row("3", 0, 8), row("4", 0, None)])
    assert running.rows == [("1", 1), ("2", 3), ("2", 6)]
    assert running.counts == {"in:orders": 4, "rejected:orders": 0, "filtered:orders": 2, "used:orders": 2}


def metrics(root: Node) -> dict[str, str]:
    (lowered,) = lower([query(root)]).queries
    return {metric.name: metric.sql for view in lowered.views if isinstance(view, View) for metric in view.metrics}


def test_filters_above_a_stateful_operator_filter_no_input() -> None:
    counted = windowed(where(scan(), "v > 1"), Tumble(MINUTE), aggregate("n", "COUNT"), keys=[K])
    assert metrics(where(counted, "n > 7")) == metrics(counted)
    assert metrics(counted)["filtered:orders"] == (
        "COUNT(CASE WHEN `_late` IS NOT DISTINCT FROM FALSE AND NOT COALESCE(`v` > 1, FALSE) THEN 1 END)"
    )


def test_a_condition_keeps_its_meaning_on_its_way_down() -> None:
    # x is a lambda's parameter in the filter, and a column of what the projection computes.
    columns = (Column("x", BIGINT), Column("time", TIMESTAMP))
    below = project(scan(columns=columns, delay=None), item("y", "x + 1", BIGINT))
    found = metrics(where(below, "ANY_OF(y, x -> x = y)"))["used:orders"]
    assert found == "COUNT(CASE WHEN `_reason` IS NULL AND ANY_OF(`x` + 1, `x_` -> `x_` = `x` + 1) THEN 1 END)"


def test_a_shared_relation_is_made_once() -> None:
    big = where(scan(), "v > 1")
    again = where(scan(), "v > 1")
    (lowered,) = lower([query(union(big, again))]).queries
    assert [view.name for view in lowered.views] == ["q_r0_read", "q_r0", "q_r1", "q_r2"]
    assert [source.view for source in lowered.inputs] == ["q_r0_raw"]
    assert metrics(union(where(scan(), "k = 'a'"), where(scan(), "k = 'A'")))["used:orders"] == (
        "COUNT(CASE WHEN `_reason` IS NULL AND (`k` = 'A' OR `k` = 'a') THEN 1 END)"
    )


def fingerprints(*roots: Node, settings: Settings = DEFAULTS) -> list[str]:
    """Those of queries that write to files."""
    files = Sink("q", "files", (("path", "out"), ("format", "json")))
    return [each.fingerprint for each in lower([query(root, sink=files) for root in roots], settings).queries]


def test_a_fingerprint_is_that_of_the_query() -> None:
    counted = windowed(where(scan(), "v > 1"), Tumble(MINUTE), aggregate("n", "COUNT"), keys=[K])
    others = [
        where(counted, "n > 2"),
        project(counted, item("m", "n + 1", BIGINT)),
        windowed(where(scan(), "v > 2"), Tumble(MINUTE), aggregate("n", "COUNT"), keys=[K]),
        windowed(where(scan(), "v > 1"), Hop(MINUTE, 2 * MINUTE), aggregate("n", "COUNT"), keys=[K]),
        windowed(where(scan(), "v > 1"), Tumble(MINUTE), aggregate("n", "SUM", "v"), keys=[K]),
        windowed(where(scan(delay=MINUTE), "v > 1"), Tumble(MINUTE), aggregate("n", "COUNT"), keys=[K]),
        windowed(where(scan(path="elsewhere"), "v > 1"), Tumble(MINUTE), aggregate("n", "COUNT"), keys=[K]),
        grouped(where(scan(), "v > 1"), aggregate("n", "COUNT"), keys=[K]),
    ]
    settings = Settings(state_partitions=5), Settings(state_store=StateStore.ROCKSDB)
    changed = [each for other in settings for each in fingerprints(counted, settings=other)]
    assert len({*fingerprints(counted, *others), *changed}) == len(others) + 3
    stateless = [scan(), where(scan(), "v > 1"), project(scan(), K)]
    assert len(set(fingerprints(*stateless))) == len(stateless)
    assert fingerprints(scan()) == fingerprints(scan(), settings=Settings(state_partitions=5))


def test_a_fingerprint_is_the_same_in_every_process() -> None:
    counted = windowed(scan(), Tumble(MINUTE), aggregate("n", "COUNT"), keys=[K])
    assert fingerprints(counted) == [FINGERPRINT]


FINGERPRINT = "d046fab1df2a04fbfb14f2c5a58c85fdca480a55272d550f30dddc6436ed9d40"


def test_names_are_identifiers_and_differ() -> None:
    names = ["a b", "a-b", "A_B", "1", "a_b"]
    program = lower([query(scan(), name) for name in names])
    assert [each.name for each in program.queries] == ["a_b", "a_b_2", "A_B_3", "_1", "a_b_4"]


def test_the_text_shows_settings_sources_and_views() -> None:
    text = spark_text(lower([query(where(scan(delay=None), "v > 1"), key=("id",))]))
    assert "settings\n  spark.sql.session.timeZone = UTC\n" in text
    assert "query q: append rows of q_r1 to q (memory), newest row per (id)\n" in text
    assert "source q_r0_raw: orders (files)\n" in text
    assert "  view q_r1:\n    SELECT\n      `id`,\n      `k`,\n      `time`,\n      `v`\n    FROM `q_r0`\n" in text


def test_a_join_prints_its_bound_as_spark_knows_it() -> None:
    plan = joined(JoinType.ANTI, scan("o"), scan("p"), lower=BoundEnd(-90_000, True), upper=BoundEnd(0, False))
    (lowered,) = lower([query(plan)]).queries
    last = lowered.views[-2]
    assert isinstance(last, View)
    bound = "`_right_time` >= `_left_time` - INTERVAL '90' SECOND\n  AND `_right_time` <= `_left_time`"
    assert f"\n  AND NOT `l.k#2` IS NULL\n  AND {bound}\n  AND (" in last.sql
    exact = [part for part in last.sql.split("\n  AND (") if "UNIX_MICROS(`r.time#7`) < 0" in part]
    assert [part.partition(" OR")[0].strip() for part in exact] == [
        "`r.time#7` >= `l.time#3` - INTERVAL '90' SECOND",
        "`r.time#7` < `l.time#3`",
    ]
    assert last.sql.endswith("\nWHERE\n  `r.time#7` IS NULL")


def test_what_spark_can_not_run_is_a_defect() -> None:
    table = windowed(scan(), Tumble(MINUTE), aggregate("n", "COUNT"), emission=Emission.CHANGES)
    with pytest.raises(AssertionError, match="final rows"):
        lower([query(table)])
    with pytest.raises(AssertionError, match="no watermark"):
        lower([query(windowed(scan(delay=None), Tumble(MINUTE), aggregate("n", "COUNT")))])


def test_a_fingerprint_knows_what_metadata_a_column_has() -> None:
    def fingerprint(key: str) -> str:
        place = "WITH (connector = 'files', path = 'in', format = 'json')"
        made = f"CREATE STREAM s (id BIGINT, f STRING METADATA FROM '{key}') {place}; SELECT STREAM id, f FROM s;"
        (query,) = compile(made).program.queries
        return query.fingerprint

    assert fingerprint("file.name") != fingerprint("file.path")


OPERATIONS = ["delete", "Delete", "DELETE", "dElEtE", "d", "D", "-d", "-D", "upsert", "dele", "deletes", "", " d", "d "]
OTHER_LETTERS = ["\uff24", "d\u00e9lete", "DELET\u0118", "\u010elete", "\u212a", "+d", "--d", "DD", "\U0001d403"]


@pytest.mark.spark
def test_operations_that_delete_are_told_in_letters_of_any_case(spark: SparkSession) -> None:
    texts = [*OPERATIONS, *OTHER_LETTERS, None]
    rows = spark.createDataFrame([(each,) for each in texts], "op STRING")
    told = rows.selectExpr(print_inline(is_delete(column("op"))) + " AS deletes").collect()
    expected = [None if each is None else each.lower() in DELETES for each in texts]
    assert [each.deletes for each in told] == expected
    assert sum(map(bool, expected)) == 8
