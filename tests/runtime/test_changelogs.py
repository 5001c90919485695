"""Changelogs in files: which record is the newest, which ones are set aside, and changes written and read again."""

from __future__ import annotations

import json
import math
import os
import time
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path
from statistics import pvariance, variance
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.runtime import QueryReport, RuntimeSession

pytestmark = pytest.mark.spark

FIRST = 1_750_000_000
"""When the oldest file was written, in seconds."""


def table(folder: Path, name: str, format: str = "json", more: str = "", columns: str = "") -> str:
    return (
        f"CREATE TABLE {name} (id BIGINT PRIMARY KEY, v BIGINT{columns}) "
        f"WITH (connector = 'files', path = '{folder}/{name}', format = '{format}', operation = 'op'{more});\n"
    )


def run(session: RuntimeSession, sql: str) -> list[QueryReport]:
    return session.run_once(penstock.compile("SET state_partitions = 2;" + sql).program, drain=False)


def put(path: Path, rows: list[dict[str, Any]], written: int = FIRST) -> None:
    """Writes rows to a file in the format that its name ends with."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        names = {"id": pa.int64(), "v": pa.int64(), "op": pa.string()}
        columns = {name: pa.array([row.get(name) for row in rows], type_) for name, type_ in names.items()}
        pq.write_table(pa.table(columns), path, row_group_size=7)
    elif path.suffix == ".csv":
        cells = ([str(row.get(name, "")) for name in ("id", "v", "op")] for row in rows)
        path.write_text("".join(",".join(line) + "\n" for line in [["id", "v", "op"], *cells]))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    os.utime(path, (written, written))


@pytest.mark.parametrize("format", ["json", "csv", "parquet"])
def test_the_last_line_is_the_newest_however_files_are_split(format: str, spark: SparkSession, tmp_path: Path) -> None:
    spark.conf.set("spark.sql.files.maxPartitionBytes", 300)
    rows = [{"id": n % 5, "v": n, "op": "delete" if n == 97 else ""} for n in range(100)]
    put(tmp_path / "t" / f"b.{format}", rows)
    put(tmp_path / "t" / f"a.{format}", [{"id": 4, "v": -1}], FIRST)  # of the same time: its name comes before
    put(tmp_path / "t" / f"z.{format}", [{"id": 1, "v": -2}], FIRST - 1)
    put(tmp_path / "t" / f"c.{format}", [{"id": 3, "v": -3}], FIRST + 1)
    with RuntimeSession(spark) as session:
        run(session, table(tmp_path, "t", format) + "CREATE TABLE r AS SELECT * FROM t")
        assert {row["id"]: row["v"] for row in session.rows("r")} == {0: 95, 1: 96, 3: -3, 4: 99}


def test_an_older_file_that_comes_later_changes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    sql = table(tmp_path, "t") + "CREATE TABLE r AS SELECT * FROM t"
    put(tmp_path / "t" / "1.json", [{"id": 1, "v": 1}, {"id": 2, "v": 2}, {"id": 3, "v": 3}], FIRST + 10)
    put(tmp_path / "t" / "2.json", [{"id": 2, "op": "delete"}], FIRST + 20)
    with RuntimeSession(spark, checkpoint=str(tmp_path / "state")) as session:
        assert [report.out for report in run(session, sql)] == [2]
        put(tmp_path / "t" / "0.json", [{"id": id_, "v": 0} for id_ in (1, 2, 4)], FIRST)
        assert [report.out for report in run(session, sql)] == [1]
        assert {row["id"]: row["v"] for row in session.rows("r")} == {1: 1, 3: 3, 4: 0}


def test_records_without_a_key_or_a_sequence_are_set_aside(spark: SparkSession, tmp_path: Path) -> None:
    columns, more = ", seq INT, tags MAP<STRING, BIGINT>", ", sequence = 'seq'"
    sql = table(tmp_path, "t", more=more, columns=columns) + "CREATE TABLE r AS SELECT id, v, tags FROM t WHERE v > 0"
    records: list[dict[str, Any]] = [
        {"id": 1, "v": 1, "seq": 2, "tags": {"a": 1}},
        {"id": 1, "v": 2, "seq": 1},
        {"v": 3, "seq": 9},
        {"id": 1, "v": 4},
        {"id": 2, "v": 0, "seq": 1},
        {"id": 3, "v": "much", "seq": 1},
        {"id": 4, "op": "-D", "seq": 1},
    ]
    put(tmp_path / "t" / "1.json", records)
    with RuntimeSession(spark) as session:
        (report,) = run(session, sql)
        (read,) = report.inputs
        assert (read.read, read.rejected, read.filtered, read.used, report.out) == (7, 3, 0, 4, 1)
        assert session.rows("r") == [{"id": 1, "v": 1, "tags": {"a": 1}}]
        reasons = sorted(row["reason"] for row in session.rows("r_rejected/t"))
        assert [reasons[0].partition(":")[0], *reasons[1:]] == ["malformed record", "no primary key", "no sequence"]


@pytest.mark.parametrize("format", ["json", "csv", "parquet"])
def test_changes_in_files_are_a_changelog(format: str, spark: SparkSession, tmp_path: Path) -> None:
    written = f"WITH (connector = 'files', path = '{tmp_path}/u', format = '{format}', operation = 'op')"
    sql = table(tmp_path, "t", more=", files_per_batch = 1") + f"CREATE TABLE u {written} AS SELECT id, v FROM t;"
    files: tuple[list[dict[str, Any]], ...] = (
        [{"id": 1, "v": 1}, {"id": 2, "v": 2}],
        [{"id": 1, "v": 5}, {"id": 2, "op": "d"}, {"id": 9, "op": "d"}],
        [{"id": 2, "v": None}, {"id": 1, "v": 5}],
    )
    for number, rows in enumerate(files):
        put(tmp_path / "t" / f"{number}.json", rows, FIRST + number)
    with RuntimeSession(spark, checkpoint=str(tmp_path / "state")) as session:
        (report,) = run(session, sql)
        assert report.out == 5
        run(session, table(tmp_path, "u", format) + "CREATE TABLE r AS SELECT * FROM u")
        assert sorted(session.rows("r"), key=lambda row: int(row["id"])) == [{"id": 1, "v": 5}, {"id": 2, "v": None}]
    read = spark.read.format(format).options(header=True).load(str(tmp_path / "u"))
    assert sorted(row.op for row in read.collect()) == ["delete", "insert", "insert", "insert", "update"]


def test_a_table_joined_with_itself_counts_its_records_once(spark: SparkSession, tmp_path: Path) -> None:
    sql = table(tmp_path, "t") + "CREATE TABLE r AS SELECT a.id, b.v FROM t a JOIN t b ON a.id = b.id"
    put(tmp_path / "t" / "1.json", [{"id": 1, "v": 1}, {"id": 2, "v": 2}, {"id": 2, "op": "delete"}])
    with RuntimeSession(spark) as session:
        (report,) = run(session, sql)
        assert [(each.read, each.used) for each in report.inputs] == [(3, 3)]
        assert session.rows("r") == [{"id": 1, "v": 1}]


RICH = """
CREATE TABLE a (k BIGINT PRIMARY KEY, day DATE PRIMARY KEY, tags MAP<STRING, INT>, parts ARRAY<STRUCT<`x y`: INT>>,
  blob BINARY, at TIMESTAMP, d DOUBLE)
