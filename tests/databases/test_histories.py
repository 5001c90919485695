"""Random histories of batches leave what a dict has. PENSTOCK_TABLE_HISTORIES says how many for each database."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from penstock.kit.databases.batch_changes import Changes
from penstock.kit.databases.writer import WritePolicy
from tests.databases.places import DDL, DIALECTS, Place, keys_of, rows_of

HISTORIES = int(os.environ.get("PENSTOCK_TABLE_HISTORIES", "25"))
KEYS = st.integers(0, 7)
NUMBERS = st.none() | st.integers(-20, 20)
TEXTS = st.none() | st.text(alphabet="aß,\"'\n\\ ", max_size=4)


@dataclass(frozen=True)
class Step:
    """A call of Changes. `rows`: of each key the other values."""

    name: str
    rows: dict[int, tuple[Any, ...]]


@dataclass(frozen=True)
class Batch:
    """Steps in one transaction. What befalls it: replays, and writers that are begun before it."""

    steps: list[Step]
    replays: int
    restarts: bool


def steps_of(name: str, *values: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    return st.builds(Step, st.just(name), st.dictionaries(KEYS, st.tuples(*values), max_size=6))


STEPS = st.one_of(
    steps_of("upsert", NUMBERS, TEXTS),
    steps_of("upsert_part", NUMBERS),
    steps_of("update", NUMBERS),
    steps_of("add", st.integers(1, 3)),
    steps_of("insert", NUMBERS, TEXTS),
    steps_of("delete"),
)
BATCHES = st.lists(st.builds(Batch, st.lists(STEPS, max_size=4), st.integers(0, 1), st.booleans()), max_size=4)
BAD = -13
"""The CHECK of the table refuses this number."""


def apply(changes: Changes, step: Step) -> None:
    rows = [(key, *values) for key, values in step.rows.items()]
    match step.name:
        case "upsert":
            changes.upsert(rows_of(*rows))
        case "upsert_part":
            changes.upsert(rows_of(*rows, names=["k", "v"]))
        case "update":
            changes.update(rows_of(*rows, names=["k", "v"]))
        case "add":
            found = changes.fetch(keys_of(*step.rows), ["v"]).to_pylist()
            sums = [(row["k"], None if row["v"] is None else row["v"] + step.rows[row["k"]][0]) for row in found]
            assert changes.update(rows_of(*sums, names=["k", "v"])).num_rows == 0
        case "insert":
            present = {row["k"] for row in changes.fetch(keys_of(*step.rows), []).to_pylist()}
            changes.insert(rows_of(*(row for row in rows if row[0] not in present)))
        case "delete":
            changes.delete(keys_of(*step.rows))


def replay(table: dict[int, tuple[Any, Any]], step: Step) -> int:
    """The same for a dict; gives how many rows are refused."""
    refused = 0
    for key, values in step.rows.items():
        before = table.get(key)
        number = values[0] if values else None
        after: tuple[Any, Any] | None
        match step.name:
            case "upsert":
                after = (number, values[1])
            case "upsert_part":
                after = (number, before[1] if before else "new")
            case "update":
                after = before and (number, before[1])
            case "add":
                after = before and (None if before[0] is None else before[0] + number, before[1])
            case "insert":
                after = before or (number, values[1])
            case _:
                after = None
        if after is None:
            table.pop(key, None)
        elif after[0] == BAD and after != before:
            refused += 1
        elif after[0] == BAD:
            raise AssertionError("the table has a number that it refuses")
        else:
            table[key] = after
    return refused


@pytest.mark.draws
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_table_is_what_a_dict_is(dialect: str, request: pytest.FixtureRequest) -> None:
    servers = {"postgres": "server", "mysql": "mysql_server"}
    server = request.getfixturevalue(servers[dialect]) if dialect in servers else ""
    if dialect == "mysql":
        Place(dialect, server).execute("CREATE DATABASE histories")
        server += "histories"
    phases = [phase for phase in Phase if phase is not Phase.explain]

    @settings(max_examples=HISTORIES, deadline=None, phases=phases, suppress_health_check=list(HealthCheck))
    @given(batches=BATCHES, size=st.sampled_from([1, 2, 100]))
    def check(batches: list[Batch], size: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            place = Place(dialect, server or str(Path(folder) / "rows"))
            run(place, batches, size)

    check()


def run(place: Place, batches: list[Batch], size: int) -> None:
    names = ("t", "penstock_ledger", "q_rejected")
    columns = f"(v IS NULL OR v <> {BAD}), s TEXT DEFAULT 'new'"
    place.execute(*(f"DROP TABLE IF EXISTS {name}" for name in names), DDL.replace(", s TEXT", f" CHECK {columns}"))
    table: dict[int, tuple[Any, Any]] = {}
    refused, policy = 0, WritePolicy(batch_size=size, attempts=2, backoff_ms=1)
    writer = place.writer(policy=policy)
    for number, batch in enumerate(batches):

        def work(changes: Changes, steps: list[Step] = batch.steps) -> None:
            for step in steps:
                apply(changes, step)

        for again in range(1 + batch.replays):
            if batch.restarts:
                writer.close()
                writer = place.writer(policy=policy)
            writer.write(number, f"d{number}", work if again == 0 else fail)
        refused += sum(replay(table, step) for step in batch.steps)
        assert place.rows("SELECT k, v, s FROM t ORDER BY k") == [(key, *table[key]) for key in sorted(table)]
    writer.close()
    if refused:
        assert place.rows("SELECT count(*) FROM q_rejected") == [(refused,)]


def fail(changes: Changes) -> None:
    raise AssertionError("a batch is written again")
