"""How many bids a bidder makes in ten seconds."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def result(bid: DataFrame) -> DataFrame:
    window = F.window("time", "10 seconds").alias("window")
    counts = bid.groupBy("bidder", window).agg(F.count("*").alias("bids"))
    return counts.select("bidder", "bids", "window.start")
