"""A session of Spark -> one more for each query, so that no query changes the settings of another.

Spark looks at some settings when a query starts, and at others in each micro-batch. It asks the session in which the
rows of the sources were made. A query that starts later would change these settings for the queries that run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

from penstock.codegen.files_cost import files_settings
from penstock.codegen.program import CHECK_SETTING, FORMAT_SETTING, MICRO_BATCH_FORMAT, SparkQuery
from penstock.runtime.progress.spark_listener import Follower, SparkListener
from penstock.runtime.spark.spark_settings import is_left_to_users


class QuerySessions:
    """The sessions of the queries of a RuntimeSession. `root` is the one that they are copies of.

    `opened`: the sessions whose queries may still run.
    """

    def __init__(self, root: SparkSession, follower: Follower) -> None:
        self.root = root
        self._listener = SparkListener(follower)
        self.opened: list[SparkSession] = []

    def open(self) -> SparkSession:
        """A session for one query, with the settings of the root as they are now. What the query does is told."""
        copied: Any = self.root._jsparkSession
        session = SparkSession(self.root.sparkContext, copied.cloneSession())
        session.streams.addListener(self._listener)
        self.opened.append(session)
        return session

    def release(self, session: SparkSession) -> None:
        """Forgets a session whose query has ended. What the query does in it later is not told. May be called twice."""
        if session in self.opened:
            self.opened.remove(session)
            session.streams.removeListener(self._listener)

    def close(self) -> None:
        """Forgets all sessions."""
        while self.opened:
            self.release(self.opened[-1])


def configure(spark: SparkSession, query: SparkQuery) -> None:
    """Tells the session of a query how its state is kept, how its files are read, and whether to check it."""
    apply_settings(spark, {CHECK_SETTING: str(query.checked).lower(), FORMAT_SETTING: MICRO_BATCH_FORMAT})
    apply_settings(spark, dict(query.state_settings))
    apply_settings(spark, files_settings(query.inputs))


def apply_settings(spark: SparkSession, settings: Mapping[str, str | None]) -> None:
    """Sets them in a session. None gives a setting the value that it has in Spark by default."""
    for name, value in settings.items():
        if value is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, value)


def drop_foreign_settings(spark: SparkSession) -> None:
    """Gives the settings of Spark SQL on which results may depend their default values.

    A Spark that others have started may have them otherwise. Settings of a whole Spark stay.
    """
    for name in spark.conf.getAll:
        if name.startswith("spark.sql.") and not is_left_to_users(name) and spark.conf.isModifiable(name):
            spark.conf.unset(name)
