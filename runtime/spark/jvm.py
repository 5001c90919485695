"""A master URL -> a quiet Spark session in a JVM of our own: finds the JDK, starts it, keeps its noise in a file."""

from __future__ import annotations

import logging
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from penstock.codegen.program import ONE_VERSION, VERSIONS_SETTING
from penstock.diagnostics.codes.running import R001, R002
from penstock.runtime.failure.errors import RunError
from penstock.runtime.failure.failures import SPARK_ERRORS, reason
from penstock.runtime.failure.plain_lines import line_of_noise
from penstock.runtime.spark.class_archive import find_archive
from penstock.runtime.spark.jars import list_jars
from penstock.runtime.spark.spark_settings import check_settings, redact, without_secrets
from penstock.runtime.spark.spark_version import known_spark

_VERSIONS = (17, 21)
_ANY_SPARK = {
    "spark.app.name": "penstock",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.sql.session.timeZone": "UTC",
    VERSIONS_SETTING: ONE_VERSION,
}
# These write the stack trace of an exception to standard error before who called gets it.
_TRACING_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_DEFAULT_OPTIONS = "spark.driver.defaultJavaOptions"
# Compiled quickly and once; one thread collects the garbage of what is a small heap then.
SHORT_RUN_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
LONG_RUN_OPTIONS = " ".join(
    f"-XX:Tier4{name}Threshold={count}"
    for name, count in (("Invocation", 50_000), ("MinInvocation", 6_000), ("Compile", 150_000), ("BackEdge", 400_000))
)
"""Options of a JVM on this machine: code is optimised when it has run ten times as often as Java waits for.

Spark plans each micro-batch with code that runs some thousand times. Optimising it took a quarter of the CPU seconds of
a run of a minute (docs/performance.md). What handles rows runs millions of times.
"""
_JAVA_OPTIONS = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "SPARK_SUBMIT_OPTS", "SPARK_CONF_DIR")
_LOCAL_SPARK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


def start_spark(
    master: str, given: Mapping[str, str] | None = None, *, short: bool = False, users: Iterable[str] = ()
) -> SparkSession:
    """Starts Spark, in the JVM of this process if it has had a Spark before.

    Args:
        master: where Spark runs.
        given: settings of the user.
        short: whether it is for little work on files. The JVM is told so, unless the user has options for it.
        users: the connectors and file systems whose archives a short run needs. A long one has all that are there.

    Raises:
        RunError: Penstock does not run on this Spark, there is no JDK for it, a setting is refused, or Spark does not
            come up.
    """
    given = dict(given or {})
    check_settings(given)
    jdk = find_jdk()
    local = re.match(r"local(\[|$)", master) is not None
    own_options = any("JavaOptions" in name for name in given) or any(map(os.environ.get, _JAVA_OPTIONS))
    settings = _ANY_SPARK | dict(known_spark().settings) | (_LOCAL_SPARK if local else {}) | given
    if local and not own_options:
        settings[_DEFAULT_OPTIONS] = list_options(jdk, short=short)
    # What a later script needs, a Spark that runs is given (`add_jars`).
    found = list_jars(users if short else None)
    jars = [*filter(None, [settings.get("spark.jars")]), *(each.as_uri() for each in found)]
    if jars:
        settings["spark.jars"] = ",".join(jars)
    settings.setdefault("spark.sql.warehouse.dir", str(Path(tempfile.gettempdir(), "penstock-warehouse")))
    configuration = SparkConf().setMaster(master).setAll(list(settings.items()))
    at_launch = SparkConf(loadDefaults=False).setMaster(master).setAll(list(without_secrets(settings).items()))
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    logging.getLogger().addFilter(_not_of_py4j)
    for name in _TRACING_LOGGERS:
        PySparkLogger.getLogger(name).disabled = True
    # pandas is not used, or only for a column of bytes.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    # The workers of a cluster have a Python of their own.
    environment = {"JAVA_HOME": str(jdk)} | ({"PYSPARK_PYTHON": sys.executable} if local else {})
    with tempfile.TemporaryFile() as noise, _environment(environment):
        try:
            gateway = SparkContext._gateway or _launch(at_launch, noise)
            context = SparkContext(conf=configuration, gateway=gateway)
            session = SparkSession(context)
        except SPARK_ERRORS as error:
            noise.seek(0)
            told = _reason(noise.read().decode(errors="replace"), error)
            raise RunError([R002.at(None, reason=redact(told, given))]) from None
    # It prints a stack trace when the JVM hangs up while a query is being stopped.
    context._accumulatorServer.handle_error = lambda *_: None  # type: ignore[method-assign]
    return session


