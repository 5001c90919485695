"""How many bids a bidder makes without pausing for ten seconds."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def result(bid: DataFrame) -> DataFrame:
    session = F.session_window("time", "10 seconds").alias("session")
    counts = bid.groupBy("bidder", session).agg(F.count("*").alias("bids"))
    return counts.select("bidder", "bids", "session.start", "session.end")
