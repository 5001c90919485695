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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from penstock.diagnostics.codes.running import R001, R002
from penstock.runtime.errors import RunError

_VERSIONS = (17, 21)
_ANY_SPARK = {
    "spark.app.name": "penstock",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.pyspark.python": sys.executable,
    "spark.pyspark.driver.python": sys.executable,
    "spark.sql.session.timeZone": "UTC",
    # Spark SQL can run programs and read any file; what we send it never asks for that.
    "spark.sql.restrictedMode.enabled": "true",
}
_LOCAL_SPARK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


def start_spark(master: str) -> SparkSession:
    """Starts Spark, in the JVM that this process already has if it has one.

    Raises:
        RunError: there is no JDK that Spark runs on, or Spark does not come up.
    """
    settings = _ANY_SPARK | (_LOCAL_SPARK if master.startswith("local") else {})
    settings["spark.sql.warehouse.dir"] = str(Path(tempfile.gettempdir(), "penstock-warehouse"))
    configuration = SparkConf().setMaster(master).setAll(list(settings.items()))
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    with tempfile.TemporaryFile() as noise:
        try:
            with _java_home(find_jdk()):
                gateway = SparkContext._gateway or launch_gateway(configuration, {"stdout": noise, "stderr": noise})
            context = SparkContext(conf=configuration, gateway=gateway)
        except (PySparkException, Py4JError) as error:
            noise.seek(0)
            said = [line for line in noise.read().decode(errors="replace").splitlines() if "ERROR" in line or "Error" in line]
            reason = said[0].strip() if said else str(error).splitlines()[0]
            raise RunError([R002.at(None, reason=reason)]) from None
    return SparkSession(context)


def find_jdk() -> Path:
    """The home of a JDK 17 or 21: that of JAVA_HOME, else that of the `java` on the PATH.

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
    found = re.search(r'version "(\d+)', told)
    return int(found[1]) if found else None


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


@contextmanager
def _java_home(home: Path) -> Iterator[None]:
    before = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(home)
    try:
        yield
    finally:
        if before is None:
            del os.environ["JAVA_HOME"]
        else:
            os.environ["JAVA_HOME"] = before
