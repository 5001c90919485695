"""A path -> a lock that says which process may write beside it. It is void when that process has ended.

On disks it is a file. Elsewhere it is a lease, because the process may be on another machine (`lease.py`).

Two Spark queries on one checkpoint notice each other only after both have written. The JVM of a killed process lives
for a moment and may still commit a batch. So the process and its JVM must both have ended.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from pyspark.sql import SparkSession

from penstock.diagnostics.codes.running import R012, R051
from penstock.runtime.checkpoint.lease import lease
from penstock.runtime.checkpoint.storage import Damaged, Storage
from penstock.runtime.failure.errors import RunError
from penstock.runtime.failure.failures import SPARK_ERRORS

_JVM_END_SECONDS = 30.0
_START_TOLERANCE_MS = 10_000  # a system's idea of when a process started moves a little with its clock


@contextmanager
def lock(spark: SparkSession, storage: Storage, path: str, lose: Callable[[RunError], None]) -> Iterator[None]:
    """Holds the lock `path` for this process. `lose` is called in another thread if it is lost.

    Raises:
        RunError: another process that is alive holds it, or one on another host, where nothing can be known. Or
            the file is damaged, or the store cannot keep a lease.
    """
    processes: Any = spark._jvm.java.lang.ProcessHandle  # type: ignore[union-attr]
    starts = identify_process(processes)
    if storage.is_on_disk(path):
        with _lock_file(processes, storage, path, {"host": socket.gethostname(), **starts}):
            yield
        return
    mine = {"host": socket.gethostname(), "space": _read_process_space(), **starts}

    def has_ended(held: dict[str, Any]) -> bool:
        is_here = all(held.get(name) == mine[name] for name in ("host", "space"))
        return is_here and not any(is_alive(processes, held[name]) for name in ("python", "jvm"))

    with lease(storage, path, mine, has_ended, lose):
        yield


def identify_process(processes: Any) -> dict[str, list[int]]:
    """The numbers of this process and of its JVM, and when it was started. `processes`: `Storage.processes`."""
    pids = {"python": os.getpid(), "jvm": processes.current().pid()}
    return {name: [pid, _read_start_time(processes, pid)] for name, pid in pids.items()}


@contextmanager
def _lock_file(processes: Any, storage: Storage, path: str, mine: dict[str, Any]) -> Iterator[None]:
    deadline = time.monotonic() + _JVM_END_SECONDS
    while not storage.create(path, json.dumps(mine)):
        held = _holder(storage, path)
        if held is None:  # its holder is about to write it, or has just removed it, or was killed in between
            if time.monotonic() > deadline:
                storage.delete(path)
        elif held["host"] != mine["host"]:
            refusal = R012.at(None, pid=held["python"][0], path=path.rpartition("/")[0])
            hint = f"if that process has ended, delete {path}"
            raise RunError([refusal.because(f"the process runs on {held['host']}").with_hint(hint)])
        elif is_alive(processes, held["python"]):
            raise RunError([R012.at(None, pid=held["python"][0], path=path.rpartition("/")[0])])
        elif is_alive(processes, held["jvm"]) and time.monotonic() > deadline:
            refusal = R012.at(None, pid=held["jvm"][0], path=path.rpartition("/")[0])
            told = f"it is the JVM of process {held['python'][0]}, which has ended"
            raise RunError([refusal.because(told).with_hint(f"kill -9 {held['jvm'][0]}")])
        elif not is_alive(processes, held["jvm"]):
            storage.delete(path)
            continue
        time.sleep(0.1)
    try:
        yield
    finally:
        with suppress(*SPARK_ERRORS):  # where the JVM is gone, the lock ends with this process
            storage.delete(path)


def _read_process_space() -> str:
    """Tells apart machines, and containers, of one name. A process number means something only within one of them."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return f"{file.read().strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:  # not Linux
        return ""


def _holder(storage: Storage, path: str) -> dict[str, Any] | None:
    """Who holds the lock; None if the file is empty, or gone.

    Raises:
        RunError: it holds something else.
    """
    try:
        text = storage.read(path)
    except Damaged as damage:
        raise _refuse_damaged(path, damage.reason) from None
    if not text:
        return None
    try:
        held: dict[str, Any] = json.loads(text)
    except ValueError:
        raise _refuse_damaged(path, "it is not JSON") from None
    match held:
        case {"host": str(), "python": [int(), int()], "jvm": [int(), int()]}:
            return held
    raise _refuse_damaged(path, "it does not say which process holds it")


def _refuse_damaged(path: str, reason: str) -> RunError:
    hint = f"if no process uses the checkpoint, delete {path}: nothing else is kept in it"
    return RunError([R051.at(None, path=path).because(reason).with_hint(hint)])


def _read_start_time(processes: Any, pid: int) -> int:
    """When a process started, in milliseconds since 1970; 0 if there is none, or the system does not tell."""
    process = processes.of(pid)
    if not process.isPresent() or not process.get().isAlive():
        return 0
    start = process.get().info().startInstant()
    return int(start.get().toEpochMilli()) if start.isPresent() else 0


def is_alive(processes: Any, process: list[int]) -> bool:
    """Whether the process still runs. Its number alone may belong to a later one."""
    pid, started = process
    known = processes.of(pid)
    return (
        known.isPresent()
        and known.get().isAlive()
        and abs(_read_start_time(processes, pid) - started) < _START_TOLERANCE_MS
    )
