"""The bids of each auction in hopping windows."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def result(bid: DataFrame, length: str, slide: str, unit: str, hops: str) -> DataFrame:
    window = F.window("time", f"{length} {unit}", f"{slide} {unit}").alias("window")
    values = F.count("*").alias("bids"), F.avg("price").alias("mean"), F.max("price").alias("highest")
    return bid.groupBy("auction", window).agg(*values).select("auction", "window.start", "bids", "mean", "highest")
