"""Who in three states offers something of category 10 within ten minutes of registering."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def result(auction: DataFrame, person: DataFrame) -> DataFrame:
    offered = auction.where(F.col("category") == 10).select("id", "seller", F.col("time").alias("offered"))
    people = person.where(F.col("state").isin("OR", "ID", "CA")).select(
        F.col("id").alias("person"), "name", "city", "state", F.col("time").alias("registered")
    )
    near = F.expr("seller = person AND offered >= registered AND offered <= registered + INTERVAL 10 MINUTES")
    return offered.join(people, near).select("name", "city", "state", "id")