def is_submitted() -> bool:
    """Whether spark-submit has started this process, so that the JVM of its Spark runs already."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def join_spark(master: str | None, given: Mapping[str, str]) -> SparkSession:
    """Starts Spark in the JVM of spark-submit, with the settings that were given to it.

    Raises:
        RunError: Penstock does not run on this Spark, a setting is refused, or Spark does not come up.
    """
    check_settings(given)
    builder = SparkSession.builder.config(map={VERSIONS_SETTING: ONE_VERSION, **dict(known_spark().settings), **given})
    try:
        return (builder if master is None else builder.master(master)).getOrCreate()
    except SPARK_ERRORS as error:
        raise RunError([R002.at(None, reason=redact(reason(error), given))]) from None


def stop_spark(spark: SparkSession) -> None:
    """Closes the state stores, then stops Spark, which leaves them open. A JVM cannot end while RocksDB compacts one.

    Raises Py4JError or ConnectionError if the JVM is gone.
    """
    jvm: Any = spark._jvm
    callbacks = spark.sparkContext._gateway.gateway_property.pool  # type: ignore[union-attr]
    try:
        stores = getattr(jvm.org.apache.spark.sql.execution.streaming.state, "StateStore$")
        getattr(stores, "MODULE$").stop()
    finally:
        spark.stop()
        callbacks.clear()  # they may refer to DuckDB, which complains at exit if it is in use


def list_options(jdk: Path, *, short: bool) -> str:
    """The options of a JVM on this machine, with the archive of Spark's classes if there is one."""
    options = SHORT_RUN_OPTIONS if short else LONG_RUN_OPTIONS
    with suppress(OSError, RuntimeError):  # the user has no home, or may not look there
        archive = find_archive(jdk)
        return f'{options} -XX:SharedArchiveFile="{archive}"' if archive.is_file() else options
    return options


def has_ended(spark: SparkSession) -> bool:
    """Whether the JVM is gone, or its Spark is stopped."""
    try:
        return bool(spark.sparkContext._jsc.sc().isStopped())
    except SPARK_ERRORS:
        return True


def _launch(configuration: SparkConf, noise: IO[bytes]) -> Any:
    """Starts a JVM that signals do not end, because they go to it, too, when they tell Penstock to stop the queries.

    It ends with this process, whatever ends that: its standard input is then closed.
    """
    # Ctrl-C, a hang-up and `timeout` tell the process group, systemd all processes.
    streams = {"stdout": noise, "stderr": noise, "start_new_session": True}
    gateway: Any = launch_gateway(configuration, streams)  # type: ignore[no-untyped-call]
    if gateway.proc is not None:  # None: spark-submit has started this process
        signals = gateway.jvm.sun.misc
        for name in ("TERM", "HUP"):
            signals.Signal.handle(signals.Signal(name), signals.SignalHandler.SIG_IGN)
    return gateway


def _reason(noise: str, error: Exception) -> str:
    """What Spark says, or where it never came up the first line in which its JVM speaks of an error."""
    is_up = isinstance(error, Py4JError) or getattr(error, "_origin", None) is not None
    return (reason(error) if is_up else line_of_noise(noise)) or line_of_noise(noise) or reason(error)


def find_jdk() -> Path:
    """The home of a JDK 17 or 21: the home in JAVA_HOME, else the home of the `java` on the PATH.

    Raises:
        RunError: neither is one.
    """
    seen = []
    for java in filter(None, (_java(os.environ.get("JAVA_HOME")), shutil.which("java"))):
        version = _version(java)
        if version in _VERSIONS:
            return Path(java).resolve().parent.parent
        seen.append(f"{java} is version {version}" if version else f"{java} does not run")
    finding = R001.at(None).with_hint(_how_to_get())
    raise RunError([finding.because("; ".join(seen)) if seen else finding])


def _java(home: str | None) -> str | None:
    return shutil.which("java", path=str(Path(home, "bin"))) if home else None


def _version(java: str) -> int | None:
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    version = re.search(r'version "(\d+)', told)
    return int(version[1]) if version else None


def _how_to_get() -> str:
    if platform.system() == "Darwin":
        return "brew install openjdk@17, then export JAVA_HOME=$(brew --prefix openjdk@17)"
    for tool, command in (
        ("apt-get", "sudo apt-get install openjdk-17-jdk-headless"),
        ("dnf", "sudo dnf install java-17-openjdk-headless"),
    ):
        if shutil.which(tool):
            return command
    return "get one from https://adoptium.net and set JAVA_HOME to its folder"


def _not_of_py4j(record: logging.LogRecord) -> bool:
    """py4j writes stack traces to the root logger when the JVM goes away; who called it gets an exception anyway."""
    return "py4j" not in record.pathname


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
