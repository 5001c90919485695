"""Connectors and file systems for which Spark needs Java archives of their own -> these archives, in Spark.

Spark does not ship them. They are taken from a folder: when a Spark is started, and by one that runs already when a
program needs them. Nothing is downloaded.

Some threads of Spark look for classes only where its JVM found them when it began: the threads that read what
tasks send back. So archives that come later go to the class loader of that time.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from py4j.java_gateway import is_instance_of
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from penstock.codegen.program import Input, Program, QueryOutput, Read
from penstock.codegen.spark_versions import Jar
from penstock.diagnostics.codes.running import R073, R085
from penstock.runtime.failure.errors import RunError
from penstock.runtime.spark.spark_version import known_spark

VARIABLE = "PENSTOCK_JARS"
"""A variable of the environment: the folder of the archives."""
FOLDER = "~/.cache/penstock/jars"
"""The folder where that variable is not set."""


_CLASSES = {
    "kafka": "org.apache.spark.sql.kafka010.KafkaSourceProvider",
    "s3a": "org.apache.hadoop.fs.s3a.S3AFileSystem",
}
"""By connector or file system: the class that Spark looks for."""
_FILE_SYSTEMS = ("s3a",)
_OPEN_LOADER = "org.apache.spark.util.MutableURLClassLoader"


def folder() -> Path:
    """Where the archives are looked for."""
    return Path(os.environ.get(VARIABLE) or FOLDER).expanduser()


def list_users(program: Program | Read | None, checkpoint: str | None = None) -> tuple[str, ...]:
    """The connectors and file systems with archives of their own that a program names, or the folder `checkpoint`."""
    places: list[Input | QueryOutput] = []
    if isinstance(program, Read):
        places += program.inputs
    elif program is not None:
        for query in program.queries:
            places += (*query.inputs, query.output)
    paths = filter(None, (checkpoint, *(each.folder for each in places)))
    named = chain(filter(None, map(_connector_of, places)), (path.partition(":")[0] for path in paths))
    return tuple(dict.fromkeys(name for name in named if name in known_spark().jars))


def list_packages(program: Program, checkpoint: str | None) -> dict[str, str]:
    """The setting that has Spark download what the folder lacks of the archives that a program needs, empty if none."""
    wanted: list[str] = []
    for user in list_users(program, checkpoint):
        jars = known_spark().jars[user]
        if any(_list_wrong(jars, folder())):
            wanted += [each.coordinates for each in jars]
    return {"spark.jars.packages": ",".join(wanted)} if wanted else {}


def _connector_of(place: Input | QueryOutput) -> str | None:
    """The connector, None for an output that Spark does not write."""
    return None if isinstance(place, QueryOutput) and not place.is_written_by_spark else place.connector


def list_jars(users: Iterable[str] | None = None) -> list[Path]:
    """The archives of connectors and file systems that have theirs in the folder. `users`: which ones, None for all."""
    found: list[Path] = []
    for user in known_spark().jars if users is None else users:
        with suppress(RunError):  # told where a program needs them
            found += find_jars(user)
    return found


def tell_how_to_read(scheme: str) -> str | None:
    """The hint that says how to get the archives of a file system, None where none are known or all are there."""
    jars = known_spark().jars.get(scheme, ())
    return _how_to_get(jars, folder()) if any(_list_wrong(jars, folder())) else None


def add_jars(spark: SparkSession, users: Iterable[str]) -> None:
    """Gives a Spark that runs the archives of connectors and file systems that it lacks.

    Raises:
        RunError: an archive of a connector is missing, or is another one.
    """
    for user in users:
        if not _has_class(_session_loader(spark), _CLASSES[user]):
            for path in _find_wanted(user):
                _add(spark, path)


def check_real_time(spark: SparkSession, program: Program) -> None:
    """Tasks of a query in real time send back how far they are, in a class of the connector.

    Raises:
        RunError: the threads that read this do not find that class.
    """
    first = _session_loader(spark).getParent()
    for query in program.queries:
        for source in query.inputs if query.real_time is not None else ():
            name = _CLASSES.get(source.connector)
            if name is not None and not _has_class(first, name):
                hint = "start a new process; Spark has the archives of that folder from its start on"
                finding = R085.at(query.span, "", query=query.name, user=source.connector)
                raise RunError([finding.because(f"They are in {folder()}.").with_hint(hint)])


def _find_wanted(user: str) -> list[Path]:
    """The archives. If a file system lacks its archives, its first path is refused, with a hint."""
    if user in _FILE_SYSTEMS:
        return list_jars([user])
    return find_jars(user)


def _add(spark: SparkSession, path: Path) -> None:
    session: Any = spark._jsparkSession
    first = _find_first_loader(spark)
    if first is not None:
        first.addURL(spark._jvm.java.net.URI(path.as_uri()).toURL())  # type: ignore[union-attr]
    session.sessionState().resourceLoader().addJar(path.as_uri())  # sends it to executors


def _session_loader(spark: SparkSession) -> Any:
    session: Any = spark._jsparkSession
    return session.sharedState().jarClassLoader()


def _find_first_loader(spark: SparkSession) -> Any:
    """The class loader that Spark's threads began with, None if it takes no archives."""
    loader = _session_loader(spark).getParent()
    gateway: Any = spark.sparkContext._gateway
    while loader is not None and not is_instance_of(gateway, loader, _OPEN_LOADER):
        loader = loader.getParent()
    return loader


def use_jars(spark: SparkSession) -> None:
    """Lets this thread, and threads that Spark starts from it, find the classes of added archives."""
    spark._jvm.java.lang.Thread.currentThread().setContextClassLoader(_session_loader(spark))  # type: ignore[union-attr]


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


def _has_class(loader: Any, name: str) -> bool:
    try:
        loader.loadClass(name)
    except Py4JJavaError:
        return False
    return True
