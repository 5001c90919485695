"""Who offers something in the minute of registering."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def result(auction: DataFrame, person: DataFrame) -> DataFrame:
    minute = F.window("time", "1 minute").alias("window")
    people = person.groupBy("id", "name", minute).count().drop("count")
    sellers = auction.groupBy(F.col("seller").alias("id"), minute).count().drop("count")
    return people.join(sellers, ["id", "window"]).select("id", "name", F.col("window.start").alias("window_start"))
