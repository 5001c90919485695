"""Sessions of Spark for tests."""

from __future__ import annotations

from pyspark.sql import SparkSession


def open_session(spark: SparkSession, number: int) -> SparkSession:
    """A session of its own for queries that run over few rows.

    Compiling their expressions to bytecode costs more than it gains. So only every fourth number gives a session that
    does so, as those of users do.
    """
    session = spark.newSession()
    if number % 4:
        session.conf.set("spark.sql.codegen.wholeStage", "false")
        session.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    return session
