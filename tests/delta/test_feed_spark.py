"""Queries that follow tables of Delta Lake, whose versions delta-rs writes."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

import penstock
from penstock.runtime.failure.errors import RunError
from penstock.runtime.runtime_session import RuntimeSession
from tests.cluster.servers import wait_until
from tests.delta.lakes import held, read_by_hand, rows_of
from tests.e2e.shell import ENVIRONMENT, LOCAL, PENSTOCK, call

pytestmark = pytest.mark.spark

KILLS = min(int(os.environ.get("PENSTOCK_TABLE_KILLS", "4")), 10)
HISTORIES = min(2 * int(os.environ.get("PENSTOCK_TABLE_HISTORIES", "1")), 30)
FEED = {"delta.enableChangeDataFeed": "true"}
COLUMNS = "k BIGINT{key}, v BIGINT, s STRING"
TABLE = """
CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT, s STRING) WITH (connector = 'delta', path = '{folder}/t'{more});
CREATE TABLE sums WITH (connector = 'delta', path = '{folder}/sums', create = 'if_missing') AS
  SELECT s, SUM(v) AS n, COUNT(*) AS c FROM t GROUP BY s;
"""
STREAM = """
CREATE STREAM t (k BIGINT, v BIGINT, s STRING, at BIGINT METADATA FROM 'version')
  WITH (connector = 'delta', path = '{folder}/t'{more});
CREATE STREAM copied WITH (connector = 'delta', path = '{folder}/copied', create = 'if_missing') AS
  SELECT STREAM k, v, s, at FROM t;
"""
Row = tuple[int | None, int | None, str | None]


def write(folder: Path, *rows: Row, mode: Any = "append", **given: Any) -> None:
    write_deltalake(str(folder / "t"), rows_of(*rows), mode=mode, configuration=FEED, **given)


def run(spark: SparkSession, folder: Path, text: str, more: str = "", drain: bool = False) -> Any:
    """Runs a script to the end of its input. Returns the reports of its queries."""
    program = penstock.compile(text.format(folder=folder, more=more)).program
    with RuntimeSession(spark, str(folder / "state")) as session:
        return session.run_once(program, drain=drain)


def refuse(spark: SparkSession, folder: Path, text: str, more: str = "") -> str:
    with pytest.raises(RunError) as refusal:
        run(spark, folder, text, more)
    (finding,) = refusal.value.diagnostics
    return f"{finding.code}: {finding.message}"


def change(folder: Path, draw: random.Random) -> None:
    """One more version: rows that are added, merged, updated, deleted or replaced, or files that are compacted."""
    table = DeltaTable(str(folder / "t"))
    keys = sorted({row[0] for row in held(folder / "t")})
    free = [key for key in range(12) if key not in keys]

    def make(key: int) -> Row:
        return key, draw.randint(-9, 9), draw.choice(["a", "b", None])

    match draw.choice(["append", "merge", "merge", "delete", "move", "update", "replace", "compact"]):
        case "append":
            write(folder, *map(make, draw.sample(free, min(len(free), 3))))
        case "merge":
            source = rows_of(*map(make, draw.sample(range(12), 4)))
            merged = table.merge(source, "s.k = t.k", source_alias="s", target_alias="t")
            merged.when_matched_update_all().when_not_matched_insert_all().execute()
        case "delete":
            table.delete(f"k % 5 = {draw.randrange(5)}")
        case "move" if keys and free:
            table.update(updates={"k": str(draw.choice(free))}, predicate=f"k = {draw.choice(keys)}")
        case "update":
            table.update(updates={"v": "v + 1"}, predicate=f"k > {draw.randrange(12)}")
        case "replace":
            write(folder, *map(make, draw.sample(range(12), 5)), mode="overwrite")
        case _:
            table.optimize.compact()


@pytest.mark.draws
@pytest.mark.parametrize("seed", range(HISTORIES))
def test_a_result_follows_the_table(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    """Whatever a version does, and wherever a run ends, the result is that of the newest version."""
    draw = random.Random(seed)
    write(tmp_path, (1, 1, "a"), (2, 2, None), (3, 3, "a"))
    more = draw.choice(["", ", starting = 'earliest', versions_per_batch = 2"])
    for _ in range(4):
        run(spark, tmp_path, TABLE, more)
        sums: dict[str | None, list[int]] = {}
        for _, v, s in held(tmp_path / "t"):
            found = sums.setdefault(s, [0, 0])
            found[0] += v
            found[1] += 1
        left = {row["s"]: [row["n"], row["c"]] for row in read_by_hand(tmp_path / "sums")}
        assert left == sums
        for _ in range(draw.randint(0, 5)):
            change(tmp_path, draw)


def copied(folder: Path) -> Counter[tuple[Any, ...]]:
    return Counter((row["k"], row["at"]) for row in read_by_hand(folder / "copied"))


def test_a_stream_has_each_new_row_once(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, (1, 1, "a"), (1, 1, "a"))
    write(tmp_path, (2, 2, "b"))
    run(spark, tmp_path, STREAM)
    assert copied(tmp_path) == Counter({(1, 1): 2, (2, 1): 1})
    DeltaTable(str(tmp_path / "t")).optimize.compact()
    write(tmp_path, (3, 3, None))
    (report,) = run(spark, tmp_path, STREAM)
    assert [(each.name, each.read, each.used) for each in report.inputs] == [("t", 1, 1)]
    assert copied(tmp_path) == Counter({(1, 1): 2, (2, 1): 1, (3, 3): 1})
    (report,) = run(spark, tmp_path, STREAM)
    assert report.out == 0


@pytest.mark.parametrize(
    ("starting", "found"),
    [
        ("earliest", {(1, 0): 1, (2, 1): 1, (3, 2): 1, (4, 3): 1}),
        ("newest", {(1, 2): 1, (2, 2): 1, (3, 2): 1, (4, 3): 1}),
        ("latest", {(4, 3): 1}),
        ("1", {(2, 1): 1, (3, 2): 1, (4, 3): 1}),
    ],
)
def test_where_a_query_begins(spark: SparkSession, tmp_path: Path, starting: str, found: dict[Any, int]) -> None:
    for number in range(1, 4):
        write(tmp_path, (number, 0, "a"))
    run(spark, tmp_path, STREAM, f", starting = '{starting}'")
    write(tmp_path, (4, 0, "a"))
    run(spark, tmp_path, STREAM, f", starting = '{starting}'")
    assert copied(tmp_path) == Counter(found)


def test_a_version_that_is_not_there_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, (1, 1, "a"))
    assert "has no version 7: its newest is 0" in refuse(spark, tmp_path, STREAM, ", starting = '7'")


WINDOWS = """
CREATE STREAM t (k BIGINT, v BIGINT, at TIMESTAMP METADATA FROM 'timestamp', time AS TIMESTAMP_SECONDS(v),
  WATERMARK FOR time AS time - INTERVAL '10' SECOND) WITH (connector = 'delta', path = '{folder}/t'{more});
CREATE STREAM counts WITH (connector = 'delta', path = '{folder}/counts', create = 'if_missing') AS
  SELECT STREAM k, window_start, COUNT(*) AS n, COUNT(at) AS known FROM t GROUP BY k, TUMBLE(time, INTERVAL '1' MINUTE);
"""


def test_windows_over_versions(spark: SparkSession, tmp_path: Path) -> None:
    """Each version is a micro-batch. In the last run all windows are closed."""
    rows = [(number % 3, 7 * number, None) for number in range(40)]
    for begin in range(0, 40, 10):
        write(tmp_path, *rows[begin : begin + 10])
    more = ", starting = 'earliest', versions_per_batch = 1"
    (report,) = run(spark, tmp_path, WINDOWS, more)
    assert [(each.read, each.late, each.used) for each in report.inputs] == [(40, 0, 40)]
    run(spark, tmp_path, WINDOWS, more, drain=True)
    wanted = Counter((k, v // 60) for k, v, _ in rows)
    found = read_by_hand(tmp_path / "counts")
    assert {(row["k"], row["window_start"].timestamp() // 60): row["n"] for row in found} == wanted
    assert len(found) == len(wanted)
    assert all(row["known"] == row["n"] for row in found)


def test_a_stream_is_refused_whose_rows_are_deleted(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, (1, 1, "a"))
    run(spark, tmp_path, STREAM)
    DeltaTable(str(tmp_path / "t")).delete("k = 1")
    told = refuse(spark, tmp_path, STREAM)
    assert "R066" in told
    assert "version 1" in told


@pytest.mark.parametrize("more", ["", ", starting = 'earliest'"])
def test_two_rows_of_a_key_in_a_version_are_refused(spark: SparkSession, tmp_path: Path, more: str) -> None:
    write(tmp_path, (1, 1, "a"), (1, 2, "b"))
    assert "several rows of one key" in refuse(spark, tmp_path, TABLE, more)


def test_rows_without_a_key_are_rejected(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, (None, 1, "a"), (None, 2, "a"), (3, 3, "a"))
    reports = run(spark, tmp_path, TABLE)
    assert [(each.read, each.rejected) for each in reports[0].inputs] == [(3, 2)]
    assert read_by_hand(tmp_path / "sums") == [{"s": "a", "n": 3, "c": 1}]


def test_a_table_without_a_feed_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    write_deltalake(str(tmp_path / "t"), rows_of((1, 1, "a")))
    assert "keeps no feed of its changes" in refuse(spark, tmp_path, STREAM)


def test_a_table_that_was_made_anew_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, (1, 1, "a"))
    run(spark, tmp_path, STREAM)
    (tmp_path / "t").rename(tmp_path / "old")
    write(tmp_path, (1, 1, "a"))
    assert "was made anew, or is another one" in refuse(spark, tmp_path, STREAM)


def test_changes_that_are_gone_are_told(spark: SparkSession, tmp_path: Path) -> None:
    for number in range(4):
        write(tmp_path, (number, 0, "a"))
        if number == 0:
            run(spark, tmp_path, STREAM)
    DeltaTable(str(tmp_path / "t")).create_checkpoint()
    (tmp_path / "t" / "_delta_log" / f"{1:020}.json").unlink()
    assert "R066" in refuse(spark, tmp_path, STREAM)


KILLED = """
CREATE STREAM t (k BIGINT, v BIGINT, s STRING)
  WITH (connector = 'delta', path = 't', starting = 'earliest', versions_per_batch = 2);
