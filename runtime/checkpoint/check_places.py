"""The places of a program -> a check that what it reads and writes is apart, or together only where that is safe.

A reader of the exact folder of a files sink sees whole micro-batches, because Spark keeps a log there. Any other way to
the same files, such as a pattern or a parent folder, bypasses that log. A reader that starts before the first
micro-batch of the folder takes whatever else is in it for rows.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product

from penstock.codegen.program import Input, Option, Program, QueryOutput, SparkQuery
from penstock.diagnostics.codes.running import R016, R042, R043, R044
from penstock.diagnostics.diagnostic import Diagnostic
from penstock.runtime.checkpoint.checkpoint import place_of
from penstock.runtime.checkpoint.storage import Storage, is_glob
from penstock.runtime.failure.errors import RunError
from penstock.runtime.query.rejects import rejects_query

_PART = "part-00000-00000000-0000-0000-0000-000000000000-c000"  # the names of the files that Spark writes are like it


@dataclass(frozen=True, slots=True)
class _Written:
    """A folder that a query writes. `path` is as users are told it, `parts` is the real path in parts."""

    query: str
    what: str
    path: str
    parts: tuple[str, ...]
    kind: str


def qualify_paths(storage: Storage, query: SparkQuery) -> SparkQuery:
    """The query with the paths of its files as `Storage.qualify` gives them.

    Raises:
        RunError: a path is malformed, or Spark has no such file system.
    """
    return replace(
        query,
        inputs=tuple(qualify_input(storage, each) for each in query.inputs),
        output=replace(query.output, options=_options(storage, query.output)),
        rejects_beside=None if query.rejects_beside is None else storage.qualify(query.rejects_beside),
        rejects=tuple(replace(each, input=qualify_input(storage, each.input)) for each in query.rejects),
    )


def qualify_input(storage: Storage, source: Input) -> Input:
    """The same of one input."""
    return replace(source, options=_options(storage, source))


def _options(storage: Storage, place: Input | QueryOutput) -> tuple[Option, ...]:
    return tuple(
        (name, storage.qualify(str(value)) if name == place.path_option else value) for name, value in place.options
    )


def check_places(storage: Storage, program: Program, folder: str | None) -> Mapping[str, Collection[str]]:
    """Refuses a program whose places are in each other's way. `folder`: the folder of the checkpoints, if they are
    kept.

    What is written by one query and read by another is made, if still empty. Returns for each query that writes files
    or an intermediate stream the queries that read them.

    Raises:
        RunError: as said.
    """
    queries = [qualify_paths(storage, query) for query in program.queries]
    written = [each for query in queries for each in _list_written(query, folder)]
    for one, other in combinations(written, 2):
        _check_apart(one, other)
    patterns: dict[str, list[str]] = {}
    readers: dict[str, dict[str, Diagnostic | None]] = {}
    for query in queries:
        for source in query.inputs:
            if source.is_intermediate:
                readers.setdefault(source.name, {})[query.name] = None
            path = source.folder
            if path is not None:
                patterns[path] = patterns.get(path) or [*_patterns(storage, path)]
                for each in _find_shared(storage, query, path, patterns[path], written):
                    storage.folder(each.path)  # it is there, if still empty
                    loop = R043.at(None, query=query.name, path=path, place=each.path)
                    because = f"{each.query} writes there, and what it writes depends on {query.name}"
                    readers.setdefault(each.query, {})[query.name] = loop.because(because)
    _check_ends(readers)
    return readers


def _list_written(query: SparkQuery, folder: str | None) -> Iterator[_Written]:
    path = query.output.folder
    if path is not None:
        yield _Written(query.name, f"the rows of {query.name}", path, _parts(_real(path)), "rows")
    for rejects in query.rejects:
        path = rejects_query(query, rejects, folder).output.folder
        if path is not None:
            what = f"the rejected rows of {rejects.name} in {query.name}"
            yield _Written(query.name, what, path, _parts(_real(path)), "rejected")
    if folder is not None:
        path = place_of(query.name, folder)
        yield _Written(query.name, f"the checkpoint of {query.name}", path, _parts(_real(path)), "checkpoint")


def _check_apart(one: _Written, other: _Written) -> None:
    if one.parts == other.parts and one.kind == other.kind == "rows":
        finding = R016.at(None, query=other.query, other=one.query, path=other.path)
        raise RunError([finding.with_hint("join them by UNION ALL, or give each a folder of its own")])
    outer, inner = sorted((one, other), key=lambda each: len(each.parts))
    if inner.parts[: len(outer.parts)] != outer.parts:
        return
    if outer.kind == "checkpoint" or not _is_hidden(inner.parts[len(outer.parts) :]):
        finding = R042.at(None, what=inner.what, other=outer.what, path=inner.path, place=outer.path)
        raise RunError([finding.with_hint("give each a folder of its own, none inside another")])


def _find_shared(
    storage: Storage, query: SparkQuery, path: str, patterns: list[str], written: list[_Written]
) -> Iterator[_Written]:
    """The folders of other queries that the query reads, each as a whole. Raises RunError if it reads otherwise."""
    for pattern, each in product(patterns, written):
        if not _meets(storage, _parts(pattern), each):
            continue
        if each.query == query.name:
            loop = R043.at(None, query=query.name, path=path, place=each.path)
            raise RunError([loop.because(f"in {each.path} are {each.what}").with_hint("write to a place of its own")])
        if each.kind == "checkpoint" or is_glob(path) or pattern != _real(path) or _parts(pattern) != each.parts:
            refusal = R044.at(None, query=query.name, path=path, other=each.what, place=each.path)
            hint = "read another folder" if each.kind == "checkpoint" else f"read {each.path} itself, or another folder"
            raise RunError([refusal.with_hint(hint)])
        yield each


def _patterns(storage: Storage, path: str) -> Iterator[str]:
    """The patterns that an input reads, each without links; and where links below it lead."""
    if not is_glob(path):
        yield from _follow_links(path)
        return
    for pattern in storage.alternatives(path):
        yield _real(pattern)
    for match in storage.find_matching(path) if _is_local(path) else ():
        yield from _follow_links(match)


def _follow_links(path: str) -> Iterator[str]:
    """The real path, and the targets of links in the folder, from which Spark reads, too."""
    seen: set[str] = set()
    ahead = [_real(path)]
    while ahead:
        folder = ahead.pop()
        if folder not in seen:
            seen.add(folder)
            yield folder
            for parent, names, _ in os.walk(folder) if _is_local(folder) else ():
                links = (f"{parent}/{name}" for name in names if os.path.islink(f"{parent}/{name}"))
                ahead += map(os.path.realpath, links)


def _meets(storage: Storage, read: tuple[str, ...], written: _Written) -> bool:
    """Whether who reads at the path sees files that are written in the folder, or lies in it."""
    for part, pattern in zip(written.parts, read, strict=False):
        if part != pattern and not (is_glob(pattern) and storage.fits(part, pattern)):
            return False
    if len(read) <= len(written.parts):
        return not _is_hidden(written.parts[len(read) :])
    below = read[len(written.parts) :]
    if written.kind == "checkpoint" or not any(map(is_glob, read)):
        return written.kind == "checkpoint" or not _is_hidden(below)
    return len(below) == 1 and any(storage.fits(f"{_PART}.{form}", below[0]) for form in ("json", "csv", "parquet"))


def _check_ends(readers: Mapping[str, Mapping[str, Diagnostic | None]]) -> None:
    """Refuses queries that read what they write by way of others: no run would come to an end."""
    for start in readers:
        seen: set[str] = set()
        ahead = [start]
        while ahead:
            for reader, loop in readers.get(ahead.pop(), {}).items():
                if reader == start and loop is not None:
                    raise RunError([loop])
                if reader not in seen:
                    seen.add(reader)
                    ahead.append(reader)


def _is_hidden(parts: tuple[str, ...]) -> bool:
    """Whether Spark passes over what lies there when it reads a folder above. Its own log is not for others."""
    hidden = (part.startswith(".") or (part.startswith("_") and "=" not in part) for part in parts)
    return any(hidden) and "_spark_metadata" not in parts


def _is_local(path: str) -> bool:
    return path.startswith(("/", "file:"))


def _real(path: str) -> str:
    """The path without links, as far as it is no pattern."""
    if not _is_local(path):
        return path
    parts = path.removeprefix("file:").split("/")
    fixed = next((place for place, part in enumerate(parts) if is_glob(part)), len(parts))
    return "/".join([os.path.realpath("/".join(parts[:fixed]) or "/").rstrip("/"), *parts[fixed:]])


def _parts(path: str) -> tuple[str, ...]:
    return tuple(path.rstrip("/").split("/"))
