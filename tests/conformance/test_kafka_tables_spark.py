"""The joins and aggregates of tables from Kafka Streams' own tests, through Spark: all cases of one query at once.

Each case has keys of its own. Micro-batches hold several records, which changes what is sent as `MICRO_BATCHES` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.evaluator.history import History, Tables
from penstock.evaluator.typed_values import Row, Value, milliseconds
from penstock.runtime import RuntimeSession
from tests.conformance.differences import MICRO_BATCHES
from tests.conformance.kafka_tables import (
    BASE,
    CASES,
    INPUTS,
    arrivals,
    expected,
    newest_by_time,
    script,
    shown,
    table,
)
from tests.jvm.sessions import open_session
from tests.model.arrivals import write_json_lines
from tests.properties.killed import Followed, follow
from tests.properties.test_spark import AT_ONCE

pytestmark = pytest.mark.spark
BATCHES = 3


def of_one_query(kind: str) -> list[list[Value]]:
    """The cases of a kind, those of the same SQL together."""
    found: dict[str, list[Value]] = {}
    for case in CASES:
        if case["kind"] == kind:
            found.setdefault(script(by_time(case)), []).append(case)
    return list(found.values())


def by_time(case: Value) -> Value:
    """The case with the newest record of each table by time, so that fewer queries are needed."""
    return case if case["kind"] == "stream-table" else {**case, "versioned": ["left", "right"]}


def micro_batch(case: Value, step: int) -> int:
    return step * BATCHES // len(case["inputs" if "inputs" in case else "steps"])


def batches_of(case: Value) -> Iterator[tuple[int, str, Row]]:
    """Micro-batch, input and record."""
    if case["kind"] != "stream-table":
        yield from ((micro_batch(case, step), name, row) for step, name, row in arrivals(case))
        return
    number, before = 0, "r"
    for _, name, row in arrivals(case):
        if before == "s" and name == "r" and not newest_by_time(case):
            number += 1  # rows of the stream do not meet what comes after them
        before = name
        yield number, name, row


def history_of(cases: list[Value]) -> History:
    """All cases side by side, each with keys of its own. What is newest by arrival has the time of its arrival."""
    found: dict[int, Tables] = {}
    for place, case in enumerate(cases):
        versioned = newest_by_time(case)
        for arrived, (number, name, row) in enumerate(batches_of(case)):
            own = {**row, **{key: prefixed(place, row[key]) for key in "kf"}}
            if name != "s" and ("right" if name == "r" else "left") not in versioned:
                own["time"] = BASE + milliseconds(arrived)
            found.setdefault(number, {each: [] for each in INPUTS})[name].append(own)
    return History(tuple(found[number] for number in sorted(found)))


def prefixed(place: int, key: Value) -> Value:
    return None if key is None else f"{place}/{key}"


def of_case(place: int, cases: list[Value], rows: list[dict[str, Any]]) -> list[tuple[str, Value]]:
    """The rows of a case: key and value, as Kafka's tests show them."""
    own = [(row["k"].partition("/"), row) for row in rows]
    return [(key, shown(cases[place], row)) for (prefix, _, key), row in own if prefix == str(place)]


@pytest.mark.parametrize("kind", MICRO_BATCHES)
def test_spark_comes_to_the_tables_of_kafka(
    kind: str, only_spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow(monkeypatch)
    packs = of_one_query(kind)

    def outcome(number: int) -> list[str]:
        return list(differences(packs[number], open_session(only_spark, number), tmp_path / str(number)))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        failures = [line for lines in pool.map(outcome, range(len(packs))) for line in lines]
    assert not failures, "\n".join(failures)


def differences(cases: list[Value], spark: SparkSession, folder: Path) -> Iterator[str]:
    """How what Spark sends differs from what Kafka does: rows of streams, or tables after each micro-batch."""
    write_json_lines(history_of(cases), folder)
    settings = "SET state_partitions = 2; SET state_store = 'memory';"
    program = penstock.compile(settings + script(by_time(cases[0]), str(folder))).program
    of_stream = cases[0]["kind"] == "stream-table"
    has_steps = cases[0]["kind"] not in ("stream-table", "table-aggregate")
    with RuntimeSession(spark, checkpoint=str(folder / "checkpoint")) as running:
        running.run_once(program, drain=of_stream and bool(newest_by_time(cases[0])))
        sink = running._memory["result", "result"][1]
        assert isinstance(sink, Followed)
    yield from sink.wrong
    # A query that reads what another has written has micro-batches of its own.
    numbers = range(BATCHES) if len(program.queries) == 1 and has_steps else [BATCHES - 1]
    for number in numbers:
        rows = sink.tables[number] if len(numbers) > 1 else sink.rows()
        for place, case in enumerate(cases):
            ours, theirs = of_case(place, cases, rows), expected(case)
            if not of_stream:
                sent = [each for each in theirs if len(numbers) == 1 or micro_batch(case, each[0]) <= number]
                theirs = [*table(sent).items()]
            if sorted(ours) != sorted(theirs):
                yield f"{case['id']}, micro-batch {number}: {ours}, Kafka {theirs}"
