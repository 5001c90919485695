"""The folder of a files sink -> a note that Penstock writes there, and the removal of the files that it has written.

Spark's log of a folder lists the files of finished micro-batches. It does not say which program wrote them. So a sink
puts a note into the log before the first micro-batch, with its process. At its end it notes the last micro-batch
instead. Only files of a log with such a note are ever removed, and none if the log has gone on after the note.
"""

from __future__ import annotations

import json
import socket
from collections import Counter
from contextlib import suppress
from threading import Lock
from typing import Any, cast

from penstock.diagnostics.codes.running import R086
from penstock.runtime.checkpoint.lock import identify_process, is_alive
from penstock.runtime.checkpoint.sink_log import LOG, list_committed
from penstock.runtime.checkpoint.spark_logs import number_files
from penstock.runtime.checkpoint.storage import Damaged, Storage
from penstock.runtime.failure.errors import RunError

NOTE = ".penstock"
_LAST = "last"
"""The field of a note that says the last micro-batch, when its writer has ended in order."""
_REMOVING = ".removing"
"""A file in a log whose listed files are gone: what is left of the log is worth nothing. A new log never has it."""


_CLAIMS: Counter[str] = Counter()
"""The folders that queries of this process write now, of all its sessions, and how many do."""
_LOCK = Lock()


def claim_folder(storage: Storage, folder: str) -> None:
    """Notes that this process writes the folder, unless something else has written its log, or the end of it.

    Raises:
        RunError: a removal of the rows was interrupted, and has left a part of the log.
    """
    log = f"{folder}/{LOG}"
    if storage.is_file(f"{log}/{_REMOVING}"):
        if storage.newest(log) >= 0:
            refusal = R086.at(None, path=folder).because("a removal was interrupted, and has left a part of the log")
            raise RunError([refusal.with_hint("add --overwrite, which goes on with it")])
        storage.delete(log)
    if storage.newest(log) < 0 or _is_whole(storage, log, _read_note(storage, log)):
        storage.folder(log)
        note = {"host": socket.gethostname(), **identify_process(storage.processes)}
        with _LOCK:
            storage.publish(f"{log}/{NOTE}", json.dumps(note))
            _CLAIMS[folder] += 1


def release_folder(storage: Storage, folder: str) -> None:
    """Notes up to which micro-batch this process has written the folder. No batch leaves no note.

    Nothing is noted if the folder was not claimed, or another query of this process has claimed it, too.
    """
    with _LOCK:
        claims = _CLAIMS.pop(folder, 0)
        if claims > 1:
            _CLAIMS[folder] = claims - 1
        if claims != 1:
            return
        log = f"{folder}/{LOG}"
        newest = storage.newest(log)
        if newest < 0:
            storage.delete(f"{log}/{NOTE}")
        else:
            storage.publish(f"{log}/{NOTE}", json.dumps({_LAST: newest}))


def check_removable(storage: Storage, folder: str) -> None:
    """Looks whether the rows in a folder may be removed. A folder without a log has none.

    Raises:
        RunError: another program has written them, or another process writes there; or the log is damaged.
    """
    log = f"{folder}/{LOG}"
    note = _read_note(storage, log)
    if note is not None:
        _check_unwritten(storage, folder, note)
    newest = storage.newest(log)
    if newest < 0:
        return
    by_hand = "remove the folder by hand, or take another path"
    if note is None:
        refusal = R086.at(None, path=folder).because("no note in its log says that Penstock wrote them")
        raise RunError([refusal.with_hint(by_hand)])
    if not _is_whole(storage, log, note):
        told = f"Penstock wrote micro-batches up to {note[_LAST]}, and the log goes on to {newest}"
        raise RunError([R086.at(None, path=folder).because(told).with_hint(by_hand)])
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
    """What the note says: the process that writes, or the last micro-batch if its writer has ended."""
    with suppress(Damaged, ValueError):
        note = json.loads(storage.read(f"{log}/{NOTE}") or "null")
        match note:
            case {"last": int()} | {"host": str(), "python": [int(), int()], "jvm": [int(), int()]}:
                return cast(dict[str, Any], note)
    return None


def _is_whole(storage: Storage, log: str, note: dict[str, Any] | None) -> bool:
    """Whether all micro-batches of the log come from the writer of the note."""
    return note is not None and (_LAST not in note or storage.newest(log) <= note[_LAST])


def _check_unwritten(storage: Storage, folder: str, note: dict[str, Any]) -> None:
    """Raises RunError if the process of the note may still write the folder."""
    mine = {"host": socket.gethostname(), **identify_process(storage.processes)}
    if "host" not in note:
        return
    refusal = R086.at(None, path=folder)
    python, jvm = note["python"], note["jvm"]
    if note["host"] != mine["host"]:  # nobody here knows its processes
        told = f"process {python[0]} on {note['host']} writes there, or has not ended in order"
        hint = f"if that process has ended, delete the note {folder}/{LOG}/{NOTE}"
        raise RunError([refusal.because(told).with_hint(hint)])
    if python == mine["python"]:  # what is not claimed was not released, because its JVM was gone
        if folder in _CLAIMS:
            told = "another query of this process writes there"
            raise RunError([refusal.because(told).with_hint("stop that query first")])
        return
    alive = next((each[0] for each in (python, jvm) if is_alive(storage.processes, each)), None)
    if alive is not None:
        raise RunError([refusal.because(f"process {alive} writes there").with_hint("stop that process first")])
