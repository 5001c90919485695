"""Folders of Spark's logs -> their entries, or the file that Spark cannot have written.

A log has a file for each micro-batch, named by its number. Logs of files also have `<number>.compact`, which holds
everything up to that number; the files before it are deleted later. Spark notices few gaps and goes on without the lost
entries.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Protocol, TypeAlias

from penstock.kit.checkpoint_sources import has_names
from penstock.runtime.checkpoint.storage import Damaged

Entry: TypeAlias = dict[str, Any]

SINK_ENTRY = {"path": str, "size": int, "action": str}
SOURCE_ENTRY = {"path": str, "timestamp": int, "batchId": int}
OFFSETS = {"batchWatermarkMs": int, "batchTimestampMs": int, "conf": dict}
COMMIT = {"nextBatchWatermarkMs": int}
_VERSION = "v1"
_NAMED_STATES = "v2"
_NAMED_SOURCES = "v2"
_SCHEMA_VERSION = b"v2"


class TextFiles(Protocol):
    """What of a `Storage` the text of a file is read with."""

    def read(self, path: str) -> str | None: ...


def number_files(names: Iterable[str]) -> dict[int, str]:
    """The files of a log by their numbers. Where a number has two, the compacted one."""
    names_by_number: dict[int, str] = {}
    for name in sorted(names):
        stem = name.removesuffix(".compact")
        if stem.isdecimal():
            names_by_number[int(stem)] = name
    return names_by_number


def span(files: Mapping[int, str], newest: int) -> range:
    """The numbers of the files that together hold all up to the micro-batch `newest`."""
    compacted = (number for number, name in files.items() if name.endswith(".compact") and number <= newest)
    return range(max(compacted, default=0), newest + 1)


def first_gap(files: Mapping[int, str], newest: int) -> int | None:
    """The first missing number among the files that hold all up to the micro-batch `newest`."""
    return next((number for number in span(files, newest) if number not in files), None)


def entries(path: str, text: str, wanted: Mapping[str, type]) -> list[Entry]:
    """The lines of a log's file, which are JSON objects with the `wanted` fields.

    Raises:
        Damaged: it holds something else.
    """
    return [entry(path, number, line, wanted) for number, line in enumerate(lines(path, text), 2)]


def lines(path: str, text: str, versions: Collection[str] = (_VERSION,)) -> list[str]:
    """The lines of a log's file behind the first one, which is one of the versions.

    Raises:
        Damaged: it is empty, or of another version.
    """
    if not text:
        raise Damaged(path, "it is empty")
    first, *rest = text.split("\n")
    if first not in versions:
        raise Damaged(path, f"it begins with {first[:20]!r} instead of the version {' or '.join(versions)}")
    return rest


def first_entry(path: str, text: str, wanted: Mapping[str, type]) -> Entry:
    """The first line behind the version, which is a JSON object with the `wanted` fields.

    Raises:
        Damaged: it is not.
    """
    return entry(path, 2, (lines(path, text) or [""])[0], wanted)


def names_states(commit: str) -> bool:
    """Whether the files of states have names of their own in each micro-batch, by the text of a finished one."""
    return commit.startswith(f"{_NAMED_STATES}\n")


def check_commit(path: str, text: str) -> None:
    """Raises Damaged if the text does not belong to a finished micro-batch.

    With the version of states whose files have unique names, it names the states of each operator. Without an
    operator the version is the first one.
    """
    if names_states(text):
        entry(path, 2, (lines(path, text, [_NAMED_STATES]) or [""])[0], COMMIT | {"stateUniqueIds": dict})
    else:
        first_entry(path, text, COMMIT)


def offsets_of(path: str, text: str) -> dict[str, Any]:
    """How far the sources of a query were to be read in a micro-batch; None where nothing had come.

    By the names of the sources, or by their places where they have none.

    Raises:
        Damaged: the text does not belong to such a file.
    """
    first, *told = lines(path, text, [_VERSION, _NAMED_SOURCES]) or [""]
    entry(path, 2, first, OFFSETS)
    offsets: dict[str, Any] = {}
    for place, line in enumerate(told):
        name, _, offset = line.partition(":") if has_names(text) else (str(place), "", line)
        offsets[name] = None if offset == "-" else _value(path, place + 3, offset)
    return offsets


def check_schema(path: str, content: bytes) -> None:
    """Raises Damaged if the content is not the schema of a state: a version, and the types of the key and of the value.

    Texts stand behind their lengths; a type is cut into parts, behind their number.
    """
    size = int.from_bytes(content[:2])
    version, rest = content[2 : size + 2], content[size + 2 :]
    if version in (b"v1", b"v3"):
        return
    try:
        if version != _SCHEMA_VERSION:
            raise ValueError
        for _ in ("key", "value"):
            parts, rest, text = int.from_bytes(rest[:4]), rest[4:], b""
            while parts and rest:
                size = int.from_bytes(rest[:2])
                parts, text, rest = parts - 1, text + rest[2 : size + 2], rest[size + 2 :]
            json.loads(text)
    except ValueError:
        raise Damaged(path, "it is not the schema of a state") from None


def read_required(storage: TextFiles, path: str) -> str:
    """The text of a file.

    Raises:
        Damaged: it is missing, or does not fit its checksum.
    """
    text = storage.read(path)
    if text is None:
        raise Damaged(path, "it is missing")
    return text


def entry(path: str, number: int, line: str, wanted: Mapping[str, type]) -> Entry:
    """A line of a file, which is a JSON object with the `wanted` fields.

    Raises:
        Damaged: it is not.
    """
    value = _value(path, number, line)
    if not isinstance(value, dict) or any(type(value.get(name)) is not type_ for name, type_ in wanted.items()):
        raise Damaged(path, f"its line {number} lacks {', '.join(wanted)}")
    return value


def _value(path: str, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        raise Damaged(path, f"its line {number} is not JSON") from None
