"""Histories of tables for Spark, several side by side, and queries that die in the midst of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis.strategies import SearchStrategy
from pyspark.sql import DataFrame

from penstock.codegen.program import DELETE, INSERT, UPDATE, SparkQuery
from penstock.evaluator.history import History, Tables
from penstock.runtime import RunError
from penstock.runtime.connectors import RuntimeConnector, memory
from penstock.runtime.connectors.files import FilesSink
from tests.properties import tables

PACKED = int(os.environ.get("PENSTOCK_HISTORIES", "12"))
"""Histories that go through each query."""
BATCHES = 4


class Killed(Exception):
    """In the midst of a micro-batch."""


class Followed(memory.MemorySink):
    """A memory sink that checks each change against the row that it is about, and remembers the table of each batch."""

    def __init__(self, query: SparkQuery) -> None:
        super().__init__(query)
        self.operation, self.key = query.operation, query.key
        self.tables: dict[int, list[dict[str, Any]]] = {}
        self.wrong: list[str] = []

    def put(self, batch: pa.Table, number: int) -> None:
        if number not in self.tables and self.operation is not None:
            self.check_changes(batch.to_pylist(maps_as_pydicts="strict"))
        super().put(batch, number)
        self.tables[number] = [dict(row) for row in self.rows()]

    def check_changes(self, changes: list[dict[str, Any]]) -> None:
        held = {repr([row[name] for name in self.key]): row for row in self.rows()}
        keys = [repr([row[name] for name in self.key]) for row in changes]
        if len(set(keys)) < len(keys):
            self.wrong.append(f"two changes of one key: {changes}")
        operations = {key: row[str(self.operation)] for key, row in zip(keys, changes, strict=True)}
        for key, row in zip(keys, changes, strict=True):
            shown = {name: value for name, value in row.items() if name != self.operation}
            right = {
                INSERT: key not in held,
                UPDATE: key in held and held[key] != shown,
                DELETE: key in held and held[key] == shown,
            }
            if not right[operations[key]]:
                self.wrong.append(f"{row} changes {held.get(key)}")


def follow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory sinks are followed."""
    monkeypatch.setattr(memory, "CONNECTOR", RuntimeConnector(memory.MemorySource, Followed))


def once(failing: set[str], name: str) -> None:
    """Fails the first time that it is called for a name."""
    if name not in failing:
        failing.add(name)
        raise Killed(name)


def dying(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each query dies in its second micro-batch: before its sink has it, or, in a changelog, when that is written."""
    failed: set[str] = set()
    put, write_files = Followed.put, FilesSink.write

    def lost(sink: Followed, batch: pa.Table, number: int) -> None:
        if number == 1:
            once(failed, str(id(sink)))
        put(sink, batch, number)

    def lost_files(sink: FilesSink, batch: DataFrame, number: int) -> None:
        write_files(sink, batch, number)
        if number == 1:
            once(failed, sink.path)

    monkeypatch.setattr(Followed, "put", lost)
    monkeypatch.setattr(FilesSink, "write", lost_files)
    follow(monkeypatch)


def packed(draw: Callable[[SearchStrategy[Any]], Any], names: tuple[str, ...], number: int) -> History:
    """Several histories side by side, each with keys and groups of its own, in a few micro-batches."""
    batches: list[Tables] = [{name: [] for name in names} for _ in range(BATCHES)]
    for prefix in range(number):
        history = draw(tables.histories(names))
        for place, batch in enumerate(history.batches):
            into = batches[place * BATCHES // len(history.batches)]
            for name, rows in batch.items():
                into[name] += [renamed(row, prefix) for row in rows]
    return History(tuple(batches))


def renamed(row: dict[str, Any], prefix: int) -> dict[str, Any]:
    names = {name: None if row[name] is None else f"{row[name]}{prefix}" for name in ("id", "g")}
    return {**row, **names}


def until_done(run: Callable[[], object]) -> None:
    """Runs again what was killed; each of its queries is once, of which a join of groups has many."""
    for _ in range(20):
        try:
            run()
        except RunError as error:
            if "Killed" not in str(error):
                raise
        else:
            return
    raise AssertionError("killed too often")
