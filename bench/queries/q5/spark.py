"""The three auctions with the most bids of the last minute, every ten seconds."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def result(bid: DataFrame) -> DataFrame:
    window = F.window("time", "1 minute", "10 seconds")
    counts = bid.groupBy("auction", window.alias("window")).agg(F.count("*").alias("bids"))
    ranked = F.sort_array(F.collect_list(F.struct((-F.col("bids")).alias("order"), "auction", "bids")))
    best = counts.groupBy("window").agg(F.explode(F.slice(ranked, 1, 3)).alias("best"))
    return best.select("best.auction", "best.bids", F.col("window.start").alias("window_start"))
