"""Topic to topic by hand, until it is ended: `follow.py SERVERS SOURCE TARGET JARS TRIGGER`.

TRIGGER is `micro_batch`, one micro-batch after the other, or `realtime`.
"""

from __future__ import annotations

import sys
import tempfile

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from bench.programs.session import start_spark

COLUMNS = "k BIGINT, v BIGINT, note STRING, made BIGINT"
BATCH = "30 seconds"
"""As long as those of Penstock."""


def main(servers: str, source: str, target: str, jars: str, trigger: str) -> None:
    """Run it."""
    spark = start_spark(spark_jars=jars, spark_master="local[3]")
    messages = filter_rows(read(spark, servers, source)).select(
        F.col("k").cast("string").alias("key"), F.to_json(F.struct("*")).alias("value")
    )
    options = {"kafka.bootstrap.servers": servers, "topic": target}
    writer = messages.writeStream.format("kafka").options(**options).outputMode("update")
    writer = writer.trigger(realTime=BATCH) if trigger == "realtime" else writer.trigger(processingTime="0 seconds")
    with tempfile.TemporaryDirectory() as checkpoint:
        writer.option("checkpointLocation", checkpoint).start().awaitTermination()


def read(spark: SparkSession, servers: str, topic: str) -> DataFrame:
    options = {"kafka.bootstrap.servers": servers, "subscribe": topic, "startingOffsets": "earliest"}
    rows = spark.readStream.format("kafka").options(**options).load()
    return rows.select(F.from_json(F.col("value").cast("string"), COLUMNS).alias("row")).select("row.*")


def filter_rows(rows: DataFrame) -> DataFrame:
    return rows.where("v < 500")


if __name__ == "__main__":
    main(*sys.argv[1:])
