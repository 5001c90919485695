"""Paths -> files, wherever Spark finds them: local disks, HDFS, object stores, through Spark's own file systems."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from penstock.diagnostics.codes.running import R041
from penstock.runtime.failure.errors import RunError
from penstock.runtime.failure.failures import SPARK_ERRORS, reason
from penstock.runtime.spark.jars import tell_how_to_read

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/|file:")
_IS_WHOLE_AT_ONCE = frozenset({"s3a", "gs"})
"""Stores in which a file is seen when it is closed, not before. To rename one there is to copy it."""
_EXCLUSIVE = "fs.option.create.conditional.overwrite"
"""For S3A: the store refuses to write a file that is there."""
_GLOB = frozenset("{}[]*?\\")  # the characters by which Spark knows a pattern


def absolute(path: str) -> str:
    """A path that means the same to Python and to a JVM that was started in another folder."""
    return path.rstrip("/") if _URI.match(path) else os.path.abspath(path)


def is_local(spark: SparkSession) -> bool:
    """Whether Spark runs in the JVM of this process alone."""
    return is_local_master(str(spark.sparkContext.master))


def is_local_master(master: str | None) -> bool:
    """The same of a master; None is this machine."""
    return re.fullmatch(r"local(\[.*\])?", master or "local") is not None


def is_glob(path: str) -> bool:
    """Whether Spark takes the path of an input for a pattern."""
    return not _GLOB.isdisjoint(path)


class Damaged(Exception):
    """The file `path` is not what was written: `reason` says so of "it"."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")


