"""Runs small queries and writes an archive of the classes that they load. Later JVMs start faster from it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from pyspark import SparkContext

from penstock.runtime.runtime_session import RuntimeSession
from penstock.runtime.spark.class_archive import find_archive
from penstock.runtime.spark.jvm import SHORT_RUN_OPTIONS, find_jdk, start_spark, stop_spark


def write_archive(
    run: Callable[[RuntimeSession, Path], None], options: str = SHORT_RUN_OPTIONS, archive: Path | None = None
) -> Path:
    """Starts a JVM with these options, lets `run` use it with a folder, and ends it. Then it writes the archive.

    `archive`: its path, None for the place where a JVM that starts looks for it.

    Raises:
        RunError: there is no JDK, or Spark does not come up.
        OSError: the archive cannot be written.
        RuntimeError: this JDK writes none, or there is no home folder.
    """
    archive = archive or find_archive(find_jdk())
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        unfinished = Path(folder, archive.name)
        jvm_options = f'{options} -XX:ArchiveClassesAtExit="{unfinished}" -Xlog:disable'
        spark = start_spark("local[2]", {"spark.driver.extraJavaOptions": jvm_options})
        try:
            with RuntimeSession(spark, f"{folder}/state") as session:
                run(session, Path(folder))
        finally:
            stop_spark(spark)
            _end_jvm()
        if not unfinished.is_file():
            raise RuntimeError("this JDK writes no archive of classes")
        unfinished.replace(archive)
    return archive


def _end_jvm() -> None:
    """Ends the JVM of this process, and waits until it has written what it writes at its end."""
    gateway = SparkContext._gateway
    assert gateway is not None
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()
    SparkContext._gateway = SparkContext._jvm = None
