"""The inputs of a run -> whether it is short, and whether its micro-batches are large. What pays off depends on that.

A JVM that ends soon must not spend its time on optimising code. Workers for partial aggregates must have many rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from glob import glob
from itertools import islice
from pathlib import Path

from penstock.codegen.program import Input
from penstock.runtime.checkpoint.storage import absolute, is_glob

SHORT = 32 << 20
"""The most bytes of input that a short run has. docs/performance.md compares runs of both kinds."""
LARGE = 128 << 20
"""The least bytes of input in all for which partial aggregates pay off."""
LARGE_BATCH = 4 << 20
"""The least bytes of a micro-batch for which they do."""
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
            left, files = left - _measure(path), files - 1
            if left < 0 or files < 0:
                return False
    return True


def has_large_batches(inputs: Iterable[Input]) -> bool:
    """Whether the inputs are files of this machine that hold much in all, and one of them much in a micro-batch.

    If there are many files, the first ones are looked at.
    """
    total, batch = 0, 0
    for source in {each.folder: each for each in inputs if not each.is_intermediate}.values():
        files = islice(_list_files(_find_roots(source.folder)), _MOST_FILES)
        if not any(sizes := [_measure(path) for path in files]):
            continue
        limit = source.values.get("files_per_batch")
        size = sum(sizes)
        total += size
        batch = max(batch, size * limit // len(sizes) if isinstance(limit, int) else size)
    return total >= LARGE and batch >= LARGE_BATCH


def _measure(path: Path) -> int:
    """The bytes of a file, 0 if it is gone."""
    with suppress(OSError):
        return path.stat().st_size
    return 0


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
