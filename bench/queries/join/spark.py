"""Each bid with its auction, if that was opened in the time before."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def result(auction: DataFrame, bid: DataFrame, length: str, unit: str) -> DataFrame:
    bids = bid.select("auction", "bidder", "price", "time")
    auctions = auction.select("id", "item", "seller", F.col("time").alias("opened"))
    near = F.expr(f"auction = id AND time >= opened AND time <= opened + INTERVAL '{length}' {unit}")
    return bids.join(auctions, near, "inner").select("auction", "bidder", "price", "time", "item", "seller")
