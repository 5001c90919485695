"""A streaming program written by hand, as an expert would: `spark.py PROGRAM DATA OUT FORMAT STREAM... NAME=VALUE...`.

The program's `result` gets a DataFrame for each stream, with a watermark, and the parameters. The last file of a stream
holds a row behind every event time, so that all windows close.
"""

from __future__ import annotations

import os
import runpy
import sys
import tempfile

from pyspark.sql import DataFrame, SparkSession

COLUMNS = {
    "person": "id BIGINT, name STRING, email STRING, credit_card STRING, city STRING, state STRING, time TIMESTAMP",
    "auction": "id BIGINT, item STRING, description STRING, initial_bid BIGINT, reserve BIGINT, time TIMESTAMP, "
    "expires TIMESTAMP, seller BIGINT, category BIGINT",
    "bid": "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, time TIMESTAMP",
}


def main(program: str, data: str, out: str, format_: str, *rest: str) -> None:
    """Run it to the end of the files that are there."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", False)
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", 2)
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    parameters = dict(each.split("=", 1) for each in rest if "=" in each)
    streams = {name: stream(spark, name, data, format_) for name in rest if "=" not in name}
    result: DataFrame = runpy.run_path(program)["result"](**streams, **parameters)
    with tempfile.TemporaryDirectory() as checkpoint:
        writer = result.writeStream.format("csv").option("path", out).option("checkpointLocation", checkpoint)
        writer.trigger(availableNow=True).start().awaitTermination()
        spark.stop()


def stream(spark: SparkSession, name: str, data: str, format_: str) -> DataFrame:
    """One file in a micro-batch."""
    reader = spark.readStream.schema(COLUMNS[name]).option("maxFilesPerTrigger", 1).option("maxFileAge", "36500d")
    rows = reader.format(format_).load(f"{data}/{name}{{,-end}}").withWatermark("time", "4 seconds")
    # Above the watermark, which has to see the row that ends the stream.
    return rows.where("time < '2099-01-01'")


if __name__ == "__main__":
    main(*sys.argv[1:])