class Storage:
    """Small files and listings. Paths are as `qualify` gives them. Nothing here is fit for large files."""

    def __init__(self, spark: SparkSession) -> None:
        self._hadoop: Any = spark._jvm.org.apache.hadoop  # type: ignore[union-attr]
        self._configuration: Any = spark._jsc.hadoopConfiguration()
        self._system: Any = spark._jvm.java.lang.System  # type: ignore[union-attr]
        self.processes: Any = spark._jvm.java.lang.ProcessHandle  # type: ignore[union-attr]
        """The processes of this machine, as the JVM sees them."""
        self._is_local = is_local(spark)

    def qualify(self, path: str) -> str:
        """The path with its file system, as Spark, Python and their workers understand it alike.

        A path without a scheme is one of this machine if Spark runs here, else one of the cluster's default file
        system. Where that is local disks, the scheme is left out.

        Raises:
            RunError: the path is malformed, or Spark has no such file system.
        """
        try:
            is_default_local = self._hadoop.fs.FileSystem.getDefaultUri(self._configuration).getScheme() == "file"
            if not _URI.match(path) and (self._is_local or is_default_local):
                path = f"file:{os.path.abspath(path)}"
            files, place = self._at(path)
            uri = str(files.makeQualified(place).toString())
        except SPARK_ERRORS as error:
            hint = tell_how_to_read(path.partition(":")[0])
            raise RunError([R041.at(None, path=path).because(reason(error)).with_hint(hint)]) from None
        return uri.removeprefix("file:") if is_default_local else uri

    def is_on_disk(self, path: str) -> bool:
        """Whether a path is on local disks, of one machine or shared."""
        files, _ = self._at(path)
        return bool(files.getScheme() == "file")

    def encoding_of_names(self) -> str:
        """The encoding of the names of files on local disks. Java finds no file whose name is in another one."""
        return str(self._system.getProperty("sun.jnu.encoding"))

    def is_this_machine(self) -> bool:
        """Whether paths without a scheme are on the machine on which this process runs."""
        default = self._hadoop.fs.FileSystem.getDefaultUri(self._configuration).getScheme()
        return self._is_local and default == "file"

    def _at(self, path: str) -> tuple[Any, Any]:
        place = self._hadoop.fs.Path(path)
        return place.getFileSystem(self._configuration), place

    def find_matching(self, pattern: str) -> list[str]:
        """The paths that match a glob pattern now."""
        files, place = self._at(pattern)
        return [status.getPath().toString() for status in files.globStatus(place) or ()]

    def alternatives(self, pattern: str) -> list[str]:
        """The patterns that a glob pattern with `{a/b,c}` stands for, in none of which a brace holds a slash."""
        return [str(each) for each in self._hadoop.fs.GlobExpander.expand(pattern)]

    def fits(self, name: str, pattern: str) -> bool:
        """Whether a name is one that a glob pattern without slashes stands for."""
        return bool(self._hadoop.fs.GlobPattern(pattern).matches(name))

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
        """The text of a file, None if there is no such file.

        Raises:
            Damaged: it does not fit its checksum, or is no text.
        """
        content = self.read_bytes(path)
        try:
            return None if content is None else content.decode()
        except UnicodeDecodeError:
            raise Damaged(path, "it is not text") from None

    def read_bytes(self, path: str) -> bytes | None:
        """What a file holds, None if there is no such file.

        Raises:
            Damaged: it does not fit its checksum.
        """
        files, place = self._at(path)
        if not files.exists(place):
            return None
        stream = files.open(place)
        try:
            return bytes(self._hadoop.io.IOUtils.readFullyToByteArray(stream))
        except Py4JJavaError as error:
            if error.java_exception.getClass().getSimpleName() == "ChecksumException":
                raise Damaged(path, "it does not fit its checksum") from None
            raise
        finally:
            stream.close()

    def sizes(self, folder: str) -> dict[str, int]:
        """The names and sizes of the files in a folder."""
        files, place = self._at(folder)
        if files.getScheme() == "file":  # one question for each file takes long where there are many
            with os.scandir(place.toUri().getPath()) as entries:
                return {each.name: each.stat().st_size for each in entries if each.is_file()}
        listed = files.listStatus(place)
        return {each.getPath().getName(): each.getLen() for each in listed if each.isFile()}

    def walk(self, folder: str) -> Iterator[str]:
        """The paths of all files below a folder."""
        files, place = self._at(folder)
        listing = files.listFiles(place, True)
        while listing.hasNext():
            yield listing.next().getPath().toString()

    def open(self, path: str) -> Any:
        """A file of any size as a stream of the JVM."""
        files, place = self._at(path)
        return files.open(place)

    def create(self, path: str, text: str) -> bool:
        """Writes a file that is not there yet; False, and nothing is done, if it is.

        If two processes try, only one gets True, as far as the store refuses to write a file that is there.
        """
        files, place = self._at(path)
        if files.exists(place):
            return False
        try:
            if files.hasPathCapability(place, _EXCLUSIVE):
                stream = files.createFile(place).overwrite(False).must(_EXCLUSIVE, True).build()
            else:
                stream = files.create(place, False)
        except Py4JJavaError as error:
            if _is_there_already(error):
                return False
            raise
        try:
            stream.write(bytearray(text.encode()))
            stream.close()
        except Py4JJavaError as error:
            if _is_there_already(error):
                return False
            files.delete(place, False)  # the disk is full: a part of the file would be left
            raise
        return True

    def publish(self, path: str, text: str) -> None:
        """Writes a file that readers see whole or not at all.

        Raises:
            RunError: the file system refuses to rename the file that was written.
        """
        files, place = self._at(path)
        if files.getScheme() in _IS_WHOLE_AT_ONCE:
            stream = files.create(place, True)
            stream.write(bytearray(text.encode()))
            stream.close()
            return
        draft = self._hadoop.fs.Path(place.getParent(), f".{place.getName()}.draft")
        self.delete(draft.toString())
        self.create(draft.toString(), text)
        if not files.rename(draft, place):
            files.delete(place, False)  # HDFS replaces no file
            if not files.rename(draft, place):
                raise RunError([R041.at(None, path=path).because(f"{draft.getName()} cannot be renamed")])

    def folder(self, path: str) -> None:
        """Makes a folder and its parents, where missing."""
        files, place = self._at(path)
        files.mkdirs(place)

    def delete(self, path: str) -> None:
        """Removes a file or a folder with all it holds; nothing happens if there is none."""
        files, place = self._at(path)
        files.delete(place, True)


def _is_there_already(error: Py4JJavaError) -> bool:
    """Whether a file was not written because another one is there. S3 answers 412, or 409 where two write at once."""
    kind = error.java_exception.getClass().getSimpleName()
    told = str(error.java_exception.getMessage())
    is_refused = kind in ("RemoteFileChangedException", "AWSStatus412Exception") or "Status Code: 4" in told
    return kind == "FileAlreadyExistsException" or (is_refused and ("412" in told or "409" in told))
