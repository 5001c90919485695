"""The bids of each auction and minute."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def result(bid: DataFrame) -> DataFrame:
    window = F.window("time", "1 minute").alias("window")
    values = F.count("*").alias("bids"), F.avg("price").alias("mean"), F.max("price").alias("highest")
    return bid.groupBy("auction", window).agg(*values).select("auction", "window.start", "bids", "mean", "highest")
