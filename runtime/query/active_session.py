"""The session of Spark that a thread uses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession


@contextmanager
def activate(spark: SparkSession) -> Iterator[None]:
    """Makes it the active session of this thread for a while.

    Spark asks the active one whether there is a type TIME, not the one of the rows.
    """
    sessions: Any = getattr(spark._jvm, "org.apache.spark.sql.classic.SparkSession")
    before = sessions.getActiveSession()
    sessions.setActiveSession(spark._jsparkSession)
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()
