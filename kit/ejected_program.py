"""The frame of an ejected program: views, runs of queries, the account of each input, and the command line."""

import argparse
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyspark import __version__ as pyspark_version
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from penstock.kit.checkpoint_sources import EVOLUTION_SETTING, call_source, settle_sources
from penstock.kit.clock_view import clock_rows
from penstock.kit.files.files import write_files
from penstock.kit.spark_columns import quote_name
from penstock.kit.watermark import END_SOURCE


def clock(spark: SparkSession, query: str, checkpoint: str) -> None:
    """Creates the view of the watermark in force and the number of the micro-batch."""
    clock_rows(spark, checkpoint).createOrReplaceTempView(f"{query}_clock")


def end_of_time(spark: SparkSession, query: str, checkpoint: str) -> None:
    """Creates the view of a stream that is empty until the input is declared complete."""
    make_folder(spark, f"{checkpoint}/end")
    end = spark.readStream.schema("time timestamp, input string").json(f"{checkpoint}/end")
    call_source(end, END_SOURCE, checkpoint).createOrReplaceTempView(f"{query}_end")


def drain(spark: SparkSession, checkpoint: str) -> None:
    """Declares the input complete: a row later than every event time moves the watermark past all windows."""
    end = f"{checkpoint}/end"
    if spark.read.schema("time timestamp, input string").json(end).isEmpty():
        rows = spark.sql("SELECT TIMESTAMP '9999-01-01 00:00:00' AS time, CAST(NULL AS STRING) AS input")
        rows.write.mode("append").json(end)


def make_folder(spark: SparkSession, path: str) -> None:
    """Makes a folder on any file system that Spark can write to. Readers skip names that begin with `_`."""
    spark.range(0, 0, 1, 1).write.mode("ignore").parquet(f"{path}/_made")


def written_by(spark: SparkSession, checkpoint: str, query: str) -> str:
    """The folder of the rows that another query of this program writes. It is made if it is missing."""
    path = f"{os.path.dirname(checkpoint)}/{query}/rows"
    make_folder(spark, path)
    return path


def view(
    spark: SparkSession,
    name: str,
    sql: str,
    counts: Mapping[str, str] | None = None,
    watermark: tuple[str, int] | None = None,
) -> None:
    """Creates a view. `counts` are observed on its rows, `watermark` is a column and its delay in milliseconds."""
    rows = spark.sql(sql)
    if watermark is not None:
        rows = rows.withWatermark(quote_name(watermark[0]), f"{watermark[1]} milliseconds")
    if counts is not None:
        rows = rows.observe(name, *(F.expr(sql).alias(count) for count, sql in counts.items()))
    rows.createOrReplaceTempView(name)


def absolute(spark: SparkSession, path: str) -> str:
    """Makes a local path absolute. On a cluster, a path without a scheme is on its default file system."""
    return path if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:/", path) or on_cluster(spark) else os.path.abspath(path)


def on_cluster(spark: SparkSession) -> bool:
    """Whether Spark runs on other machines, too."""
    return str(spark.conf.get("spark.master")).partition("[")[0] != "local"


def run(spark: SparkSession, writer: DataStreamWriter, mode: str, checkpoint: str) -> Counter[str]:
    """Runs a query over the input that is there now, and returns its counts."""
    writer = writer.outputMode(mode).option("checkpointLocation", checkpoint)
    started = writer.trigger(availableNow=True).start()
    spark.conf.set(EVOLUTION_SETTING, "false")  # else no source can be made before it has a name
    started.awaitTermination()
    counts: Counter[str] = Counter()
    for progress in started.recentProgress:
        for observed in progress.observedMetrics.values():
            counts.update({name: count or 0 for name, count in observed.asDict().items() if ":" in name})
    return counts


def report(query: str, counts: Mapping[str, int], inputs: Sequence[str]) -> None:
    """Prints the account of each input."""
    for name in inputs:
        fates = ("rejected", "late", "filtered", "used")
        text = " + ".join(f"{counts[f'{fate}:{name}']} {fate}" for fate in fates)
        print(f"{query}: {counts[f'in:{name}']} rows of {name} = {text}")


def set_aside(spark: SparkSession, view: str, place: str, checkpoint: str) -> None:
    """Writes the rejected rows of an input to the folder `place`."""
    rows = settle_sources(spark.table(view), checkpoint)
    run(spark, write_files(rows, place, "json"), "append", checkpoint)
    print(f"rejected rows are in {place}")


def stop_spark(spark: SparkSession) -> None:
    """Closes the state stores, then stops Spark, which leaves them open. A JVM cannot end while RocksDB compacts one.

    Raises Py4JError or ConnectionError if the JVM is gone.
    """
    jvm: Any = spark._jvm
    callbacks = spark.sparkContext._gateway.gateway_property.pool  # type: ignore[union-attr]
    try:
        stores = getattr(jvm.org.apache.spark.sql.execution.streaming.state, "StateStore$")
        getattr(stores, "MODULE$").stop()
    finally:
        spark.stop()
        callbacks.clear()  # they may refer to DuckDB, which complains at exit if it is in use


def main(
    text: str,
    settings: Mapping[str, str],
    queries: Mapping[str, Callable[[Any, str, bool, bool], None]],
    versions: Sequence[str],
) -> None:
    """Runs the queries, each in a folder of its name, on one of these versions of Spark.

    `text` is the program's docstring.
    """
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("--checkpoint", help="folder that keeps the state from run to run")
    parser.add_argument("--drain", action="store_true", help="take the input as complete, for good")
    arguments = parser.parse_args()
    if not any(pyspark_version.startswith(f"{version}.") for version in versions):
        parser.error(f"PySpark {pyspark_version} is not supported: it has to be {' or '.join(versions)}")
    kept = arguments.checkpoint is not None
    draining = arguments.drain or not kept
    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # started by itself, not by spark-submit
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if "SPARK_REMOTE" in os.environ:
        parser.error("Spark Connect is not supported: unset SPARK_REMOTE")
    spark = SparkSession.builder.appName("penstock").getOrCreate()
    for name, value in settings.items():
        spark.conf.set(name, value)
    if on_cluster(spark) and "://" not in (arguments.checkpoint or ""):
        hint = "as hdfs://host/state"
        parser.error(f"on a cluster --checkpoint has to be the URI of a folder that all workers see, {hint}")
    folder = absolute(spark, arguments.checkpoint or tempfile.mkdtemp()).rstrip("/")
    for name, query in queries.items():
        query(spark, f"{folder}/{name}", kept, draining)
    stop_spark(spark)
