"""How many items a category has, and what they cost: a change of an item takes it out of a group and into another.

Three aggregations: the newest record of each item, its rows before and after, the sums. Spark refuses them in one query
unless its checks are off. Here they are right, because each of the first two gives one row for a key in a micro-batch.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def result(item: DataFrame) -> DataFrame:
    # The greatest struct is the one of the last record, whose place comes first in it.
    newest = item.groupBy("id").agg(
        F.max(F.struct("place", "category", "price", "op")).alias("newest"), F.count("*").alias("records")
    )
    row = F.when(F.col("newest.op") == "upsert", F.struct("newest.category", "newest.price"))
    versions = F.struct("records", row.alias("row"))
    last = newest.groupBy("id").agg(F.max_by(versions, "records", 2).alias("last"))
    sides = (
        F.struct(F.lit(sign).alias("sign"), F.expr(f"get(last, {place}).row AS row"))
        for place, sign in ((0, 1), (1, -1))
    )
    moves = last.select(F.explode(F.array(*sides)).alias("move")).where("move.row IS NOT NULL")
    sums = moves.groupBy("move.row.category").agg(
        F.sum("move.sign").alias("items"), F.expr("sum(move.sign * move.row.price)").alias("total")
    )
    return sums.withColumn("op", F.when(F.col("items") == 0, "delete").otherwise("upsert"))
