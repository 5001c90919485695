"""The bids of each auction in the last minute, every ten seconds."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def result(bid: DataFrame) -> DataFrame:
    window = F.window("time", "1 minute", "10 seconds").alias("window")
    values = F.count("*").alias("bids"), F.avg("price").alias("mean"), F.max("price").alias("highest")
    return bid.groupBy("auction", window).agg(*values).select("auction", "window.start", "bids", "mean", "highest")
