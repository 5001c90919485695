"""An exception out of a running query -> the file of its checkpoint that is damaged, or the disk that is full."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.running import R050, R054, R055
from penstock.runtime.failures import is_disk_full
from penstock.runtime.layers import Layer
from penstock.runtime.layers import layers as layers_of
from penstock.runtime.preflight import RESTORE
from penstock.runtime.storage import Storage

_STATE = re.compile(r"CANNOT_LOAD_STATE_STORE|STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY")
_ROCKSDB = re.compile(r"(Corruption|IO error|Not implemented|Invalid argument): ")
_COMPRESSED = (".delta", ".snapshot", ".changelog")


def explain_storage(
    error: BaseException, query: str, spark: SparkSession, place: str, writes: Iterable[str]
) -> Diagnostic | None:
    """The finding for a query that could not read its checkpoint `place`, or write there or to the folders `writes`.

    None if it failed for another reason.
    """
    layers = list(layers_of(error))
    if is_disk_full(layers):
        hint = "make room and start again: the next run goes on after the last finished micro-batch"
        return R055.at(None, query=query).because(_free(spark, place, writes)).with_hint(hint)
    told = next(filter(None, (_checkpoint_file(layer, place) for layer in reversed(layers))), None)
    if not any(_STATE.match(layer.condition) or _ROCKSDB.match(layer.message) for layer in layers):
        checksum = any(layer.message.startswith("Checksum error") for layer in layers)
        return R050.at(None, path=told).with_hint(RESTORE) if told and checksum else None
    told = told or _find_damaged_state(spark, f"{place}/state", layers) or f"{place}/state"
    return R054.at(None, query=query, path=told).because(_reason(layers)).with_hint(RESTORE)


def _checkpoint_file(layer: Layer, place: str) -> str | None:
    """The path of a file in the checkpoint that a message names."""
    path = re.escape(place.removeprefix("file://").removeprefix("file:"))
    match = re.search(rf"{path}/(state|offsets|commits|sources|metadata)[^\s\]]*", layer.message)
    return match and match[0].rstrip(".:,")


def _reason(layers: list[Layer]) -> str:
    """What Spark says, without the path that the finding has, and without the class."""
    told = layers[-1].message.split("\n", 1)[0]
    if re.search("not exist", told):
        return "it is missing"
    return "it does not fit its checksum" if told.startswith("Checksum error") else f"it cannot be read: {told}"


def _find_damaged_state(spark: SparkSession, folder: str, layers: list[Layer]) -> str | None:
    """The first file of the state that cannot be read to its end. Spark does not always say which one it is."""
    # RocksDB names the copy of a table that it works on, `<number>.sst`; the table is stored as `<number>-<id>.sst`.
    tables = {f"/{number}-" for layer in layers for number in re.findall(r"/(\d+)\.sst", layer.message)}
    paths = list(Storage(spark).walk(folder))
    return next((path for path in paths if any(table in path for table in tables) or _is_cut(spark, path)), None)


def _is_cut(spark: SparkSession, path: str) -> bool:
    """Whether a file of a state has nothing in it, or cannot be unpacked."""
    jvm: Any = spark._jvm
    consume = jvm.org.apache.commons.io.IOUtils.consume
    size = 0
    try:
        stream = Storage(spark).open(path)
        if path.endswith(".zip"):
            stream = jvm.java.util.zip.ZipInputStream(stream)
            while stream.getNextEntry() is not None:
                size += consume(stream)
        elif path.endswith(_COMPRESSED):
            codec = jvm.org.apache.spark.io.CompressionCodec.createCodec(spark._jsc.sc().conf(), "lz4")
            size = consume(codec.compressedInputStream(stream))
        else:
            size = consume(stream)
        stream.close()
    except Py4JJavaError:
        return True
    return size == 0


def _free(spark: SparkSession, place: str, writes: Iterable[str]) -> str:
    """How much room there is where the query writes, as far as this is on disks of this machine."""
    local = os.environ.get("SPARK_LOCAL_DIRS") or spark.conf.get("spark.local.dir", "/tmp") or "/tmp"
    free = []
    for path in dict.fromkeys((place, *writes, *local.split(","))):
        if os.path.isdir(path):
            disk = os.statvfs(path)
            free.append(f"{disk.f_bavail * disk.f_frsize / 2**20:,.1f} MiB are free for {path}")
    return "; ".join(free) or "the disk is that of a worker"
