"""Connectors that Spark reads with Java archives of their own -> these archives, in Spark.

Spark does not ship them. They are taken from a folder: when a Spark is started, and by one that runs already when a
program needs them. Nothing is downloaded.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyspark
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from penstock.codegen.program import Program
from penstock.diagnostics.codes.running import R073
from penstock.runtime.errors import RunError

VARIABLE = "PENSTOCK_JARS"
"""Of the environment: the folder of the archives."""
FOLDER = "~/.cache/penstock/jars"
"""The folder where that variable is not set."""


@dataclass(frozen=True, slots=True)
class Jar:
    """An archive of Maven's: `group:artifact:version`, and its SHA-256."""

    coordinates: str
    sha256: str

    @property
    def file(self) -> str:
        """Its name in the folder."""
        _, artifact, version = self.coordinates.split(":")
        return f"{artifact}-{version}.jar"


# Maven has no spark-sql-kafka of 4.3 yet; that of 4.2 runs with it.
_KAFKA_4_2 = (
    Jar(
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
        "64539c45e5d39f7ddb747312c239f38f5208d08c1a0ddf7d70beb2fbd9373705",
    ),
    Jar(
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.2.0",
        "641c7947afc8aa1189e433b7c2d305293993c8691bc1c2062d6d4f513b12518c",
    ),
    Jar("org.apache.kafka:kafka-clients:3.9.2", "014b4ef36884478a932641818b080c36a8f8e2e92dc771e800c9d2694f4f83d8"),
    Jar("org.apache.commons:commons-pool2:2.13.1", "f77a5060d6936a9144023584232f9de3f2248f1abfe156e9d31795f18770674f"),
)
JARS: dict[str, dict[str, tuple[Jar, ...]]] = {"kafka": {"4.3.0": _KAFKA_4_2}}
"""By connector and version of Spark."""
_CLASSES = {"kafka": "org.apache.spark.sql.kafka010.KafkaSourceProvider"}
"""By connector: the class that Spark looks for."""


def folder() -> Path:
    """Where the archives are looked for."""
    return Path(os.environ.get(VARIABLE) or FOLDER).expanduser()


def list_jars() -> list[Path]:
    """The archives of all connectors that have theirs in the folder."""
    found: list[Path] = []
    for connector in JARS:
        with suppress(RunError):  # told where a program needs them
            found += find_jars(connector)
    return found


def add_jars(spark: SparkSession, program: Program) -> None:
    """Gives a Spark that runs the archives that it lacks to read and write what a program names.

    Raises:
        RunError: an archive is missing, or is another one.
    """
    session: Any = spark._jsparkSession
    connectors = [source.connector for query in program.queries for source in query.inputs]
    connectors += [query.output.connector for query in program.queries if query.output.is_written_by_spark]
    for connector in dict.fromkeys(each for each in connectors if each in JARS):
        if not _has_class(spark, _CLASSES[connector]):
            for path in find_jars(connector):
                session.sessionState().resourceLoader().addJar(path.as_uri())


def use_jars(spark: SparkSession) -> None:
    """Lets this thread, and those that Spark starts from it, find the classes of added archives."""
    jvm, session = spark._jvm, spark._jsparkSession
    jvm.java.lang.Thread.currentThread().setContextClassLoader(session.sharedState().jarClassLoader())  # type: ignore[union-attr]


def find_jars(connector: str) -> list[Path]:
    """The archives of a connector.

    Raises:
        RunError: one is missing, or is another one.
    """
    jars = JARS[connector].get(pyspark.__version__)
    if jars is None:
        found = R073.at(None, connector=connector, archives=f"none are known for Spark {pyspark.__version__}")
        raise RunError([found.with_hint(f"pip install pyspark=={max(JARS[connector])}")])
    place = folder()
    wrong = [*_list_wrong(jars, place)]
    if wrong:
        finding = R073.at(None, connector=connector, archives=", ".join(wrong))
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
