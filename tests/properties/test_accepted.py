"""What `check` accepts, Spark runs: random statements start and finish their first batch."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.codegen import find_newer_functions, lower
from penstock.diagnostics import CompileError
from penstock.planner.plan import Settings
from penstock.runtime import RunError, RuntimeSession
from tests.planner.installed import SPARK
from tests.properties import streams
from tests.properties.script_streams import declarations, write_rows
from tests.properties.scripts import script
from tests.properties.test_spark import AT_ONCE

pytestmark = [pytest.mark.spark, pytest.mark.draws]

STATEMENTS = int(os.environ.get("PENSTOCK_STATEMENTS", "5"))
"""How many accepted statements are run; a statement takes one to three seconds on two cores."""
FIRST = int(os.environ.get("PENSTOCK_FIRST_STATEMENT", "0"))
"""The seed of the first statement."""
_DAY = "b.time BETWEEN a.time + 1 DAY AND a.time + 1 DAY + 1 SEC"
# Statements that Spark once refused: places of rows with maps, conditions that its optimiser knows to be false, which
# take the equality of a join with them, sessions whose only key it knows to be a constant,
# groups by several columns that are event times, and functions over frames whose argument is never NULL.
FOUND = (
    "SELECT STREAM id, counts, ROW_NUMBER() OVER (PARTITION BY time ORDER BY v) AS place FROM a",
    f"SELECT STREAM a.id FROM a FULL JOIN b ON a.k = b.k AND {_DAY} AND 'a' = 'b' AND a.v > NULL",
    "SELECT STREAM one, window_end, COUNT(*) AS n FROM (SELECT STREAM 1 AS one, time FROM a) x "
    "GROUP BY one, SESSION(time, 2 SEC)",
    "SELECT STREAM time, k, window_end, COUNT(*) AS n FROM a GROUP BY time, k, TUMBLE(time, 2 SEC)",
    "SELECT STREAM id, ROW_NUMBER() OVER (PARTITION BY time, again ORDER BY v) AS place "
    "FROM (SELECT STREAM id, v, time, time AS again FROM a) x",
    "SELECT STREAM a.id FROM a JOIN b ON a.time = b.time AND a.k = b.k AND b.time BETWEEN a.time AND a.time + 1 SEC",
    "SELECT STREAM DISTINCT time, time AS again, k FROM a",
    "SELECT STREAM LAG(NAMED_STRUCT('q', 1)) OVER (PARTITION BY again ORDER BY time) AS before "
    "FROM (SELECT STREAM time, time AS again FROM a) x DEDUPLICATE ON (time, again) WITHIN 2 SEC",
)


def accepted(folder: Path) -> Iterator[tuple[int, str]]:
    """Statements that the compiler accepts, each with the seed that it is drawn from."""
    seed = FIRST
    while True:
        text = script(Random(seed), folder)
        try:
            newer = [*find_newer_functions(penstock.compile(text).program, SPARK)]
        except CompileError as refused:
            streams.tried[f"statements refused, {refused.diagnostics[0].code}"] += 1
        else:
            if newer:
                streams.tried["statements that need a newer Spark"] += 1
            else:
                yield seed, text
        seed += 1


def test_what_is_accepted_runs(only_spark: SparkSession, tmp_path: Path) -> None:
    write_rows(tmp_path, Random(0))
    statements = accepted(tmp_path)
    found = [(-1, declarations(tmp_path) + each) for each in FOUND]
    drawn = [*found, *islice(statements, STATEMENTS)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = list(pool.map(lambda each: failure(each[0], each[1], only_spark.newSession()), drawn))
    streams.tried["accepted statements through Spark"] += len(drawn)
    failures = [each for each in outcomes if each]
    assert not failures, f"{len(failures)} of {len(drawn)}\n" + "\n\n".join(failures)


def failure(seed: int, text: str, spark: SparkSession) -> str:
    """What stopped the statement, "" if nothing did."""
    # Each statement is run once: compiling it to bytecode would cost more than it gains.
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        program = lower(penstock.compile(text).queries, Settings(state_partitions=1))
        with RuntimeSession(spark, checkpoint=str(Path(folder, "checkpoint"))) as session:
            try:
                session.run_once(program, drain=False)
            except RunError as error:
                found = "\n".join(f"{each.code} {each.message}" for each in error.diagnostics)
                statement = text.rpartition("(connector = 'memory');")[2]
                return f"{seed}: {found}{statement}"
    return ""
