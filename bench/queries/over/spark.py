"""Each bid with those of the same key in the time before: Spark has no OVER on streams, so a self-join."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def result(bid: DataFrame, key: str, length: str, unit: str) -> DataFrame:
    # No two bids are equal. If they could be, each would need a number.
    left = bid.select(F.expr(key).alias("key"), F.col("time").alias("now"), "auction", "bidder", "price")
    right = bid.select(F.expr(key).alias("other"), F.col("time").alias("then"), F.col("price").alias("value"))
    near = F.expr(f"key = other AND then >= now - INTERVAL '{length}' {unit} AND then <= now")
    values = F.sum("value").alias("total"), F.count("*").alias("bids"), F.avg("value").alias("mean")
    return left.join(right, near).groupBy("auction", "bidder", "price", "now").agg(*values)
