"""Prices in another currency."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def result(bid: DataFrame) -> DataFrame:
    return bid.select("auction", "bidder", (F.lit(0.908) * F.col("price")).alias("price"), "time")
