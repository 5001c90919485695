"""The folder of a files sink -> a note that Penstock writes there, and the removal of the files that it has written.

Spark's log of a folder lists the files of finished micro-batches. It does not say which program wrote them. So a sink
puts a note into the log before the first micro-batch. Only files of a log with such a note are ever removed.
"""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from typing import Any

from penstock.diagnostics.codes.running import R086
from penstock.runtime.checkpoint.lock import identify_process, is_alive
from penstock.runtime.checkpoint.sink_log import LOG, list_committed
from penstock.runtime.checkpoint.spark_logs import number_files
from penstock.runtime.checkpoint.storage import Damaged, Storage
from penstock.runtime.failure.errors import RunError

NOTE = ".penstock.json"
_REMOVING = ".removing"
"""A file in a log whose listed files are gone: what is left of the log is worth nothing."""


def claim_folder(storage: Storage, folder: str) -> None:
    """Notes that this process writes the folder, unless its log was begun by something else."""
    log = f"{folder}/{LOG}"
    if storage.newest(log) < 0 or storage.is_file(f"{log}/{NOTE}"):
        storage.folder(log)
        note = {"host": socket.gethostname(), **identify_process(storage.processes)}
        storage.publish(f"{log}/{NOTE}", json.dumps(note))


def release_folder(storage: Storage, folder: str) -> None:
    """Notes that no process writes the folder, if it was claimed."""
    note = f"{folder}/{LOG}/{NOTE}"
    if storage.is_file(note):
        storage.publish(note, "{}")


def check_removable(storage: Storage, folder: str) -> None:
    """Looks whether the rows in a folder may be removed. A folder without a log has none.

    Raises:
        RunError: another program has written them, or another process writes there; or the log is damaged.
    """
    log = f"{folder}/{LOG}"
    if storage.newest(log) < 0:
        return
    note = _read_note(storage, log)
    if note is None:
        refusal = R086.at(None, path=folder).because("no note in its log says that Penstock wrote them")
        raise RunError([refusal.with_hint("remove the folder by hand, or take another path")])
    _check_unwritten(storage, folder, note)
    if not storage.is_file(f"{log}/{_REMOVING}"):
        list_committed(storage, folder)


def remove_written(storage: Storage, folder: str) -> bool:
    """Removes the files that the log of a folder lists, and the log. Other files stay.

    Returns False, and does nothing, if there is no log with a note.
    `check_removable` has allowed it. What an interruption leaves, the next call removes.
    """
    log = f"{folder}/{LOG}"
    if _read_note(storage, log) is None:
        return False
    if not storage.is_file(f"{log}/{_REMOVING}"):
        # A listed file of another size was changed by others. Only names in the folder count, whatever the log says.
        there = storage.sizes(folder)
        for name, size in (list_committed(storage, folder) or {}).items():
            if there.get(name) == size:
                storage.delete(f"{folder}/{name}")
                storage.delete(f"{folder}/.{name}.crc")
        storage.create(f"{log}/{_REMOVING}", "")
    for name in number_files(storage.names(log)).values():
        storage.delete(f"{log}/{name}")
    storage.delete(log)
    return True


def _read_note(storage: Storage, log: str) -> dict[str, Any] | None:
    with suppress(Damaged, ValueError):
        note = json.loads(storage.read(f"{log}/{NOTE}") or "null")
        return note if isinstance(note, dict) else None
    return None


def _check_unwritten(storage: Storage, folder: str, note: dict[str, Any]) -> None:
    """Raises RunError if the process of the note may still write the folder."""
    mine = {"host": socket.gethostname(), **identify_process(storage.processes)}
    match note:
        case {"host": str(host), "python": [int(), int()] as python, "jvm": [int(), int()] as jvm}:
            refusal = R086.at(None, path=folder)
            if host != mine["host"]:  # nobody here knows its processes
                told = f"process {python[0]} on {host} writes there, or has not ended in order"
                hint = f"if that process has ended, delete the note {folder}/{LOG}/{NOTE}"
                raise RunError([refusal.because(told).with_hint(hint)])
            if python == mine["python"]:
                return
            alive = next((each[0] for each in (python, jvm) if is_alive(storage.processes, each)), None)
            if alive is not None:
                raise RunError([refusal.because(f"process {alive} writes there").with_hint("stop that process first")])
