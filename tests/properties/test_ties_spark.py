"""Spark breaks ties as the evaluator, whatever the order of rows, their files and micro-batches.

Several histories go through each query at once, with keys of their own.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.history import History
from penstock.evaluator.typed_values import Row, Value
from penstock.runtime import RuntimeSession
from tests import campaign
from tests.jvm.sessions import open_session
from tests.model.arrivals import write_json_lines
from tests.model.rows import difference
from tests.properties import ties
from tests.properties.streams import tried
from tests.properties.test_spark import AT_ONCE

pytestmark = [pytest.mark.spark, pytest.mark.draws]
SCRIPTS = int(os.environ.get("PENSTOCK_SCRIPTS", "60"))
KINDS = campaign.take_some(ties.KINDS, 3)
QUERIES = 3 if campaign.IS_RUNNING else 1
"""Different queries of each kind."""
PACKED = -(-SCRIPTS // (len(KINDS) * QUERIES))
"""Histories of each query."""
BATCHES = 3


def shuffled(chance: Random, histories: int) -> tuple[list[Row], History]:
    """The rows of so many histories, and the same in any order, cut into micro-batches anywhere."""
    rows = [row for number in range(histories) for row in ties.draw_rows(chance, number)]
    batches: list[dict[str, list[Row]]] = [{"s": []} for _ in range(BATCHES)]
    for row in sorted(rows, key=lambda _: chance.random()):
        chance.choice(batches)["s"].append(row)
    return rows, History(tuple(batches))


def negative_zeros(value: Value) -> bool:
    """Whether there is a -0.0 in a value: which of two zeros counts must not depend on the order of rows, either."""
    match value:
        case float():
            return value == 0 and math.copysign(1, value) < 0
        case list():
            return any(map(negative_zeros, value))
        case _:
            return False


def test_spark_breaks_ties_as_the_evaluator(only_spark: SparkSession, tmp_path: Path) -> None:
    def outcome(number: int) -> str:
        kind, chance = KINDS[number % len(KINDS)], Random(number)
        query = ties.draw_query(chance, kind)
        rows, history = shuffled(chance, PACKED)
        folder = tmp_path / str(number)
        write_json_lines(history, folder)
        made = "TABLE" if query.is_table else "STREAM"
        script = f"SET state_partitions = 2; {ties.declare(str(folder), 1)} CREATE {made} result AS {query.sql}"
        compilation = penstock.compile(script)
        with RuntimeSession(open_session(only_spark, number)) as session:
            session.run_once(compilation.program, drain=True)
            found = session.rows("result")
        zeros = [row for row in found for name, value in row.items() if name != "x" and negative_zeros(value)]
        expected = evaluate(compilation.queries[0].root, {"s": rows, "t": rows})
        wrong = difference(found, expected) or "\n".join(
            map(str, zeros if kind not in ("over times", "over rows") else [])
        )
        return f"{kind}, {number}: {query.sql}\n{history}\n{wrong}" if wrong else ""

    with ThreadPoolExecutor(AT_ONCE) as pool:
        failures = list(filter(None, pool.map(outcome, range(len(KINDS) * QUERIES))))
    tried["ties through Spark"] += len(KINDS) * QUERIES * PACKED
    assert not failures, f"{len(failures)}\n" + "\n\n".join(failures)
