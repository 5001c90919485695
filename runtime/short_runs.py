"""The inputs of a run -> whether it is short: a JVM that ends soon must not spend its time on optimising code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from glob import glob
from pathlib import Path

from penstock.codegen.program import Input
from penstock.runtime.storage import absolute, is_glob

SHORT = 32 << 20
"""The most bytes of input that a short run has. docs/performance.md compares runs of both kinds."""
_MOST_FILES = 1_000
_ONLY_HADOOP = frozenset("{}\\")  # in patterns of paths


def is_short(inputs: Iterable[Input]) -> bool:
    """Whether the inputs are files of this machine that hold little in all.

    Tables in databases count nothing: they are asked for the rows that are needed.
    """
    left, files = SHORT, _MOST_FILES
    for source in dict.fromkeys(inputs):
        if source.is_intermediate or source.is_in_database:
            continue
        roots = _find_roots(source.folder)
        if not roots:
            return False
        for path in _list_files(roots):
            try:
                left, files = left - path.stat().st_size, files - 1
            except OSError:  # it is gone
                continue
            if left < 0 or files < 0:
                return False
    return True


def _find_roots(path: str | None) -> list[Path]:
    """The files and folders of a path, none if it is elsewhere or not known."""
    if path is None or not _ONLY_HADOOP.isdisjoint(path):
        return []
    local = re.sub(r"^file:(//)?(?=/)", "", absolute(path))
    found = glob(local) if is_glob(local) else [local]
    return [root for root in map(Path, found) if root.exists()]


def _list_files(roots: Iterable[Path]) -> Iterator[Path]:
    for root in roots:
        yield from (each for each in root.rglob("*") if each.is_file()) if root.is_dir() else [root]
