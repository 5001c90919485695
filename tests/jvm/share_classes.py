"""Writes the archive of Spark's classes: a JVM that finds it starts Spark and a first query in two thirds of the time.

It holds the classes that a windowed aggregate and OVER need, each with a first micro-batch and at the end of its input.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pyspark import SparkContext

import penstock
from penstock.codegen.ejected.program import stop_spark
from penstock.runtime import RuntimeSession
from penstock.runtime.jvm import start_spark
from tests.jvm.options import ARCHIVE, OPTIONS

_SCRIPT = """
SET state_partitions = 1;
CREATE STREAM s (id BIGINT KEY, v DOUBLE, time TIMESTAMP, WATERMARK FOR time AS time - 1 SEC)
WITH (connector = 'files', path = '{folder}/in', format = 'json');
CREATE STREAM windows WITH (connector = 'files', path = '{folder}/windows', format = 'json') AS
SELECT STREAM id, window_start, SUM(v) AS v FROM s WHERE v > 0 GROUP BY id, TUMBLE(time, 1 HOUR);
CREATE STREAM frames AS SELECT STREAM id, SUM(v) OVER (PARTITION BY id ORDER BY time RANGE 1 MIN PRECEDING) AS v FROM s;
"""


def share_classes() -> None:
    """Runs some queries in a JVM that writes the archive when it ends."""
    unfinished = ARCHIVE.with_suffix(".unfinished")
    os.environ["JAVA_TOOL_OPTIONS"] = f"{OPTIONS} -XX:ArchiveClassesAtExit={unfinished} -Xlog:disable"
    spark = start_spark("local[2]")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "in").mkdir()
        Path(folder, "in", "1.json").write_text('{"id": 1, "v": 1.5, "time": "2024-01-01T00:00:00Z"}\n')
        with RuntimeSession(spark, checkpoint=f"{folder}/checkpoint") as session:
            session.run_once(penstock.compile(_SCRIPT.format(folder=folder)).program, drain=True)
    stop_spark(spark)
    gateway = SparkContext._gateway
    assert gateway is not None
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()
    unfinished.replace(ARCHIVE)


if __name__ == "__main__":
    share_classes()
