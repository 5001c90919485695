"""Topic to topic by hand, with Spark's own source and sink, or two topics to a table of PostgreSQL.

`topics.py QUERY SERVERS SOURCE TARGET LIMIT JARS`. For the join the source is two topics, and the target an address.
"""

from __future__ import annotations

import sys
import tempfile

import psycopg
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from bench.programs.session import start_spark
from bench.programs.table import copy

COLUMNS = "k BIGINT, v BIGINT, w BIGINT, note STRING, time TIMESTAMP"
BEFORE_END = "time < TIMESTAMP '2024-01-02 00:00:00'"
"""True but for the last row."""
TIMES = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}
"""As Penstock writes times: Spark's own form cuts microseconds off. In the pattern XXX is the offset from UTC."""


STAGE = "CREATE TEMPORARY TABLE stage (k bigint, v bigint, w bigint, time timestamptz) ON COMMIT DELETE ROWS"
PUT = """INSERT INTO pairs (k, v, w, time) SELECT DISTINCT ON (k) k, v, w, time FROM stage ORDER BY k, ctid DESC
    ON CONFLICT (k) DO UPDATE SET v = EXCLUDED.v, w = EXCLUDED.w, time = EXCLUDED.time"""


def main(query: str, servers: str, source: str, target: str, limit: str, jars: str) -> None:
    """Run it to the end of what is there."""
    spark = start_spark(spark_sql_shuffle_partitions="2", spark_jars=jars)
    with tempfile.TemporaryDirectory() as checkpoint:
        if query == "join":
            left, right = (read(spark, servers, topic, limit) for topic in source.split(","))
            writer = write_pairs(join_rows(left, right), target)
        else:
            rows = read(spark, servers, source, limit)
            writer = write_messages({"filter": filter_rows, "window": count_windows}[query](rows), servers, target)
        writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start().awaitTermination()
        spark.stop()


def read(spark: SparkSession, servers: str, topic: str, limit: str) -> DataFrame:
    """The rows of a topic."""
    options = {"kafka.bootstrap.servers": servers, "subscribe": topic, "startingOffsets": "earliest"}
    reading = spark.readStream.format("kafka").options(**options, maxOffsetsPerTrigger=limit)
    return reading.load().select(F.from_json(F.col("value").cast("string"), COLUMNS).alias("row")).select("row.*")


def write_messages(rows: DataFrame, servers: str, topic: str) -> DataStreamWriter:
    """Rows as messages with their key."""
    messages = rows.select(F.col("k").cast("string").alias("key"), F.to_json(F.struct("*"), TIMES).alias("value"))
    return messages.writeStream.format("kafka").option("kafka.bootstrap.servers", servers).option("topic", topic)


def write_pairs(rows: DataFrame, url: str) -> DataStreamWriter:
    """Each micro-batch in a transaction, with a row that says which one it was."""
    connection = psycopg.connect(url)
    connection.execute("SET timezone = UTC")
    connection.execute(STAGE)
    connection.commit()

    def write(batch: DataFrame, number: int) -> None:
        noted = "INSERT INTO written VALUES ('pairs', %s) ON CONFLICT DO NOTHING"
        if connection.execute(noted, (number,)).rowcount:
            copy(connection, batch.toArrow(), PUT)
        connection.commit()

    return rows.writeStream.foreachBatch(write)


def filter_rows(rows: DataFrame) -> DataFrame:
    return rows.where(f"v < 500 AND {BEFORE_END}").select("k", "v", "note", "time")


def count_windows(rows: DataFrame) -> DataFrame:
    # The condition is on the event time, so Spark leaves it above the watermark, which has to see the last row.
    timed = rows.withWatermark("time", "10 seconds").where(BEFORE_END)
    counted = timed.groupBy("k", F.window("time", "1 minute")).agg(F.count("*").alias("n"), F.sum("v").alias("total"))
    return counted.select("k", F.col("window.start").alias("time"), "n", "total")


def join_rows(left: DataFrame, right: DataFrame) -> DataFrame:
    left, right = (rows.withWatermark("time", "10 seconds").alias(name) for rows, name in ((left, "l"), (right, "r")))
    near = "r.time BETWEEN l.time - INTERVAL 10 SECONDS AND l.time + INTERVAL 10 SECONDS"
    # The condition on the event time stays behind the join, so that the watermark sees the last rows.
    pairs = left.join(right, F.expr(f"l.k = r.k AND {near}")).where(f"l.{BEFORE_END}")
    return pairs.select("l.k", "l.v", "r.w", "l.time")


if __name__ == "__main__":
    main(*sys.argv[1:])
