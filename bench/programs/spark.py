"""A streaming program written by hand, as an expert would: `spark.py PROGRAM DATA OUT FORMAT STREAM... NAME=VALUE...`.

The program's `result` gets a DataFrame for each input, and the parameters. A stream has a watermark; its last file
holds a row behind every event time, so that all windows close. The records of a table have a `place`, which grows from
one to the next; the result is a table, too: rows to put or delete, at most one of a key in a micro-batch.
"""

from __future__ import annotations

import runpy
import sys
import tempfile

from pyspark.sql import DataFrame, SparkSession

from bench.programs.session import start_spark

COLUMNS = {
    "person": "id BIGINT, name STRING, email STRING, credit_card STRING, city STRING, state STRING, time TIMESTAMP",
    "auction": "id BIGINT, item STRING, description STRING, initial_bid BIGINT, reserve BIGINT, time TIMESTAMP, "
    "expires TIMESTAMP, seller BIGINT, category BIGINT",
    "bid": "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, time TIMESTAMP",
    "item": "id BIGINT, seller BIGINT, category BIGINT, price BIGINT, name STRING, op STRING",
    "offer": "id BIGINT, bidder BIGINT, amount BIGINT, op STRING",
}
TABLES = ("item", "offer")


def main(program: str, data: str, out: str, format_: str, *rest: str) -> None:
    """Run it to the end of the files that are there."""
    spark = start_spark(spark_sql_shuffle_partitions="2")
    parameters = dict(each.split("=", 1) for each in rest if "=" in each)
    names = [name for name in rest if "=" not in name]
    inputs = {name: (table if name in TABLES else stream)(spark, name, data, format_) for name in names}
    result: DataFrame = runpy.run_path(program)["result"](**inputs, **parameters)
    with tempfile.TemporaryDirectory() as checkpoint:
        if names[0] in TABLES:
            # Spark's own file sink takes no updates.
            writer = result.writeStream.outputMode("update").foreachBatch(lambda rows, _: rows.write.csv(out, "append"))
        else:
            writer = result.writeStream.format("csv").option("path", out)
        writer = writer.option("checkpointLocation", checkpoint)
        writer.trigger(availableNow=True).start().awaitTermination()
        spark.stop()


def stream(spark: SparkSession, name: str, data: str, format_: str) -> DataFrame:
    """One file in a micro-batch."""
    reader = spark.readStream.schema(COLUMNS[name]).option("maxFilesPerTrigger", 1).option("maxFileAge", "36500d")
    rows = reader.format(format_).load(f"{data}/{name}{{,-end}}").withWatermark("time", "4 seconds")
    # Above the watermark, which has to see the row that ends the stream.
    return rows.where("time < '2099-01-01'")


def table(spark: SparkSession, name: str, data: str, format_: str) -> DataFrame:
    """One file in a micro-batch."""
    # Spark numbers records of streams only if it is not asked whether it may, nor whether aggregations can follow each
    # other. That a number grows from record to record of a file is all that is needed of it.
    spark.conf.set("spark.sql.streaming.unsupportedOperationCheck", False)
    reader = spark.readStream.schema(COLUMNS[name]).option("maxFilesPerTrigger", 1).option("maxFileAge", "36500d")
    file = "_metadata.file_modification_time AS written, _metadata.file_block_start AS part"
    place = f"struct({file}, monotonically_increasing_id() AS record) AS place"
    return reader.format(format_).load(f"{data}/{name}").selectExpr("*", place)


if __name__ == "__main__":
    main(*sys.argv[1:])
