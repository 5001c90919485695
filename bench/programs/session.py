"""A Spark session as a program by hand has it: two cores, no page, UTC."""

from __future__ import annotations

import os
import sys

from pyspark.sql import SparkSession


def start_spark(**settings: str) -> SparkSession:
    """Starts Spark on this machine. `settings`: more of Spark's, with `_` in the place of dots."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False)
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.sql.session.timeZone", "UTC")
    for name, value in settings.items():
        builder = builder.config(name.replace("_", "."), value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark
