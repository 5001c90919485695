"""A program and a folder of checkpoints on this machine -> what stands in the way, before Spark is started.

Spark takes seconds to start. What can be seen without it is told at once. Places, checkpoints and outputs are checked
again when the queries are started, by the same rules. Files of inputs are not: Spark tells of them when it reads them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from penstock.codegen.program import Input, Program, SparkQuery
from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.running import R003, R004
from penstock.runtime.checkpoint.checkpoint import find_mismatch, place_of
from penstock.runtime.checkpoint.local_files import LocalFiles, is_hidden
from penstock.runtime.checkpoint.storage import absolute, is_glob, is_local_master
from penstock.runtime.checkpoint.writable import check_writable, describe_owner, find_local
from penstock.runtime.connectors import sink_of, source_of
from penstock.runtime.connectors.files import FilesSink, FilesSource
from penstock.runtime.failure.errors import RunError
from penstock.runtime.query.rejects import rejects_query
from penstock.runtime.query.run import rejects_place
from penstock.runtime.spark.jvm import is_submitted


def check_before_start(
    program: Program, master: str | None, checkpoint: str | None, *, anew: bool = False, overwrite: bool = False
) -> None:
    """Tries the places of a program that runs on this machine: inputs, checkpoints, and folders that are written.

    Args:
        program: what is to be started.
        master: where it will run. For a cluster, and for what spark-submit has started, nothing is tried.
        checkpoint: the folder of the checkpoints, if they are kept.
        anew: whether the checkpoints are removed first.
        overwrite: whether the rows of earlier runs are removed, too.

    Raises:
        RunError: with a finding for each place that stands in the way.
    """
    if is_submitted() or not is_local_master(master):  # spark-submit alone knows its master
        return
    check_writable(program, checkpoint)
    findings = [*_check_inputs(program, None if anew or overwrite else checkpoint)]
    with suppress(OSError):  # what may not be looked at is told when the queries are started
        for query in program.queries:
            findings += _check_query(query, checkpoint, anew=anew or overwrite, overwrite=overwrite)
    if findings:
        raise RunError(findings)


def _check_inputs(program: Program, checkpoint: str | None) -> Iterator[Diagnostic]:
    """A finding for each input that is not there or cannot be read. What a query of the program writes may come.

    Files are tried only for queries that begin: others have read some of them, which may have been locked away since.
    """
    written = {absolute(query.output.folder) for query in program.queries if query.output.folder is not None}
    inputs = {each.name: each for query in program.queries for each in query.inputs}
    new = {each.name for query in program.queries if not _has_begun(query, checkpoint) for each in query.inputs}
    for source in inputs.values():
        if source.folder is None or is_glob(source.folder) or absolute(source.folder) in written:
            continue
        path = find_local(source.folder)
        finding = None if path is None else _try_input(source, path, with_files=source.name in new)
        if finding is not None and isinstance(source_of(source), FilesSource):
            yield finding


def _has_begun(query: SparkQuery, checkpoint: str | None) -> bool:
    """Whether the query goes on from a checkpoint. One that may not be looked at counts as begun."""
    if checkpoint is None:
        return False
    try:
        return LocalFiles().newest(f"{place_of(query.name, checkpoint)}/offsets") >= 0
    except OSError:
        return True


def _try_input(source: Input, path: Path, *, with_files: bool) -> Diagnostic | None:
    try:
        is_there = path.exists()
    except OSError:
        is_there = False
    if not is_there:
        return R003.at(None, name=source.name, path=str(path))
    for each in (path, *_list_files(path)) if with_files else (path,) if path.is_dir() else ():
        if not os.access(each, os.R_OK | (os.X_OK if each.is_dir() else 0)):
            told = f"permission denied: {each} {describe_owner(each)}"
            return R004.at(None, file=str(each)).because(told)
    return None


def _list_files(path: Path) -> Iterator[Path]:
    if path.is_dir() and os.access(path, os.R_OK | os.X_OK):
        with os.scandir(path) as entries:
            for each in entries:
                if each.is_file() and not is_hidden(found := Path(each.path)):
                    yield found


def _check_query(query: SparkQuery, checkpoint: str | None, *, anew: bool, overwrite: bool) -> Iterator[Diagnostic]:
    """Whether its checkpoint is one of another query, and its folders hold rows of an earlier run."""
    files = LocalFiles()
    place = None if checkpoint is None or anew else place_of(query.name, checkpoint)
    try:
        if place is not None and (finding := find_mismatch(files, query, place)) is not None:
            yield finding
            return
    except RunError as refused:
        yield from refused.diagnostics
        return
    for each, own in () if overwrite else _list_writing(query, checkpoint, place):
        sink = None if each.output.folder is None or each.output.is_intermediate else sink_of(each)
        if isinstance(sink, FilesSink):
            try:
                sink.check_folder(files, own)
            except RunError as refused:
                yield from refused.diagnostics


def _list_writing(
    query: SparkQuery, checkpoint: str | None, place: str | None
) -> Iterator[tuple[SparkQuery, str | None]]:
    """The query, and the queries of what it rejects, each with its checkpoint folder."""
    yield query, place
    for each in query.rejects:
        own = None if place is None else rejects_place(place, each.name)
        yield rejects_query(query, each, checkpoint), own
