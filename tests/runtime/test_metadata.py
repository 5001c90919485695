"""METADATA columns hold what the file system says of each file, in every format."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.codegen.program import View
from penstock.compilation import compile
from penstock.evaluator.evaluate import evaluate
from penstock.runtime import RuntimeSession
from penstock.runtime.checkpoint.storage import Storage
from penstock.runtime.connectors.files import FilesSource
from tests.model.rows import assert_same_rows

pytestmark = pytest.mark.spark

COLUMNS = """path STRING METADATA FROM 'file.path' VIRTUAL, name STRING METADATA FROM 'file.name' VIRTUAL,
  size BIGINT METADATA FROM 'file.size' VIRTUAL, modified TIMESTAMP METADATA FROM 'file.modification-time' VIRTUAL"""
NAMES = ("a plain+one", "in", "ä%20b=c")
HOUR = 3_600


def write(folder: Path, format_: str) -> list[dict[str, Any]]:
    """Files of two records each, an hour apart, and the rows that a stream over them has."""
    folder.mkdir(parents=True)
    rows: list[dict[str, Any]] = []
    for number, name in enumerate(NAMES):
        path = folder / f"{name}.{format_}"
        ids = [2 * number, 2 * number + 1]
        if format_ == "parquet":
            pq.write_table(pa.table({"id": pa.array(ids, pa.int64())}), path)
        else:
            lines = [json.dumps({"id": each}) if format_ == "json" else str(each) for each in ids]
            path.write_text("\n".join((["id"] if format_ == "csv" else []) + lines) + "\n")
        moment = 1_700_000_000 + HOUR * number
        os.utime(path, (moment, moment))
        known = {"path": f"file:{path}", "name": path.name, "size": path.stat().st_size}
        modified = datetime.fromtimestamp(moment, UTC).replace(tzinfo=None)
        rows += [{"id": each, **known, "modified": modified} for each in ids]
    return rows


def write_some(folder: Path, chance: Random) -> list[dict[str, Any]]:
    """Files of some records each, in folders and of any times, and the rows that a stream over them has."""
    rows: list[dict[str, Any]] = []
    for number in range(chance.randint(2, 5)):
        path = folder / chance.choice(["", "a b"]) / f"{chance.choice(NAMES)}{number}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        ids = [chance.randrange(100) for _ in range(chance.randint(1, 4))]
        path.write_text("".join(json.dumps({"id": each}) + "\n" for each in ids))
        moment = 1_700_000_000 + chance.randrange(6 * HOUR)
        os.utime(path, (moment, moment))
        known = {"path": f"file:{path}", "name": path.name, "size": path.stat().st_size}
        modified = datetime.fromtimestamp(moment, UTC).replace(tzinfo=None)
        rows += [{"id": each, **known, "modified": modified} for each in ids]
    return rows


def declare(folder: Path, format_: str, beside: str = "") -> str:
    place = f"WITH (connector = 'files', path = '{folder}', format = '{format_}', folder_columns = FALSE)"
    return f"CREATE STREAM uploads (id BIGINT, {COLUMNS}{beside}) {place};"


@pytest.mark.parametrize("format_", ["json", "csv", "parquet"])
def test_streams_have_them(session: RuntimeSession, tmp_path: Path, format_: str) -> None:
    rows = write(tmp_path / "in", format_)
    made = declare(tmp_path / "in", format_) + "CREATE STREAM seen AS SELECT STREAM * FROM uploads WHERE size > 1;"
    session.run_once(compile(made).program, drain=True)
    assert_same_rows(session.rows("seen"), rows)


@pytest.mark.parametrize("seed", range(3))
def test_the_event_time_may_be_one(session: RuntimeSession, tmp_path: Path, seed: int) -> None:
    rows = write_some(tmp_path / "in", Random(seed))
    made = f"""{declare(tmp_path / "in", "json", ", WATERMARK FOR modified AS modified")}
CREATE STREAM sizes AS SELECT STREAM name, window_start, SUM(size) AS bytes, COUNT(*) AS n, MAX(ROWTIME) AS newest
FROM uploads WINDOW HOPPING (SIZE 2 HOURS, ADVANCE BY 1 HOUR) WHERE id % 3 <> 0 AND path LIKE '%/in/%' GROUP BY ALL;"""
    compilation = compile(made)
    session.run_once(compilation.program, drain=True)
    (query,) = compilation.queries
    expected = evaluate(query.root, {"uploads": rows})
    assert expected
    assert_same_rows(session.rows("sizes"), expected)


def test_tables_and_reads_have_them(spark: SparkSession, tmp_path: Path) -> None:
    rows = write(tmp_path / "in", "csv")
    made = f"""CREATE TABLE uploads (id BIGINT PRIMARY KEY, {COLUMNS})
WITH (connector = 'files', path = '{tmp_path / "in"}', format = 'csv', sequence = 'modified');"""
    with penstock.connect() as session:
        session.submit(made)
        read = session.sql(
            "SELECT path, name, size, modified, COUNT(*) AS n FROM uploads GROUP BY ALL ORDER BY modified"
        )
    firsts = [{each: row[each] for each in ("path", "name", "size", "modified")} | {"n": 2} for row in rows[::2]]
    assert_same_rows(read, firsts)


@pytest.mark.parametrize(("items", "used"), [("id", False), ("id, size, name", True)])
def test_they_cost_nothing_where_they_are_not_used(spark: SparkSession, tmp_path: Path, items: str, used: bool) -> None:
    write(tmp_path / "in", "json")
    made = declare(tmp_path / "in", "json") + f"CREATE STREAM seen AS SELECT STREAM {items} FROM uploads;"
    (query,) = compile(made).program.queries
    (source,) = query.inputs
    FilesSource(source).snapshot(spark, Storage(spark), []).createOrReplaceTempView(source.view)
    for view in query.views:
        assert isinstance(view, View)
        spark.sql(view.sql).createOrReplaceTempView(view.name)
    plan = spark.table(query.result)._jdf.queryExecution().optimizedPlan().toString()
    assert ("file_size" in plan, "url_decode" in plan.lower() or "UrlCodec" in plan) == (used, used), plan
