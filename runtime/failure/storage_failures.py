"""An exception out of a running query -> the file of its checkpoint that is damaged, or the disk that is full."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.running import R010, R050, R054, R055, R057, R058, R059
from penstock.runtime.checkpoint.preflight import RESTORE
from penstock.runtime.checkpoint.storage import Storage
from penstock.runtime.failure.failures import is_disk_full
from penstock.runtime.failure.layers import Layer, list_layers
from penstock.runtime.failure.plain_lines import plain_line as _first_line

_FULL_MEMORY = re.compile(r"CANNOT_LOAD_STATE_STORE\.\w+_OUT_OF_MEMORY")
_REPARTITIONED = re.compile(r"STREAMING_UNFINISHED_REPARTITION_DETECTED")
_OF_ANOTHER = re.compile(
    r"STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA|STREAM_STREAM_JOIN_INCOMPATIBLE_STATE_STORE_CONFIGS"
    r"|STATE_STORE_(KEY_SCHEMA_NOT_COMPATIBLE|VALUE_SCHEMA_NOT_COMPATIBLE|INVALID_CONFIG_AFTER_RESTART"
    r"|COLUMN_FAMILY_SCHEMA_INCOMPATIBLE|INVALID_VALUE_SCHEMA_EVOLUTION|INVALID_VARIABLE_TYPE_CHANGE"
    r"|CHECKPOINT_LOCATION_NOT_EMPTY|STATE_SCHEMA_FILES_THRESHOLD_EXCEEDED|VALUE_SCHEMA_EVOLUTION_THRESHOLD_EXCEEDED)"
)
_STATE = re.compile(
    r"CANNOT_LOAD_STATE_STORE(?!\.(\w+_OUT_OF_MEMORY|UNRELEASED_THREAD_ERROR))"
    r"|STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY|STREAM_STREAM_JOIN_INCONSISTENT_STATE"
    r"|STATE_STORE_(ROW_CHECKSUM_VERIFICATION_FAILED|KEY_ROW_FORMAT_VALIDATION_FAILURE"
    r"|VALUE_ROW_FORMAT_VALIDATION_FAILURE|BASE_CHECKPOINT_ID_MISMATCH|COMMIT_VALIDATION_FAILED"
    r"|UNKNOWN_INTERNAL_COLUMN_FAMILY)"
)
_DAMAGED = re.compile(r"CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED|STREAMING_CHECKPOINT_MISSING_METADATA_FILE")
_UNWRITTEN = re.compile(
    r"STREAMING_CHECKPOINT_LOG_WRITE_FAILURE|CANNOT_WRITE_STATE_STORE|CANNOT_LOAD_CHECKPOINT_FILE_MANAGER"
    r"|FAILED_RENAME_(TEMP_FILE|PATH)|RENAME_SRC_PATH_NOT_FOUND|CANNOT_RESTORE_PERMISSIONS_FOR_PATH|TASK_WRITE_FAILED"
)
_UNWRITTEN_TEXT = re.compile(
    r"Mkdirs failed to create |Permission denied|Read-only file system|Not a directory|Is a directory"
    r"|(Parent path|Destination) is not a directory|AccessDenied|Cannot create directory"
)
_ROCKSDB = re.compile(r"(Corruption|IO error|Not implemented|Invalid argument): ")
_COMPRESSED = (".delta", ".snapshot", ".changelog")


def explain_storage(
    error: BaseException, query: str, spark: SparkSession, place: str, writes: Iterable[str]
) -> Diagnostic | None:
    """The finding for a query that could not read its checkpoint `place`, or write there or to the folders `writes`.

    None if it failed for another reason.
    """
    layers = list(list_layers(error))
    if is_disk_full(layers):
        hint = "make room and start again: the next run goes on after the last finished micro-batch"
        return R055.at(None, query=query).because(_free(spark, place, writes)).with_hint(hint)
    told = next(filter(None, (_checkpoint_file(layer, place) for layer in reversed(layers))), None)
    is_state = any(_STATE.match(layer.condition) or _ROCKSDB.match(layer.message) for layer in layers)
    finding = explain_condition(layers, query, place, told) or explain_unwritten(layers, place, writes)
    if finding is not None and not (is_state and finding.code == R057.id):
        return finding
    if not is_state:
        checksum = any(_DAMAGED.match(each.condition) or each.message.startswith("Checksum error") for each in layers)
        return R050.at(None, path=told).with_hint(RESTORE) if told and checksum else None
    told = told or _find_damaged_state(spark, f"{place}/state", layers) or f"{place}/state"
    return R054.at(None, query=query, path=told).because(_reason(layers)).with_hint(RESTORE)


def explain_condition(layers: list[Layer], query: str, place: str, told: str | None) -> Diagnostic | None:
    """What Spark has names for: memory that is too small, state that was moved, and state of another query."""
    for layer in layers:
        if _FULL_MEMORY.match(layer.condition):
            hint = "--conf spark.driver.memory=4g, or SET state_store = 'rocksdb' in a new checkpoint"
            return R059.at(None, query=query).with_hint(hint)
        if _REPARTITIONED.match(layer.condition):
            batch = layer.parameters.get("batchId", "N")
            path = f"{place}/offsets/{batch}"
            hint = f"rm {path} {place}/offsets/.{batch}.crc: the query goes on with its state as it was before"
            return R058.at(None, query=query, path=path).because(_first_line(layer.message)).with_hint(hint)
        if _OF_ANOTHER.match(layer.condition):
            return R010.at(None, path=told or f"{place}/state").because(_first_line(layer.message)).with_hint(RESTORE)
    return None


def explain_unwritten(layers: list[Layer], place: str, writes: Iterable[str]) -> Diagnostic | None:
    """The folder of the query that could not be written while it ran. What it reads is told by others."""
    folders = [each.removeprefix("file://").removeprefix("file:") for each in (place, *writes)]
    for layer in reversed(layers):
        if not (_UNWRITTEN.match(layer.condition) or _UNWRITTEN_TEXT.search(layer.message)):
            continue
        texts = [layer.message, *layer.parameters.values()]
        named = next((each for each in folders if any(each in text for text in texts)), None)
        if named is not None or _UNWRITTEN.match(layer.condition):
            hint = "let this process write there, and start again: the next run goes on from the last micro-batch"
            return R057.at(None, path=named or place).because(_first_line(layers[-1].message)).with_hint(hint)
    return None


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
    return "; ".join(free) or "the disk belongs to a worker"
