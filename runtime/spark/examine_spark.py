"""A Spark and a checkpoint folder -> what was tried of them before a query needs it, on every executor."""

from __future__ import annotations

import platform
import uuid
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pyspark.sql import SparkSession

from penstock.diagnostics.codes.running import R045, R047, R049
from penstock.runtime.checkpoint.lock import lock
from penstock.runtime.checkpoint.storage import Storage, is_local
from penstock.runtime.failure.errors import RunError
from penstock.runtime.failure.failures import SPARK_ERRORS, reason
from penstock.runtime.spark.workers import LEAST, check_shared, check_workers

PACKAGES = ("pyspark", *LEAST)
"""What workers need."""
_ROUNDS = 5
_ROWS = 100


def list_versions() -> dict[str, str | None]:
    """The versions of Python and of what workers need on this machine, None where one is missing."""
    return {"python": platform.python_version(), **{name: _find_version(name) for name in PACKAGES}}


def examine(spark: SparkSession, folder: str | None) -> Iterator[str]:
    """Tries what queries need, and says of each step what was found.

    Args:
        spark: the cluster.
        folder: the folder of checkpoints, as `Storage.qualify` gives it; None if there is none.

    Raises:
        RunError: at the first step that fails, with what to do.
    """
    context: Any = spark.sparkContext
    if folder is None and not is_local(spark):
        finding = R045.at(None, master=context.master)
        raise RunError([finding.with_hint("--checkpoint hdfs:///state, or another folder that all workers see")])
    check_workers(spark, set(PACKAGES))
    yield f"the Python of the workers, {context.pythonExec}, has what queries need"
    executors = _exchange_rows(spark)
    yield f"rows went to DuckDB and back on {_count(len(executors), 'executor')}: {', '.join(sorted(executors))}"
    if folder is not None:
        storage = Storage(spark)
        if storage.is_on_disk(folder) and not is_local(spark):
            check_shared(spark, storage, folder)
        tasks = _exchange_files(spark, storage, folder)
        yield f"{_count(tasks, 'task')} wrote files in {folder}, and this machine read and removed them"
        place = f"{folder}/.doctor-{uuid.uuid4().hex}"
        with lock(spark, storage, f"{place}/lock", _ignore):
            yield f"a checkpoint in {folder} can be locked"
        storage.delete(place)


def _exchange_rows(spark: SparkSession) -> set[str]:
    """Lets every executor answer a query of DuckDB over Arrow batches. Returns their hosts and numbers.

    Raises:
        RunError: a worker cannot, or an executor got no task in several tries.
    """
    context: Any = spark.sparkContext
    known = {str(each) for each in _list_executors(spark)}
    answered: set[str] = set()
    for _ in range(_ROUNDS):
        tasks = max(2 * int(context.defaultParallelism), 2)
        rows = spark.range(0, tasks * _ROWS, 1, tasks).mapInArrow(_answer(), "host string, executor string, total long")
        try:
            found = rows.collect()
        except SPARK_ERRORS as error:
            raise RunError([R047.at(None, python=context.pythonExec, host="a worker", reason=reason(error))]) from None
        if sum(row.total for row in found) != tasks * _ROWS * (tasks * _ROWS - 1) // 2:
            raise RunError([R047.at(None, python=context.pythonExec, host="a worker", reason="its sums are wrong")])
        answered |= {f"{row.host} ({row.executor})" for row in found}
        if len(answered) >= len(known):
            return answered
    told = f"{len(known) - len(answered)} of {len(known)} executors took no task"
    raise RunError([R047.at(None, python=context.pythonExec, host="the cluster", reason=told)])


def _answer() -> Any:
    def answer(batches: Iterable[Any]) -> Iterator[Any]:  # by value: the workers do not have Penstock
        import os
        import socket
        import time

        import duckdb
        import pyarrow as pa

        with duckdb.connect() as connection:
            connection.register("rows", pa.Table.from_batches(list(batches)))
            ((total,),) = connection.execute("SELECT CAST(sum(id) AS BIGINT) FROM rows").fetchall()
        time.sleep(0.2)  # else one executor might take all tasks
        executor = os.path.basename(os.environ.get("SPARK_EXECUTOR_DIRS", "")) or f"process {os.getppid()}"
        yield pa.RecordBatch.from_pydict({"host": [socket.gethostname()], "executor": [executor], "total": [total]})

    return answer


def _list_executors(spark: SparkSession) -> list[Any]:
    """The executors that take tasks. The driver is listed, too, but it takes no tasks where there are others."""
    infos = list(spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos())
    return infos[1:] if len(infos) > 1 else infos


def _exchange_files(spark: SparkSession, storage: Storage, folder: str) -> int:
    """Lets tasks write files through Spark's file systems, and reads them here. Returns how many tasks there were.

    Raises:
        RunError: a file cannot be written, or is not found.
    """
    place = f"{folder}/.doctor-{uuid.uuid4().hex}"
    tasks = max(2 * int(spark.sparkContext.defaultParallelism), 2)
    try:
        spark.range(0, tasks, 1, tasks).selectExpr("CAST(id AS STRING)").write.text(place)
        found = [storage.read(f"{place}/{name}") for name in storage.names(place) if name.startswith("part-")]
        read = {text.strip() for text in found if text}
    except SPARK_ERRORS as error:
        raise RunError([R049.at(None, path=folder, reason=reason(error))]) from None
    finally:
        storage.delete(place)
    if read != set(map(str, range(tasks))):
        told = f"this machine finds {len(read)} of the {tasks} files that they wrote"
        raise RunError([R049.at(None, path=folder, reason=told)])
    return tasks


def _find_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _ignore(loss: RunError) -> None:
    """What a lost lock means here: another `penstock doctor` has the folder's name, which is new."""
