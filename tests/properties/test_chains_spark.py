"""Chains of queries through Spark: the rows of the whole plan, some over a stop and a resume, and none of them late."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from pyspark.sql import SparkSession

from penstock.codegen import lower
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.history import History
from penstock.planner.plan import Settings
from penstock.runtime import QueryReport, RuntimeSession
from tests import campaign
from tests.jvm.sessions import open_session
from tests.model.arrivals import write_json_lines
from tests.model.rows import difference
from tests.properties import chains, streams
from tests.properties.test_spark import AT_ONCE, hold_back, in_few_batches

pytestmark = [pytest.mark.spark, pytest.mark.draws]
STOPPED = 1 if campaign.IS_RUNNING else 3
"""Every how many chains one is stopped and resumed."""
DRAWN = 10
CHAINS = (
    "windows of a join of a join",
    "OVER windows",
    "a join of windows",
    "a join of the rows of one window",
    "a join of a join, each of re-keyed streams",
    "a union of windows and a join",
    "the first of each window",
    "the best of each moment, by key",
    "windows of the first rows of growing windows",
    "left joins, bounded one by the other",
    "grouping sets of growing windows",
    "windows of rows without duplicates",
    "windows of different counts",
    "windows of rows with the one before",
    "windows beside those before",
    "windows of three streams",
    "sessions that begin and end together",
    "changing windows beside those before",
    "changing windows of three streams",
)
THROUGH_SPARK = campaign.take_some(CHAINS, 4)


def test_chains_through_spark(only_spark: SparkSession, tmp_path: Path) -> None:
    def outcome(number: int) -> str:
        chain = THROUGH_SPARK[number]
        delays, history = drawn(chain)
        found = wrong(number, chain, delays, history, open_session(only_spark, number))
        return f"{chain}\n{history}\n{found}" if found else ""

    def wrong(number: int, chain: str, delays: dict[str, int], history: History, spark: SparkSession) -> str:
        folder = tmp_path / chain
        query = chains.compiled(chain, delays, str(folder))
        folders = write_json_lines(history, folder)
        with RuntimeSession(spark, checkpoint=str(folder / "checkpoint")) as session:
            program = lower([query], Settings(state_partitions=2))
            reports: list[QueryReport] = []
            if number % STOPPED == 0:
                held_back = hold_back(folders.values(), 1)
                reports += session.run_once(program, drain=False)
                for path, elsewhere in held_back.items():
                    elsewhere.rename(path)
            reports += session.run_once(program, drain=True)
            late = sum(each.late for report in reports for each in report.inputs)
            streams.tried[f"{chain}, through Spark"] += 1
            return difference(session.rows("result"), evaluate(query.root, history.tables())) or late * "late row "

    with ThreadPoolExecutor(AT_ONCE) as pool:
        failures = list(filter(None, pool.map(outcome, range(len(THROUGH_SPARK)))))
    assert not failures, "\n\n".join(failures)


def drawn(chain: str) -> tuple[dict[str, int], History]:
    """The fullest of some histories."""
    found: list[tuple[dict[str, int], History]] = []

    @settings(max_examples=DRAWN, deadline=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
    @given(chains.delays.flatmap(chains.timed_histories))
    def draw(case: tuple[dict[str, int], History]) -> None:
        found.append((case[0], in_few_batches(case[1])))

    draw()
    return max(found, key=lambda case: len(evaluate(chains.compiled(chain, case[0]).root, case[1].tables())))
