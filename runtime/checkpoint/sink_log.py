"""A folder that Spark's file sink writes -> the files of its finished micro-batches, or what of them is lost.

The log `_spark_metadata` has a file for each micro-batch, also for one without rows. Readers see what it lists.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Protocol

from penstock.diagnostics.codes.running import R052, R053
from penstock.runtime.checkpoint.spark_logs import SINK_ENTRY, entries, first_gap, number_files, span
from penstock.runtime.checkpoint.storage import Damaged, Storage
from penstock.runtime.failure.errors import BEGIN_ANEW, RunError

LOG = "_spark_metadata"
_RESTORE = "restore it from a backup; without one its rows are lost: remove the folder, and add --reset"
_RESTORE_FILE = f"restore it from a backup; without one its rows are lost: {BEGIN_ANEW}"


class LogFiles(Protocol):
    """What of a `Storage` logs and checkpoints are read with."""

    def is_file(self, path: str) -> bool: ...
    def is_folder(self, path: str) -> bool: ...
    def names(self, folder: str) -> list[str]: ...
    def newest(self, log: str) -> int: ...
    def read(self, path: str) -> str | None: ...


def rows_folder(place: str) -> str:
    """The folder of the rows that the query with the checkpoint folder `place` writes for other queries."""
    return f"{place}/rows"


def list_committed(storage: LogFiles, folder: str) -> dict[str, int] | None:
    """The files that Spark's file sink has committed to a folder, with their sizes, in the order of its micro-batches.

    None if it has never written there.

    Raises:
        RunError: a file of the log is missing or damaged.
    """
    log, gap = f"{folder}/{LOG}", None
    while storage.is_folder(log):
        files = number_files(storage.names(log))
        before, gap = gap, first_gap(files, max(files, default=-1))
        # A file that is written while the folder is listed may be missing, but not a second time.
        if gap is not None and gap == before:
            raise _refusal(Damaged(f"{log}/{gap}", "it is missing"))
        if gap is None:
            sizes = _read_log(storage, log, files)
            if sizes is not None:
                return sizes
    return None


def check_log(storage: Storage, folder: str, newest: int) -> None:
    """Raises RunError if the log of the folder does not hold all micro-batches up to `newest`."""
    log = f"{folder}/{LOG}"
    if newest >= 0 and not storage.is_folder(log):
        raise _refusal(Damaged(log, f"it is missing, and the checkpoint has finished micro-batch {newest}"))
    files = number_files(storage.names(log))
    gap = first_gap(files, max(newest, max(files, default=-1)))
    if gap is not None:
        raise _refusal(Damaged(f"{log}/{gap}", "it is missing"))


def check_files(storage: Storage, folder: str, done: Container[str] = ()) -> None:
    """Raises RunError if a committed file of the folder that is not in `done` is missing, or has another size."""
    listed = list_committed(storage, folder)
    if listed is None:
        return
    sizes = storage.sizes(folder)
    wrong = [name for name, size in listed.items() if sizes.get(name) != size and name not in done]
    if wrong:
        name, more = wrong[0], f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        is_ = f"it has {sizes[name]} bytes" if name in sizes else "it is missing"
        finding = R053.at(None, path=f"{folder}/{name}")
        raise RunError([finding.because(f"{is_}, and was written with {listed[name]}{more}").with_hint(_RESTORE_FILE)])


def _read_log(storage: LogFiles, log: str, files: Mapping[int, str]) -> dict[str, int] | None:
    """What the log lists; None if Spark has deleted a file of it meanwhile, which a later one replaces."""
    sizes: dict[str, int] = {}
    for name in (files[number] for number in span(files, max(files, default=-1))):
        path = f"{log}/{name}"
        try:
            text = storage.read(path)
            if text is None:
                return None
            sizes |= {each["path"].rpartition("/")[2]: each["size"] for each in entries(path, text, SINK_ENTRY)}
        except Damaged as damage:
            raise _refusal(damage) from None
    return sizes


def _refusal(damage: Damaged) -> RunError:
    return RunError([R052.at(None, path=damage.path).because(damage.reason).with_hint(_RESTORE)])