WITH (connector = 'files', path = '{folder}/a', format = 'json', operation = 'op', files_per_batch = 1);
CREATE TABLE b (k INT PRIMARY KEY, day DATE PRIMARY KEY, v STRING)
WITH (connector = 'files', path = '{folder}/b', format = 'json', operation = 'op', files_per_batch = 1);
CREATE TABLE j AS SELECT COALESCE(a.k, b.k) AS k, COALESCE(a.day, b.day) AS day, a.tags, a.parts, a.blob, a.at, a.d, b.v
FROM a FULL JOIN b ON a.k = b.k AND a.day = b.day;
CREATE TABLE n AS SELECT d, at, COUNT(*) AS n, COUNT(parts) AS parts FROM j GROUP BY d, at;
"""


def test_values_and_keys_of_many_types(spark: SparkSession, tmp_path: Path) -> None:
    at = "2024-02-03T04:05:06.789012Z"
    large: dict[str, Any] = {"k": 1 << 40, "day": "2024-01-01", "tags": {"a": 1, "b": None}, "d": 0.0, "at": at}
    small: dict[str, Any] = {"k": 7, "day": "2024-01-02", "parts": [{"x y": 1}, None], "d": -0.0, "at": at}
    files = (
        {"a": [large, small], "b": [{"k": 7, "day": "2024-01-02", "v": "'`\\"}, {"k": 7, "day": "1969-12-31"}]},
        {
            "a": [{**large, "tags": {"a": 2}}, {**small, "blob": "AAE="}],
            "b": [{"k": 7, "day": "1969-12-31", "op": "d"}],
        },
        {"a": [{**large, "op": "delete"}, {**small, "blob": "AAE=", "d": None, "at": None}], "b": []},
    )
    for number, batch in enumerate(files):
        for name, rows in batch.items():
            put(tmp_path / name / f"{number}.json", rows, FIRST + number)
    with RuntimeSession(spark) as session:
        reports = run(session, RICH.format(folder=tmp_path))
        (row,) = session.rows("j")
        assert (row["k"], row["day"], row["v"]) == (7, date(2024, 1, 2), "'`\\")
        assert (row["tags"], row["parts"], row["blob"]) == (None, [{"x y": 1}, None], b"\x00\x01")
        assert session.rows("n") == [{"d": None, "at": None, "n": 1, "parts": 1}]
        # Three rows come, two of them with a partner or none; then two change and one leaves; then one each.
        assert {report.name: report.out for report in reports}["j"] == 3 + 3 + 2


def test_maps_are_equal_whatever_the_order_of_their_entries(spark: SparkSession, tmp_path: Path) -> None:
    columns = ", seen MAP<STRING, ARRAY<STRUCT<at: TIMESTAMP, by: MAP<STRING, DOUBLE>>>>"
    sql = table(tmp_path, "t", more=", files_per_batch = 1", columns=columns)
    sql += "CREATE TABLE r AS SELECT id, seen FROM t"
    at, later = "2024-02-03T04:05:06.789012Z", "2024-02-03T04:05:06.789013Z"

    def seen(at: str, by: dict[str, float | None], swapped: bool = False) -> dict[str, object]:
        entries: list[tuple[str, object]] = [("a", [{"at": at, "by": by}, None]), ("b", None)]
        return dict(reversed(entries) if swapped else entries)

    one: dict[str, float | None] = {"x": 1.5, "y": None}
    other: dict[str, float | None] = {"y": None, "x": 1.5}
    # What comes first, and then again in another order: nothing is sent. Then what differs somewhere, one each.
    first = [seen(at, one) for _ in range(4)]
    again = [seen(at, one), seen(at, other), seen(at, one, swapped=True), seen(at, other, swapped=True)]
    changed = [seen(later, one), seen(at, {"x": 1.5}), seen(at, {"x": 2.5, "y": None}, swapped=True)]
    files: tuple[list[Any], ...] = (first, again, [*changed, None], [*changed, {}])
    for number, values in enumerate(files):
        rows = [{"id": n, "v": 0, "seen": value} for n, value in enumerate(values)]
        put(tmp_path / "t" / f"{number}.json", rows, FIRST + number)
    with RuntimeSession(spark) as session:
        (report,) = run(session, sql)
        assert report.out == 4 + 4 + 1
        assert session.rows("r")[3] == {"id": 3, "seen": {}}


NUMBERS = (
    {"price": 99999999.99, "whole": 2_147_483_647, "big": 9_000_000_000_000_000_000},
    {"price": 99999999.98, "whole": 2_147_483_646, "big": -9_000_000_000_000_000_000},
    {"price": 99999999.98, "whole": 2_147_483_646, "big": 17},
    {"price": -99999999.99, "whole": -2_147_483_648, "big": 9_000_000_000_000_000_000},
    {"price": 0.01, "whole": 0, "big": None},
)


def test_no_digit_is_lost_when_rows_leave_a_group(spark: SparkSession, tmp_path: Path) -> None:
    columns = ", g STRING, price DECIMAL(10, 2), whole INT, big BIGINT"
    sql = table(tmp_path, "t", more=", files_per_batch = 1", columns=columns) + (
        "CREATE TABLE r AS SELECT g, COUNT(*) AS n, SUM(big) AS total, AVG(price) AS mean, VARIANCE(price) AS spread, "
        "STDDEV_POP(whole) AS deviation, VAR_POP(price) FILTER (WHERE whole > 0) AS part FROM t GROUP BY g"
    )
    # Each number comes into every group; then all that are not in `left` move to other groups and back, or are deleted.
    rows = [{"id": n, "g": "abcd"[n % 4], **NUMBERS[n % 5]} for n in range(20)]
    moved = [{**row, "g": "abcd"[(n + 1) % 4]} for n, row in enumerate(rows)]
    gone = [{"id": n, "op": "delete"} if n % 7 == 0 else row for n, row in enumerate(rows)]
    batches: tuple[list[dict[str, Any]], ...] = (rows, moved, [*rows, *moved, *gone])
    for number, records in enumerate(batches):
        put(tmp_path / "t" / f"{number}.json", records, FIRST + number)
    with RuntimeSession(spark) as session:
        run(session, sql)
        found = {row["g"]: row for row in session.rows("r")}
    for group in "abcd":
        left = [row for row in gone if row.get("g") == group]
        prices = [Decimal(str(row["price"])) for row in left]
        wholes = [Fraction(int(str(row["whole"]))) for row in left]
        part = [price for price, whole in zip(prices, wholes, strict=True) if whole > 0]
        row = found[group]
        assert row["n"] == len(left)
        assert row["total"] == sum(int(str(each["big"])) for each in left if each["big"] is not None)
        assert row["mean"] == (sum(prices, Decimal(0)) / len(prices)).quantize(Decimal("0.000001"), ROUND_HALF_UP)
        assert row["spread"] == pytest.approx(float(variance([Fraction(price) for price in prices])), rel=1e-14)
        assert row["deviation"] == pytest.approx(math.sqrt(pvariance(wholes)), rel=1e-14)
        assert row["part"] == pytest.approx(float(pvariance([Fraction(price) for price in part])), rel=1e-14)


def test_changes_flow_while_a_chain_runs(spark: SparkSession, tmp_path: Path) -> None:
    sql = (
        table(tmp_path, "t")
        + table(tmp_path, "u")
        + (
            "CREATE TABLE r AS SELECT v, COUNT(*) AS n FROM "
            "(SELECT t.id AS id, u.v AS v FROM t LEFT JOIN u ON t.id = u.id) q GROUP BY v;"
        )
    )
    put(tmp_path / "t" / "0.json", [{"id": 1}, {"id": 2}, {"id": 3}])
    put(tmp_path / "u" / "0.json", [{"id": 1, "v": 7}])

    def becomes(rows: dict[int | None, int]) -> bool:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if any({row["v"]: row["n"] for row in kept.rows} == rows for kept in session.kept()):
                return True
            time.sleep(0.1)
        return False

    with RuntimeSession(spark) as session:
        session.start(penstock.compile("SET state_partitions = 1;" + sql).program)
        assert becomes({7: 1, None: 2})
        put(tmp_path / "u" / "1.json", [{"id": 2, "v": 7}, {"id": 1, "v": 8}], FIRST + 1)
        assert becomes({7: 1, 8: 1, None: 1})
        put(tmp_path / "t" / "1.json", [{"id": 1, "op": "delete"}, {"id": 3, "op": "delete"}], FIRST + 1)
        assert becomes({7: 1})


FILLED = """CREATE STREAM s (id BIGINT KEY, v BIGINT)
WITH (connector = 'files', path = '{0}/s', format = 'json', partitions = 2);
CREATE STREAM c (id BIGINT KEY) WITH (connector = 'files', path = '{0}/c', format = 'json', partitions = 2);
INSERT INTO counts SELECT id, COUNT(*) AS v FROM s GROUP BY id HAVING COUNT(*) < 3;
INSERT INTO newest SELECT STREAM id, v FROM s;
CREATE STREAM seen AS SELECT STREAM c.id AS id, t.v AS n, u.v AS v
FROM c LEFT JOIN counts t ON c.id = t.id LEFT JOIN newest u ON c.id = u.id;
"""


def test_a_script_reads_the_tables_that_it_fills(spark: SparkSession, tmp_path: Path) -> None:
    declared = table(tmp_path, "counts", "csv") + table(tmp_path, "newest", "parquet")
    with RuntimeSession(spark, checkpoint=str(tmp_path / "checkpoint")) as session:
        put(tmp_path / "s/1.json", [{"id": 1, "v": 10}, {"id": 1, "v": 11}, {"id": 2, "v": 20}, {"id": None, "v": 0}])
        put(tmp_path / "c/1.json", [{"id": 1}, {"id": 2}, {"id": 3}, {"id": None}])
        reports = run(session, declared + FILLED.format(tmp_path))
        assert [each.rejected for report in reports for each in report.inputs if each.name == "newest"] == [1]
        put(tmp_path / "s/2.json", [{"id": 1, "v": 12}, {"id": 3, "v": 30}])
        put(tmp_path / "c/2.json", [{"id": 1}, {"id": 3}])
        run(session, declared + FILLED.format(tmp_path))
        found = [(row["id"], row["n"], row["v"]) for row in session.rows("seen")]
    assert sorted(found[:4], key=str) == [(1, 2, 11), (2, 1, 20), (3, None, None), (None, None, None)]
    assert sorted(found[4:]) == [(1, None, 12), (3, 1, 30)]
