"""An input -> its files on this machine, in the order in which Spark puts their records."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from penstock.codegen.program import Input
from penstock.runtime.checkpoint.local_files import LocalFiles
from penstock.runtime.checkpoint.sink_log import list_committed
from penstock.runtime.checkpoint.storage import absolute, is_glob

# What any system takes for no more than a name: it is neither escaped nor does it say that the file is compressed.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*")
_ENDINGS = {"json": (".json", ".jsonl", ".ndjson"), "csv": (".csv",), "parquet": (".parquet",)}
_SUMS = b"crc\0"


class NotPlainError(Exception):
    """Something that Spark may understand in its own way."""


@dataclass(frozen=True, slots=True)
class PlainFile:
    """A file, and when it was written, in microseconds since 1970. Spark knows only the milliseconds."""

    path: Path
    size: int
    written: int


class CheckedFiles(LocalFiles):
    """Files that are compared with their checksums."""

    def read(self, path: str) -> str | None:
        try:
            return read_whole(Path(path)).decode()
        except FileNotFoundError:
            return None


def list_plain_files(source: Input) -> list[PlainFile]:
    """The files. Files that a query has committed are in the order of its micro-batches.

    Raises:
        NotPlainError: the path is elsewhere, or stands for something other than files with plain names.
        RunError: the log of the folder is damaged.
    """
    path = absolute(re.sub(r"^file:(//)?(?=/)", "", str(source.folder)))
    root = Path(path)
    if is_glob(path) or "=" in path or not root.exists() or not root.is_absolute():  # folders may have values
        raise NotPlainError
    endings = _ENDINGS[str(source.values["format"])]
    files = {each.path.name: each for each in map(_describe, _list_paths(root))}
    if any(each.path.suffix not in endings for each in files.values()):
        raise NotPlainError
    committed = list_committed(CheckedFiles(), path)
    if committed is None:
        return sorted(files.values(), key=lambda each: (each.written, str(each.path)))
    if any(name not in files or files[name].size != size for name, size in committed.items()):
        raise NotPlainError
    return [files[name] for name in committed]


def read_whole(path: Path) -> bytes:
    """The content of a file. Where Hadoop has written checksums beside it, these are compared.

    Raises:
        NotPlainError: it is not what was written.
    """
    content, sums = path.read_bytes(), path.with_name(f".{path.name}.crc")
    if not sums.exists():
        return content
    written = sums.read_bytes()
    length = int.from_bytes(written[4:8])
    if not written.startswith(_SUMS) or not length:
        raise NotPlainError
    found = b"".join(
        zlib.crc32(content[start : start + length]).to_bytes(4) for start in range(0, len(content), length)
    )
    if written[8:] != found:
        raise NotPlainError
    return content


def _list_paths(root: Path) -> Iterator[Path]:
    if not root.is_dir():
        yield root
        return
    for path in root.iterdir():
        if path.name.startswith("."):
            continue
        if path.name.startswith("_") and "=" not in path.name:
            continue
        if path.is_symlink() or not _NAME.fullmatch(path.name):
            raise NotPlainError
        yield from _list_paths(path)


def _describe(path: Path) -> PlainFile:
    status = path.stat()
    return PlainFile(path, status.st_size, status.st_mtime_ns // 1_000_000 * 1_000)
