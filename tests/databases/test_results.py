"""CREATE TABLE … AS in PostgreSQL through Spark: groups whose key is NULL, and single rows, equal the evaluator's."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.typed_values import Row
from penstock.planner.plan import KTable, RunningQuery
from penstock.runtime import RuntimeSession
from tests.databases.places import Place
from tests.databases.test_statements import declare
from tests.model.rows import assert_same_rows

pytestmark = [pytest.mark.spark, pytest.mark.draws]
HISTORIES = int(os.environ.get("PENSTOCK_TABLE_HISTORIES", "1"))
DECLARED = """
CREATE TABLE users (id BIGINT PRIMARY KEY, page STRING, region INT, n BIGINT)
  WITH (connector = 'files', path = '{folder}/users', format = 'json', operation = 'op', files_per_batch = 1);
CREATE STREAM clicks (page STRING, n BIGINT)
  WITH (connector = 'files', path = '{folder}/clicks', format = 'json', files_per_batch = 1);
"""
QUERIES = {
    "pages": "SELECT page, COUNT(*) AS c, SUM(n) AS s FROM users GROUP BY page HAVING SUM(n) % 3 <> 0",
    "pairs": "SELECT page, region, COUNT(*) AS c FROM users GROUP BY page, region",
    "clicked": "SELECT page, COUNT(*) AS c, SUM(n) AS s FROM clicks GROUP BY page",
    "total": "SELECT COUNT(*) AS c, SUM(n) AS s FROM users",
    "even": "SELECT COUNT(*) AS c FROM users HAVING COUNT(*) % 2 = 0",
}


def draw_rows(draw: random.Random) -> dict[str, list[Row]]:
    """The records of one micro-batch."""
    pages, numbers = ("a", "", "b", None), (0, 1, 2, 5, None)
    users = [
        {
            "id": draw.randrange(8),
            "page": draw.choice(pages),
            "region": draw.choice((1, 2, None)),
            "n": draw.choice(numbers),
            "op": draw.choice(("upsert", "upsert", "delete")),
        }
        for _ in range(draw.randint(0, 8))
    ]
    clicks = [{"page": draw.choice(pages), "n": draw.choice(numbers)} for _ in range(draw.randint(0, 5))]
    return {"users": users, "clicks": clicks}


def put_file(folder: Path, number: int, rows: list[Row]) -> None:
    folder.mkdir(exist_ok=True)
    file = folder / f"{number:03}.json"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    os.utime(file, (1_750_000_000 + number, 1_750_000_000 + number))


def check_table(place: Place, query: RunningQuery, seen: dict[str, list[Row]]) -> None:
    """Fails unless the table is the answer."""
    names = [column.name for column in query.root.schema]
    found = [dict(zip(names, row, strict=True)) for row in place.rows(f"SELECT {', '.join(names)} FROM {query.name}")]
    shape = query.root.shape
    assert isinstance(shape, KTable)
    expected: list[Any] = evaluate(query.root, seen)
    if not found and not shape.key:  # the one group comes with its first row
        nothing = evaluate(query.root, {name: [] for name in seen})
        expected = [row for row in expected if row not in nothing]
    assert_same_rows(found, expected)


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_tables_equal_the_answer(spark: SparkSession, tmp_path: Path, postgres: Place, seed: int) -> None:
    draw = random.Random(seed)
    script = DECLARED.format(folder=tmp_path) + "SET state_partitions = 2;"
    for name, select in QUERIES.items():
        script += (
            f"CREATE TABLE {name} WITH ({declare(postgres)}, table = '{name}', create = 'if_missing') AS {select};"
        )
    compilation = penstock.compile(script)
    seen: dict[str, list[Row]] = {"users": [], "clicks": []}
    number = 0
    for _ in range(2):  # runs, each of several micro-batches
        for _ in range(draw.randint(1, 3)):
            number += 1
            for name, rows in draw_rows(draw).items():
                put_file(tmp_path / name, number, rows)
                seen[name] += rows
        with RuntimeSession(spark, str(tmp_path / "state")) as session:
            session.run_once(compilation.program, drain=False)
        for query in compilation.queries:
            check_table(postgres, query, seen)
    assert postgres.rows("SELECT to_regclass('pages_rejected'), to_regclass('pairs_rejected')") == [(None, None)]
