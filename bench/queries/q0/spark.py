"""Every bid as it is."""

from pyspark.sql import DataFrame


def result(bid: DataFrame) -> DataFrame:
    return bid.select("auction", "bidder", "price", "time", "channel", "url")
