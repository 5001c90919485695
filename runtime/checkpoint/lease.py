"""A folder in an object store or a distributed file system -> a lease that says which process may write beside it.

The folder has a file for each epoch, `1`, `2` and so on. The process that made the newest one holds the lease. It
writes the file again every few seconds, with a number that grows. Another process that sees the number stand still for
a whole term takes the lease by making the file of the next epoch. No clocks of two machines are compared.

Only one of two processes can make a file, because the store refuses the second. A holder stops its queries when it
sees a newer epoch, or could not write its file for most of a term. A holder whose machine stood still for a whole term
may still finish the micro-batch that it is in. Spark's logs then let only one of the two writers finish its number.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol

from penstock.diagnostics.codes.running import R012, R018, R019
from penstock.runtime.failure.errors import RunError
from penstock.runtime.failure.failures import SPARK_ERRORS


@dataclass(frozen=True, slots=True)
class Term:
    """How long a lease lasts that is not renewed, in seconds."""

    length: float = 30.0
    renewal: float = 5.0
    """From one renewal to the next."""
    patience: float = 20.0
    """After so long without a renewal the holder gives up."""


class LeaseFiles(Protocol):
    """What of a `Storage` leases need."""

    def names(self, folder: str) -> list[str]: ...
    def read(self, path: str) -> str | None: ...
    def create(self, path: str, text: str) -> bool: ...
    def publish(self, path: str, text: str) -> None: ...
    def delete(self, path: str) -> None: ...


@contextmanager
def lease(
    files: LeaseFiles,
    folder: str,
    holder: dict[str, Any],
    has_ended: Callable[[dict[str, Any]], bool],
    lose: Callable[[RunError], None],
    term: Term = Term(),
) -> Iterator[int]:
    """Holds the lease in `folder` and gives its epoch.

    Args:
        files: where the folder is.
        folder: a folder that holds nothing but the lease.
        holder: what others are told of this process; `host` and `python`, whose first item is its number.
        has_ended: whether the process of another such description is known to have ended.
        lose: is called once, in another thread, when the lease is lost.
        term: how long it lasts.

    Raises:
        RunError: another process holds it, or the store lets two processes make one file.
    """
    held = _Held(files, folder, holder, _take(files, folder, holder, has_ended, term))
    stopped = threading.Event()
    thread = threading.Thread(target=_renew, args=(held, term, stopped, lose), name="penstock-lease", daemon=True)
    thread.start()
    try:
        yield held.epoch
    finally:
        stopped.set()
        thread.join()
        with suppress(*SPARK_ERRORS, OSError):  # else it ends by itself
            held.end()


@dataclass
class _Held:
    """A lease that this process took."""

    files: LeaseFiles
    folder: str
    holder: dict[str, Any]
    epoch: int
    beat: int = 0

    def renew(self) -> bool:
        """Renews it; False if another process has it."""
        if max(_list_epochs(self.files, self.folder), default=0) != self.epoch:
            return False
        self.beat += 1
        self.files.publish(f"{self.folder}/{self.epoch}", json.dumps({**self.holder, "beat": self.beat}))
        return True

    def end(self) -> None:
        """Lets the next process take it at once."""
        if max(_list_epochs(self.files, self.folder), default=0) == self.epoch:
            self.files.publish(f"{self.folder}/{self.epoch}", json.dumps({**self.holder, "ended": True}))


def _take(
    files: LeaseFiles,
    folder: str,
    holder: dict[str, Any],
    has_ended: Callable[[dict[str, Any]], bool],
    term: Term,
) -> int:
    while True:
        epoch = max(_list_epochs(files, folder), default=0)
        if epoch:
            _wait_for_end(files, f"{folder}/{epoch}", has_ended, term)
        path = f"{folder}/{epoch + 1}"
        if not files.create(path, json.dumps({**holder, "beat": 0})):
            continue  # another process was faster
        if files.create(path, json.dumps({**holder, "beat": 0})):
            reason = "its store lets two processes make one file"
            hint = "take a --checkpoint folder in a store that has conditional writes, as S3 has, or in HDFS"
            raise RunError([R019.at(None, path=folder.rpartition("/")[0], reason=reason).with_hint(hint)])
        for name in _list_epochs(files, folder):
            if name <= epoch:
                files.delete(f"{folder}/{name}")
        return epoch + 1


def _wait_for_end(files: LeaseFiles, path: str, has_ended: Callable[[dict[str, Any]], bool], term: Term) -> None:
    """Returns when the lease in a file is over. Raises RunError if it is renewed meanwhile."""
    first = files.read(path)
    deadline = time.monotonic() + term.length
    while True:
        text = files.read(path)
        held = _parse(text)
        if held is not None and (held.get("ended") or has_ended(held)):
            return
        if text != first and text is not None:
            place, (pid, *_) = path.rpartition("/")[0].rpartition("/")[0], (held or {}).get("python", ["?"])
            refusal = R012.at(None, pid=pid, path=place)
            raise RunError([refusal.because(f"the process runs on {(held or {}).get('host', 'an unknown host')}")])
        if time.monotonic() > deadline:
            return
        time.sleep(min(1.0, term.renewal / 5))


def _renew(held: _Held, term: Term, stopped: threading.Event, lose: Callable[[RunError], None]) -> None:
    renewed, reason = time.monotonic(), ""
    while not stopped.wait(term.renewal):
        try:
            if not held.renew():
                reason = "another process has taken it"
                break
            renewed = time.monotonic()
        except (*SPARK_ERRORS, OSError) as error:
            reason = f"it could not be renewed for {term.patience:g} s: {type(error).__name__}"
            if time.monotonic() - renewed > term.patience:
                break
    else:
        return
    place = held.folder.rpartition("/")[0]
    lose(RunError([R018.at(None, path=place, reason=reason).with_hint("start the query again, in one place alone")]))


def _list_epochs(files: LeaseFiles, folder: str) -> list[int]:
    return [int(name) for name in files.names(folder) if name.isdigit()]


def _parse(text: str | None) -> dict[str, Any] | None:
    """What a file says, None if it is empty or damaged: then it is no sign of life."""
    try:
        held = json.loads(text or "")
    except ValueError:
        return None
    return held if isinstance(held, dict) else None
