"""The files of an input on local disks -> the files that Spark cannot open by their names and passes over."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.running import R068
from penstock.runtime.checkpoint.storage import Storage
from penstock.runtime.failure.failures import SPARK_ERRORS

_SHOWN = 3


class NameWatch:
    """Looks for such files of an input, and tells of each once."""

    def __init__(self, name: str, storage: Storage, path: str) -> None:
        self._name = name
        self._storage = storage
        self._path = path
        self._encoding = storage.encoding_of_names()
        self._told: set[bytes] = set()
        self.is_on_disk = storage.is_on_disk(path)

    def inspect(self) -> Sequence[Diagnostic]:
        """One warning for the files that are new."""
        roots: list[bytes] = []
        if self.is_on_disk:
            with suppress(*SPARK_ERRORS):  # a JVM that is gone reads no files
                roots = [os.fsencode(each.removeprefix("file:")) for each in self._storage.find_matching(self._path)]
        found = {path for root in roots for path in list_unreadable(root, self._encoding)} - self._told
        if not found:
            return []
        self._told |= found
        shown = [path.decode(errors="backslashreplace") for path in sorted(found)[:_SHOWN]]
        more = [f"and {len(found) - _SHOWN:,} more"] if len(found) > _SHOWN else []
        finding = R068.at(None, count=f"{len(found):,}", name=self._name, files=", ".join([*shown, *more]))
        reason = "Hadoop opens no file with a colon in its name, and Java none whose name is not in the locale."
        return [finding.because(reason).with_hint("rename them; with another name each is a new file")]


def list_unreadable(root: bytes, encoding: str) -> Iterator[bytes]:
    """The files below a folder, and folders, that Spark cannot open. Hidden ones are left out, as Spark leaves them."""
    if not os.path.isdir(root):
        if b":" in os.path.basename(root):
            yield root
        return
    seen: set[bytes] = set()
    for folder, folders, files in os.walk(root, followlinks=True):
        place = os.path.realpath(folder)
        if place in seen:  # a link leads back
            folders.clear()
            continue
        seen.add(place)
        folders[:] = [each for each in folders if not _is_hidden(each)]
        strange = [each for each in folders if not _is_in(each, encoding)]
        folders[:] = [each for each in folders if each not in strange]
        strange += [each for each in files if not _is_hidden(each) and (b":" in each or not _is_in(each, encoding))]
        yield from (os.path.join(folder, each) for each in strange)


def _is_hidden(name: bytes) -> bool:
    return name.startswith(b".") or (name.startswith(b"_") and b"=" not in name) or name.endswith(b"._COPYING_")


def _is_in(name: bytes, encoding: str) -> bool:
    try:
        codecs.decode(name, encoding)
    except UnicodeDecodeError:
        return False
    return True
