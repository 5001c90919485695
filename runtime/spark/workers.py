"""A cluster -> whether the Python of its workers can run a program. Spark reports this late and unclearly.

A job that does not use PySpark's Python workers runs the workers' Python as a program and reads what it prints.
"""

from __future__ import annotations

import json
import platform
import re
import uuid
from collections.abc import Iterator, Mapping

import pyspark
from pyspark.sql import SparkSession

from penstock.codegen.program import PackedView, Program, RemoteView, View
from penstock.diagnostics.codes.running import R047, R049
from penstock.runtime.checkpoint.storage import Storage
from penstock.runtime.connectors import lookup_of, source_of
from penstock.runtime.failure.errors import RunError
from penstock.runtime.failure.failures import SPARK_ERRORS, reason

LEAST: dict[str, tuple[int, ...]] = {"pyarrow": (18,), "pandas": (2, 2), "duckdb": (2, 0)}
"""The oldest versions of packages that the workers take."""
_TASKS = 32
_SHARE = "--checkpoint hdfs:///state, or another folder that all workers see"
# Spark puts its own archives in the path of the workers, too.
_ASK = """
import glob, json, os, platform, socket, sys
sys.path += glob.glob(os.path.join(os.environ.get("SPARK_HOME", ""), "python", "lib", "*.zip"))
versions = {"python": platform.python_version()}
for name in sys.argv[1:]:
    try:
        versions[name] = getattr(__import__(name), "__version__", "")
    except Exception:
        versions[name] = None
print(json.dumps([socket.gethostname(), versions]))
"""


def list_needed_packages(program: Program) -> set[str]:
    """The packages that Python workers need for the queries of a program; none where no worker runs Python."""
    needed: set[str] = set()
    for query in program.queries:
        if not all(isinstance(view, View) for view in query.views):
            needed |= {"pyspark", "pyarrow", "pandas"}
        if not all(isinstance(view, View | PackedView | RemoteView) for view in query.views):
            needed.add("duckdb")
        places = [*query.inputs, *([query.output] if query.output.is_written_by_spark else [])]
        if any("avro" in (each.values.get("format"), each.values.get("key_format")) for each in places):
            needed |= {"pyspark", "pyarrow", "pandas", "fastavro"}
        for source in query.inputs:
            needed |= source_of(source).packages
        for view in query.views:
            if isinstance(view, RemoteView):
                needed |= lookup_of(view).packages
    return needed


def check_workers(spark: SparkSession, needed: set[str]) -> None:
    """Asks the workers of a cluster for the versions of their Python and of its packages.

    Raises:
        RunError: some worker has no such Python, or lacks a package.
    """
    context, names = spark.sparkContext, sorted(needed)
    python = context.pythonExec
    tasks = min(context.defaultParallelism, _TASKS)
    try:
        numbers = context._jsc.parallelize([*range(tasks)], tasks)
        told = {str(line) for line in numbers.pipe([python, "-c", _ASK, *names]).collect()}
    except SPARK_ERRORS as error:
        finding = R047.at(None, python=python, host="the workers", reason=reason(error))
        raise RunError([finding.with_hint(_hint(python, {}))]) from None
    findings = []
    for host, versions in sorted(map(json.loads, told), key=lambda each: str(each[0])):
        wrong = [*_objections(versions)]
        if wrong:
            missing = {name: version for name, version in versions.items() if name != "python"}
            finding = R047.at(None, python=python, host=host, reason="; ".join(wrong))
            findings.append(finding.with_hint(_hint(python, missing)))
    if findings:
        raise RunError(findings)


def check_shared(spark: SparkSession, storage: Storage, folder: str) -> None:
    """Refuses a checkpoint folder on disks that are not shared by this machine and all workers.

    Raises:
        RunError: some worker does not see a file that this machine has written there.
    """
    path = f"{folder}/.shared-{uuid.uuid4().hex}"
    storage.folder(folder)
    storage.create(path, "")
    context = spark.sparkContext
    tasks = min(context.defaultParallelism, _TASKS)
    try:
        numbers = context._jsc.parallelize([*range(tasks)], tasks)
        ask = ["sh", "-c", 'test -e "$1" || hostname', "sh", path.removeprefix("file:")]
        hosts = {str(line) for line in numbers.pipe(ask).collect()}
    except SPARK_ERRORS as error:
        raise RunError([R049.at(None, path=folder, reason=reason(error)).with_hint(_SHARE)]) from None
    finally:
        storage.delete(path)
    if hosts:
        told = f"{', '.join(sorted(hosts))} does not find a file that this machine has written there"
        raise RunError([R049.at(None, path=folder, reason=told).with_hint(_SHARE)])


def _objections(versions: Mapping[str, str | None]) -> Iterator[str]:
    """What is wrong with the versions of a worker's Python and its packages, None where there is none."""
    here = {"python": platform.python_version(), "pyspark": pyspark.__version__}
    for name, version in versions.items():
        if version is None:
            yield f"it has no {name}"
        elif name in here and _numbers(version)[:2] != _numbers(here[name])[:2]:
            yield f"its {name} is {version}, on this machine it is {here[name]}"
        elif _numbers(version) < LEAST.get(name, ()):
            yield f"its {name} is {version}, and at least {'.'.join(map(str, LEAST[name]))} is needed"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def _hint(python: str, packages: Mapping[str, str | None]) -> str:
    pins = {"pyspark": f"pyspark=={pyspark.__version__}"}
    pins |= {name: f"'{name}>={'.'.join(map(str, least))}'" for name, least in LEAST.items()}
    wanted = " ".join(pins.get(name, name) for name in packages or pins)
    return f"on each worker: {python} -m pip install {wanted}; or export PYSPARK_PYTHON=… with the path of another one"
