"""Connectors and file systems for which Spark needs Java archives of their own -> these archives, in Spark.

Spark does not ship them. They are taken from a folder: when a Spark is started, and by one that runs already when a
program needs them. Nothing is downloaded.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from penstock.codegen.program import Program
from penstock.codegen.spark_versions import Jar
from penstock.diagnostics.codes.running import R073
from penstock.runtime.errors import RunError
from penstock.runtime.spark import known_spark

VARIABLE = "PENSTOCK_JARS"
"""Of the environment: the folder of the archives."""
FOLDER = "~/.cache/penstock/jars"
"""The folder where that variable is not set."""


_CLASSES = {"kafka": "org.apache.spark.sql.kafka010.KafkaSourceProvider"}
"""By connector: the class that Spark looks for."""


def folder() -> Path:
    """Where the archives are looked for."""
    return Path(os.environ.get(VARIABLE) or FOLDER).expanduser()


def list_jars() -> list[Path]:
    """The archives of all connectors and file systems that have theirs in the folder."""
    found: list[Path] = []
    for user in known_spark().jars:
        with suppress(RunError):  # told where a program needs them
            found += find_jars(user)
    return found


def tell_how_to_read(scheme: str) -> str | None:
    """The hint that says how to get the archives of a file system, None where none are known or all are there."""
    jars = known_spark().jars.get(scheme, ())
    return _how_to_get(jars, folder()) if any(_list_wrong(jars, folder())) else None


def add_jars(spark: SparkSession, program: Program) -> None:
    """Gives a Spark that runs the archives that it lacks to read and write what a program names.

    Raises:
        RunError: an archive is missing, or is another one.
    """
    session: Any = spark._jsparkSession
    connectors = [source.connector for query in program.queries for source in query.inputs]
    connectors += [query.output.connector for query in program.queries if query.output.is_written_by_spark]
    for connector in dict.fromkeys(each for each in connectors if each in known_spark().jars):
        if not _has_class(spark, _CLASSES[connector]):
            for path in find_jars(connector):
                session.sessionState().resourceLoader().addJar(path.as_uri())


def use_jars(spark: SparkSession) -> None:
    """Lets this thread, and those that Spark starts from it, find the classes of added archives."""
    jvm, session = spark._jvm, spark._jsparkSession
    jvm.java.lang.Thread.currentThread().setContextClassLoader(session.sharedState().jarClassLoader())  # type: ignore[union-attr]


def find_jars(user: str) -> list[Path]:
    """The archives of a connector or a file system.

    Raises:
        RunError: one is missing, or is another one.
    """
    jars, place = known_spark().jars[user], folder()
    wrong = [*_list_wrong(jars, place)]
    if wrong:
        finding = R073.at(None, user=user, archives=", ".join(wrong))
        raise RunError([finding.because(f"They are looked for in {place}.").with_hint(_how_to_get(jars, place))])
    return [place / each.file for each in jars]


def _list_wrong(jars: Iterable[Jar], place: Path) -> Iterator[str]:
    for each in jars:
        path = place / each.file
        if not path.is_file():
            yield each.file
        elif hashlib.sha256(path.read_bytes()).hexdigest() != each.sha256:
            yield f"{each.file} with the SHA-256 {each.sha256}"


def _how_to_get(jars: Iterable[Jar], place: Path) -> str:
    names = " ".join(each.coordinates for each in jars)
    return f"for jar in {names}; do mvn -q dependency:copy -Dartifact=$jar -DoutputDirectory={place}; done"


def _has_class(spark: SparkSession, name: str) -> bool:
    session: Any = spark._jsparkSession
    try:
        session.sharedState().jarClassLoader().loadClass(name)
    except Py4JJavaError:
        return False
    return True