CREATE STREAM copied WITH (connector = 'delta', path = 'copied', create = 'if_missing') AS SELECT STREAM k, v, s FROM t;
CREATE TABLE sums WITH (connector = 'delta', path = 'sums', create = 'if_missing') AS
  SELECT s, SUM(v) AS n FROM t GROUP BY s;
"""


@pytest.mark.campaign
def test_killed_runs_read_each_change_once(tmp_path: Path) -> None:
    """Killed after a random number of commits, again and again, while the table gets more versions."""
    draw = random.Random(5)
    (tmp_path / "script.sql").write_text(KILLED)
    command = [*PENSTOCK, "run", "--once", "--checkpoint", "state", *LOCAL, "script.sql"]
    written = 0
    for killed in range(1, KILLS + 1):
        for _ in range(12):
            write(tmp_path, *((written + number, draw.randint(-9, 9), draw.choice("ab")) for number in range(5)))
            written += 5
        before = count_commits(tmp_path)
        wanted = before + draw.randint(1, 5)
        with subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT, start_new_session=True) as run:
            wait_until(partial(has_commits, tmp_path, wanted), 240, f"{wanted} commits")
            time.sleep(draw.uniform(0, 0.3))
            os.killpg(run.pid, signal.SIGKILL)
        assert count_commits(tmp_path) > before, killed
    ended = call(tmp_path, *command)
    assert ended.returncode == 0, ended.stderr
    rows = read_by_hand(tmp_path / "t")
    assert len(rows) == written
    assert sorted(read_by_hand(tmp_path / "copied"), key=repr) == sorted(rows, key=repr)
    sums = Counter[str]()
    for row in rows:
        sums[row["s"]] += row["v"]
    assert {row["s"]: row["n"] for row in read_by_hand(tmp_path / "sums")} == dict(sums)


def has_commits(folder: Path, wanted: int) -> bool:
    return count_commits(folder) >= wanted


def count_commits(folder: Path) -> int:
    return sum(1 for name in ("copied", "sums") for _ in (folder / name / "_delta_log").glob("*.json"))


CHAIN = """
CREATE STREAM ops (k BIGINT, v BIGINT) WITH (connector = 'files', path = '{folder}/ops', format = 'json');
CREATE STREAM kept WITH (connector = 'delta', path = '{folder}/kept', create = 'if_missing') AS
  SELECT STREAM k, v FROM ops WHERE v > 0;
CREATE TABLE sums WITH (connector = 'delta', path = '{folder}/sums', create = 'if_missing', change_feed = TRUE) AS
  SELECT k, SUM(v) AS n FROM kept GROUP BY k;
CREATE TABLE counts WITH (connector = 'delta', path = '{folder}/counts', create = 'if_missing') AS
  SELECT n, COUNT(*) AS c FROM sums GROUP BY n;
"""
READ_BACK = """
CREATE STREAM kept (k BIGINT, v BIGINT) WITH (connector = 'delta', path = '{folder}/kept'{more});
CREATE TABLE sums (k BIGINT PRIMARY KEY, n BIGINT) WITH (connector = 'delta', path = '{folder}/sums'{more});
CREATE STREAM again WITH (connector = 'delta', path = '{folder}/again', create = 'if_missing') AS
  SELECT STREAM k, v FROM kept;
CREATE TABLE counted WITH (connector = 'delta', path = '{folder}/counted', create = 'if_missing') AS
  SELECT n, COUNT(*) AS c FROM sums GROUP BY n;
"""


def test_what_queries_write_can_be_followed(spark: SparkSession, tmp_path: Path) -> None:
    """Tables that are made for streams keep a feed, and others where that is asked for."""

    def read(name: str) -> list[dict[str, Any]]:
        return sorted(read_by_hand(tmp_path / name), key=repr)

    (tmp_path / "ops").mkdir()
    for number in range(3):
        ops = [{"k": k, "v": (k * 5 + number * 3) % 7 - 1} for k in range(4)]
        (tmp_path / "ops" / f"{number}.json").write_text("".join(json.dumps(op) + "\n" for op in ops))
        run(spark, tmp_path, CHAIN)
        run(spark, tmp_path, READ_BACK, ", starting = 'earliest'")
        assert read("again") == read("kept")
        assert read("counted") == read("counts")
    assert len(read("again")) > len(read("counted")) > 1
