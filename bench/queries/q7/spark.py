"""The highest bid of every minute."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def result(bid: DataFrame) -> DataFrame:
    tumbling = F.window("time", "1 minute").alias("window")
    # One aggregation: those with the highest price so far, and no join.
    rows = F.struct("price", "auction", "bidder", "time")
    highest = bid.groupBy(tumbling).agg(F.max("price").alias("highest"), F.collect_list(rows).alias("rows"))
    best = highest.select(F.explode(F.filter("rows", lambda row: row.price == F.col("highest"))).alias("best"))
    return best.select("best.auction", "best.price", "best.bidder", "best.time")
