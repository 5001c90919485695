"""Names of files that Spark cannot open -> a pattern of the others, so that one such file does not end a query."""

from typing import Any

from pyspark.sql import SparkSession

LONGEST_NAME = 255
"""The most bytes of a name on local disks."""


def pattern_of_names(spark: SparkSession, path: str) -> str:
    """A pattern of the names of files below a path that Spark can open, as its option `pathGlobFilter` takes it.

    Hadoop opens no file of local disks whose name has a colon. Its patterns have no "any number of characters but a
    colon": each character is followed by the next one or by nothing.
    """
    jvm: Any = spark._jvm
    files = jvm.org.apache.hadoop.fs.Path(path).getFileSystem(spark._jsc.hadoopConfiguration())
    if files.getUri().getScheme() != "file":
        return "*"
    return "{[^:]" * LONGEST_NAME + ",}" * LONGEST_NAME
