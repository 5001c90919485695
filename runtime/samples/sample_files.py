"""The path of an input -> its files on this machine, in the order in which a query reads them, and their content."""

from __future__ import annotations

import bz2
import gzip
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast
from urllib.parse import quote, unquote

from penstock.codegen.matching_files import list_matching

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What Hive, Spark and Flink write for NULL in the name of a folder."""
COMPRESSED = (".gz", ".bz2")
OTHER_COMPRESSED = (".zst", ".lz4", ".snappy", ".deflate", ".xz", ".zip", ".br", ".7z", ".tar", ".tgz")
_SCHEME = re.compile(r"(?!file:)[A-Za-z][\w+.-]*:")


class NoFilesError(Exception):
    """There are no files that can be read. The message says why, and `hint` what helps."""

    def __init__(self, reason: str, hint: str | None = None) -> None:
        super().__init__(reason)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class SampleFile:
    """A file. `written`: when it was, in microseconds since 1970. Spark knows only the milliseconds."""

    path: str
    size: int
    written: int

    @property
    def name(self) -> str:
        """The name without the folder."""
        return os.path.basename(self.path)

    @property
    def uri(self) -> str:
        """The path as Spark writes it."""
        return "file://" + quote(self.path, safe="/!$&'()*+,;=:@-._~")

    @property
    def folder_values(self) -> dict[str, tuple[str, str | None]]:
        """By lower-case name: the name and the value of each folder such as `day=2026-01-01`. The nearest counts."""
        found: dict[str, tuple[str, str | None]] = {}
        for part in self.path.split("/")[:-1]:
            name, sign, value = part.partition("=")
            if sign and name:
                text = unquote(value)
                found[unquote(name).lower()] = unquote(name), None if text in ("", NO_VALUE) else text
        return found


def list_sample_files(path: str) -> list[SampleFile]:
    """The files below a path, which may be a pattern, by their times. Files of a query come as it has committed them.

    Raises:
        NoFilesError: the path is elsewhere, or nothing is there.
        RunError: the log of a folder that a query has written is damaged.
    """
    if _SCHEME.match(path):
        raise NoFilesError("it is not on this machine", "only files of this machine are read without Spark")
    path = os.path.abspath(re.sub(r"^file:(//)?(?=/)", "", path))
    roots = list_matching(path)
    if not roots:
        raise NoFilesError("no file has a name of this pattern" if re.search(r"[*?\[{]", path) else "nothing is there")
    if roots == [path] and os.path.isdir(os.path.join(path, "_spark_metadata")):
        return _list_committed(path)
    found = [each for root in roots for each in _list_below(root)]
    files = [_describe(each) for each in dict.fromkeys(found)]
    if not files:
        raise NoFilesError("it has no files", "names that begin with _ or . are passed over")
    return sorted(files, key=lambda each: (each.written, each.uri))


def open_content(file: SampleFile) -> BinaryIO:
    """The content of a file, without the compression that its name tells.

    Raises:
        OSError: it cannot be opened.
        ValueError: it is compressed in another way.
    """
    suffix = Path(file.path).suffix.lower()
    if suffix in OTHER_COMPRESSED:
        raise ValueError(f"without Spark, compressed files are read that end in {' or '.join(COMPRESSED)}")
    if suffix == ".gz":
        return cast("BinaryIO", gzip.open(file.path, "rb"))
    if suffix == ".bz2":
        return cast("BinaryIO", bz2.open(file.path, "rb"))
    return open(file.path, "rb")


def _list_committed(folder: str) -> list[SampleFile]:
    """The files that a query has committed. Raises RunError."""
    from penstock.runtime.checkpoint.sink_log import list_committed
    from penstock.runtime.local_reads.plain_files import CheckedFiles

    return [_describe(os.path.join(folder, name)) for name in list_committed(CheckedFiles(), folder) or ()]


def _list_below(root: str) -> Iterator[str]:
    """The files in a folder, or the file itself. Spark passes over names that begin with `_` or `.`."""
    if not os.path.isdir(root):
        yield root
        return
    seen: set[str] = set()
    ahead = [root]
    while ahead:
        folder = ahead.pop()
        real = os.path.realpath(folder)
        if real in seen:
            continue
        seen.add(real)
        with os.scandir(folder) as entries:
            names = sorted(each.name for each in entries)
        for name in names:
            path = os.path.join(folder, name)
            if _is_hidden(name):
                continue
            if os.path.isdir(path):
                ahead.append(path)
            elif ":" not in name:  # Hadoop opens no such file
                yield path


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith("._COPYING_")


def _describe(path: str) -> SampleFile:
    status = os.stat(path)
    return SampleFile(path, status.st_size, status.st_mtime_ns // 1_000_000 * 1_000)
