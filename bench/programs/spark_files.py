"""A program written by hand that keeps running: `spark_files.py PROGRAM DATA OUT FORMAT STREAM... NAME=VALUE...`.

A micro-batch begins when the last one has ended, and reads all files that have come since. `delay` is that of the
watermark in seconds. The other parameters go to the `result` of the program.
"""

from __future__ import annotations

import runpy
import sys
import tempfile

from pyspark.sql import DataFrame, SparkSession

from bench.programs.session import start_spark
from bench.programs.spark import COLUMNS


def main(program: str, data: str, out: str, format_: str, *rest: str) -> None:
    """Run it."""
    spark = start_spark(spark_sql_shuffle_partitions="2")
    parameters = dict(each.split("=", 1) for each in rest if "=" in each)
    delay = f"{parameters.pop('delay')} seconds"
    inputs = {name: follow(spark, name, f"{data}/{name}", format_, delay) for name in rest if "=" not in name}
    result: DataFrame = runpy.run_path(program)["result"](**inputs, **parameters)
    with tempfile.TemporaryDirectory() as checkpoint:
        writer = result.writeStream.format("csv").option("path", out).option("checkpointLocation", checkpoint)
        writer.trigger(processingTime="0 seconds").start().awaitTermination()


def follow(spark: SparkSession, name: str, path: str, format_: str, delay: str) -> DataFrame:
    rows = spark.readStream.schema(COLUMNS[name]).option("maxFileAge", "36500d").format(format_).load(path)
    return rows.withWatermark("time", delay)


if __name__ == "__main__":
    main(*sys.argv[1:])
