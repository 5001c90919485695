"""How many bids a bidder makes without a pause."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def result(bid: DataFrame, length: str, unit: str) -> DataFrame:
    session = F.session_window("time", f"{length} {unit}").alias("session")
    counts = bid.groupBy("bidder", session).agg(F.count("*").alias("bids"))
    return counts.select("bidder", "bids", "session.start", "session.end")
