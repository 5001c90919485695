"""Paths -> files, wherever Spark finds them: local disks, HDFS, object stores, through Spark's own file systems."""

from __future__ import annotations

import json
import os
from itertools import count, takewhile
from typing import Any

from pyspark.sql import SparkSession


def absolute(path: str) -> str:
    """A path that means the same to Python and to a JVM that was started in another folder."""
    return path.rstrip("/") if "://" in path or path.startswith("file:") else os.path.abspath(path)


def committed(storage: Storage, folder: str) -> list[str] | None:
    """The names of the files that Spark's file sink has committed to a folder, in the order of its micro-batches.

    None if it has never written there. A log of micro-batches has a file for each, and every so often one,
    `<number>.compact`, for all up to it; those before are deleted some time later.
    """
    log = f"{folder}/_spark_metadata"
    while storage.is_folder(log):
        names = storage.names(log)
        compact = max((int(name.removesuffix(".compact")) for name in names if name.endswith(".compact")), default=-1)
        later = {int(name) for name in names if name.isdigit() and int(name) > compact}
        parts = [f"{compact}.compact"] if compact >= 0 else []
        # What is written while a folder is listed may be missing: nothing behind a gap counts.
        parts += map(str, takewhile(later.__contains__, count(min(later, default=0) if compact < 0 else compact + 1)))
        texts = [storage.read(f"{log}/{part}") for part in parts]
        if None not in texts:
            entries = [json.loads(line) for text in texts if text for line in text.splitlines()[1:]]
            return [entry["path"].rpartition("/")[2] for entry in entries]
    return None


class Storage:
    """Small files and listings. Paths are those of `absolute`; nothing here is fit for large files."""

    def __init__(self, spark: SparkSession) -> None:
        self._hadoop: Any = spark._jvm.org.apache.hadoop  # type: ignore[union-attr]
        self._configuration: Any = spark._jsc.hadoopConfiguration()

    def _at(self, path: str) -> tuple[Any, Any]:
        place = self._hadoop.fs.Path(path)
        return place.getFileSystem(self._configuration), place

    def matches(self, pattern: str) -> bool:
        """Whether a path exists, or any path that a glob pattern stands for."""
        files, place = self._at(pattern)
        return bool(files.globStatus(place))

    def is_file(self, path: str) -> bool:
        """Whether a path exists and is no folder."""
        files, place = self._at(path)
        return bool(files.exists(place) and not files.getFileStatus(place).isDirectory())

    def is_folder(self, path: str) -> bool:
        """Whether a path exists and is a folder."""
        files, place = self._at(path)
        return bool(files.exists(place) and files.getFileStatus(place).isDirectory())

    def names(self, folder: str) -> list[str]:
        """The names in a folder, none if there is no such folder."""
        files, place = self._at(folder)
        return [status.getPath().getName() for status in files.listStatus(place)] if files.exists(place) else []

    def newest(self, log: str) -> int:
        """The highest batch number in a folder of Spark's logs (`7`, `9.compact`), -1 if it has none."""
        stems = (name.split(".")[0] for name in self.names(log))
        return max((int(stem) for stem in stems if stem.isdigit()), default=-1)

    def read(self, path: str) -> str | None:
        """The text of a file, None if there is no such file."""
        files, place = self._at(path)
        if not files.exists(place):
            return None
        stream = files.open(place)
        try:
            return bytes(self._hadoop.io.IOUtils.readFullyToByteArray(stream)).decode()
        finally:
            stream.close()

    def create(self, path: str, text: str) -> bool:
        """Writes a file that is not there yet; False, and nothing is done, if it is."""
        files, place = self._at(path)
        if files.exists(place):
            return False
        stream = files.create(place, False)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        return True

    def publish(self, path: str, text: str) -> None:
        """Writes a file that readers see whole or not at all."""
        files, place = self._at(path)
        draft = self._hadoop.fs.Path(place.getParent(), f".{place.getName()}.draft")
        self.delete(draft.toString())
        self.create(draft.toString(), text)
        files.rename(draft, place)

    def folder(self, path: str) -> None:
        """Makes a folder and those above it, where missing."""
        files, place = self._at(path)
        files.mkdirs(place)

    def delete(self, path: str) -> None:
        """Removes a file or a folder with all it holds; nothing happens if there is none."""
        files, place = self._at(path)
        files.delete(place, True)
