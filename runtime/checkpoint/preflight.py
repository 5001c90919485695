"""Checks a checkpoint before its query starts. A refusal names the file that is lost or damaged.

Spark notices some damage late and with unclear messages, and some not at all. Without the newest file of an input's log
it reads nothing more, or the same rows again. Files that Spark no longer reads may be missing.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from penstock.codegen.program import SparkQuery
from penstock.diagnostics.codes.running import R050, R084
from penstock.kit.checkpoint_sources import has_names
from penstock.runtime.checkpoint.spark_logs import (
    SOURCE_ENTRY,
    check_commit,
    check_schema,
    entries,
    entry,
    first_gap,
    names_states,
    number_files,
    offsets_of,
    read_required,
    span,
)
from penstock.runtime.checkpoint.storage import Damaged, Storage
from penstock.runtime.failure.errors import BEGIN_ANEW, RunError

RESTORE = f"restore it from a backup, or {BEGIN_ANEW}"


def refuse_damaged(damage: Damaged, hint: str = RESTORE) -> RunError:
    """The refusal of a checkpoint for one of its files."""
    return RunError([R050.at(None, path=damage.path).because(damage.reason).with_hint(hint)])


def check_checkpoint(storage: Storage, place: str) -> int:
    """The newest micro-batch that was finished, -1 if there is none.

    Raises:
        RunError: a file that Spark needs to go on is missing or damaged.
    """
    offsets, commits = (number_files(storage.names(f"{place}/{log}")) for log in ("offsets", "commits"))
    started, finished = max(offsets, default=-1), max(commits, default=-1)
    try:
        _check_numbers(place, started, finished)
        for number in range(max(0, started - 1), started + 1):
            path = f"{place}/offsets/{number}"
            offsets_of(path, read_required(storage, path))
        if started >= 0:
            path = f"{place}/metadata"
            entry(path, 1, read_required(storage, path), {"id": str})
    except Damaged as damage:
        raise refuse_damaged(damage) from None
    if finished >= 0:
        _check_commit(storage, place, finished, started)
    _check_schemas(storage, f"{place}/state")
    # A commit that is lost is run again. Spark would take what is left of it for another writer's.
    storage.delete(f"{place}/commits/.{finished + 1}.crc")
    storage.delete(f"{place}/offsets/.{started + 1}.crc")
    return finished


def check_real_time_state(storage: Storage, query: SparkQuery, place: str) -> None:
    """Looks whether Spark goes on in real time with the state of a checkpoint.

    In real time each batch names the files of its state anew, so that it finds none of a batch that was stopped. A
    checkpoint keeps the names that it was begun with.

    Raises:
        RunError: its state was begun in micro-batches.
    """
    finished = storage.newest(f"{place}/commits")
    if query.real_time is None or query.store is None or finished < 0:
        return
    if not names_states(storage.read(f"{place}/commits/{finished}") or ""):
        hint = "take a new --checkpoint folder, begin anew with --reset, or SET trigger = 'micro_batch'"
        raise RunError([R084.at(query.span, "", query=query.name, path=place).with_hint(hint)])


def check_inputs(storage: Storage, place: str, sources: Sequence[str]) -> None:
    """Checks the logs of a query's inputs. `sources`: the folder in `sources` of each offset that Spark notes.

    Raises:
        RunError: a file of a log that Spark needs to go on is missing or damaged.
    """
    started = storage.newest(f"{place}/offsets")
    if started < 0:
        return
    path = f"{place}/offsets/{started}"
    try:
        text = read_required(storage, path)
        offsets = offsets_of(path, text)
        if not has_names(text):
            if len(offsets) != len(sources):
                raise Damaged(path, f"it is about {len(offsets)} inputs instead of {len(sources)}")
            offsets = dict(zip(sources, offsets.values(), strict=True))
        elif unknown := sorted(set(offsets).difference(sources)):
            raise Damaged(path, f"it is about {', '.join(unknown)}, which the query does not read")
        # named sources are in any order, and sources without an offset are left out
        for source, offset in offsets.items():
            _check_source(storage, f"{place}/sources/{source}", offset)
    except Damaged as damage:
        raise refuse_damaged(damage) from None


def _check_numbers(place: str, started: int, finished: int) -> None:
    """Spark notes a micro-batch in `offsets` before it runs, and in `commits` after it."""
    if finished > started:
        raise Damaged(f"{place}/offsets/{finished}", f"it is missing, and micro-batch {finished} was finished")
    if finished < started - 1:
        raise Damaged(f"{place}/commits/{started - 1}", f"it is missing, and micro-batch {started} was begun")


def _check_commit(storage: Storage, place: str, finished: int, started: int) -> None:
    path = f"{place}/commits/{finished}"
    try:
        check_commit(path, read_required(storage, path))
    except Damaged as damage:
        rerun = f"delete it and its checksum .{finished}.crc: micro-batch {finished} is run again, as after a crash"
        raise refuse_damaged(damage, rerun if finished == started else RESTORE) from None


def _check_schemas(storage: Storage, state: str) -> None:
    """Each operator has a schema for its state, or one for each part of it, beside the first partition.

    Spark writes a missing one again, like `metadata`, but it does not overwrite a checksum that is left.
    """
    for operator in filter(str.isdecimal, storage.names(state)):
        if not storage.is_file(f"{state}/{operator}/_metadata/metadata"):
            storage.delete(f"{state}/{operator}/_metadata/.metadata.crc")
        first = f"{state}/{operator}/0"
        for folder in (first, *(f"{first}/{name}" for name in storage.names(first) if "." not in name)):
            path = f"{folder}/_metadata/schema"
            try:
                content = storage.read_bytes(path)
                if content is None:
                    storage.delete(f"{folder}/_metadata/.schema.crc")
                else:
                    check_schema(path, content)
            except Damaged as damage:
                raise refuse_damaged(damage, "delete it and its checksum .schema.crc: Spark writes it anew") from None


def _check_source(storage: Storage, log: str, offset: object) -> None:
    """The log of an input of files has to hold all up to its offset. Spark reads it from the last compacted file on."""
    if not isinstance(offset, dict) or "logOffset" not in offset:
        return
    files = number_files(storage.names(log))
    newest = max(offset["logOffset"], max(files, default=-1))
    gap = first_gap(files, newest)
    if gap is not None:
        raise Damaged(f"{log}/{gap}", "it is missing")
    for number in span(files, newest):
        path = f"{log}/{files[number]}"
        entries(path, read_required(storage, path), SOURCE_ENTRY)


def source_numbers(rows: DataFrame) -> list[int]:
    """The number that Spark gives each streaming source of a query, in their order; one read twice has one number.

    Source: `MicroBatchExecution.logicalPlan`, which numbers equal relations once.
    """
    leaves = rows._jdf.queryExecution().analyzed().collectLeaves()
    numbers: list[int] = []
    relations: list[object] = []
    for leaf in map(leaves.apply, range(leaves.size())):
        if leaf.isStreaming():
            if leaf not in relations:
                relations.append(leaf)
            numbers.append(relations.index(leaf))
    return numbers
