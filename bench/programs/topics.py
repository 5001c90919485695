"""Topic to topic by hand, with Spark's own source and sink: `topics.py QUERY SERVERS SOURCE TARGET LIMIT JARS`."""

from __future__ import annotations

import sys
import tempfile

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from bench.programs.session import start_spark

COLUMNS = "k BIGINT, v BIGINT, note STRING, time TIMESTAMP"
BEFORE_END = "time < TIMESTAMP '2024-01-02 00:00:00'"
"""True but for the last row."""
TIMES = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}
"""As Penstock writes times: Spark's own form cuts microseconds off. In the pattern XXX is the offset from UTC."""


def main(query: str, servers: str, source: str, target: str, limit: str, jars: str) -> None:
    """Run it to the end of what is there."""
    spark = start_spark(spark_sql_shuffle_partitions="2", spark_jars=jars)
    options = {"kafka.bootstrap.servers": servers, "subscribe": source, "startingOffsets": "earliest"}
    reading = spark.readStream.format("kafka").options(**options, maxOffsetsPerTrigger=limit)
    rows = reading.load().select(F.from_json(F.col("value").cast("string"), COLUMNS).alias("row")).select("row.*")
    result = {"filter": filter_rows, "window": count_windows}[query](rows)
    messages = result.select(F.col("k").cast("string").alias("key"), F.to_json(F.struct("*"), TIMES).alias("value"))
    with tempfile.TemporaryDirectory() as checkpoint:
        writer = messages.writeStream.format("kafka").option("kafka.bootstrap.servers", servers).option("topic", target)
        writer = writer.option("checkpointLocation", checkpoint)
        writer.trigger(availableNow=True).start().awaitTermination()
        spark.stop()


def filter_rows(rows: DataFrame) -> DataFrame:
    return rows.where(f"v < 500 AND {BEFORE_END}")


def count_windows(rows: DataFrame) -> DataFrame:
    # The condition is on the event time, so Spark leaves it above the watermark, which has to see the last row.
    timed = rows.withWatermark("time", "10 seconds").where(BEFORE_END)
    counted = timed.groupBy("k", F.window("time", "1 minute")).agg(F.count("*").alias("n"), F.sum("v").alias("total"))
    return counted.select("k", F.col("window.start").alias("time"), "n", "total")


if __name__ == "__main__":
    main(*sys.argv[1:])
