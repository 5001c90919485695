"""Each item with its best offer, if there is one: one aggregation whose state is both tables."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def result(item: DataFrame, offer: DataFrame) -> DataFrame:
    # The greatest struct is the one of the last record, whose place comes first in it.
    items = item.select("id", F.struct("place", "seller", "price", "op").alias("item"))
    offers = offer.select("id", F.struct("place", "bidder", "amount", "op").alias("offer"))
    newest = (
        items.unionByName(offers, allowMissingColumns=True)
        .groupBy("id")
        .agg(F.max("item").alias("item"), F.max("offer").alias("offer"))
    )
    there = F.col("offer.op") == "upsert"
    return newest.where("item IS NOT NULL").select(
        "id",
        "item.seller",
        "item.price",
        F.when(there, F.col("offer.bidder")).alias("bidder"),
        F.when(there, F.col("offer.amount")).alias("amount"),
        "item.op",
    )
