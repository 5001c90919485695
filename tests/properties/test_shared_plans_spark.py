"""Queries with shared parts through Spark come to the rows of the evaluator."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

import penstock
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.history import History
from penstock.runtime import RuntimeSession
from tests.jvm.sessions import open_session
from tests.model.arrivals import write_json_lines
from tests.model.rows import difference
from tests.properties import streams, tables
from tests.properties.shared_plans import Drawn, draw_streams, draw_tables
from tests.properties.streams import tried
from tests.properties.test_shared_plans import DELAYS, declare_streams, is_shared

pytestmark = [pytest.mark.spark, pytest.mark.draws]
SCRIPTS = int(os.environ.get("PENSTOCK_SHARED_ON_SPARK", "3"))
"""Queries of each kind that Spark runs."""
SEED = 10


def draw_history(strategy: st.SearchStrategy[History]) -> History:
    """The fullest of some histories."""
    found: list[History] = []

    @settings(max_examples=20, deadline=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
    @given(strategy)
    def draw(history: History) -> None:
        found.append(history)

    draw()
    return max(found, key=History.size)


def collect(kind: str, chance: Random) -> list[Drawn]:
    """Queries with shared parts that are accepted."""
    drawn: list[Drawn] = []
    while len(drawn) < SCRIPTS:
        each = (draw_streams if kind == "STREAM" else draw_tables)(chance)
        declared = declare_streams() if kind == "STREAM" else tables.DECLARED
        try:
            (query,) = penstock.compile(f"{declared}{' '.join(each.views)} CREATE {kind} q AS {each.body};").queries
        except penstock.CompileError:
            continue
        if is_shared(query.root):
            drawn.append(each)
    return drawn


@pytest.mark.parametrize("kind", ["STREAM", "TABLE"])
def test_shared_parts_through_spark(kind: str, only_spark: SparkSession, tmp_path: Path) -> None:
    if kind == "STREAM":
        history = draw_history(streams.histories(DELAYS, max_rows=8, orderly=True))
        declared = declare_streams(str(tmp_path))
    else:
        history = draw_history(tables.histories(("t", "u")))
        declared = tables.declared(str(tmp_path))
    # One file an input: a micro-batch of each query takes a third of a second.
    write_json_lines(History((history.tables(),)), tmp_path)
    failures: list[str] = []
    for each in collect(kind, Random(SEED)):
        script = f"{declared}{' '.join(each.views)} CREATE {kind} q AS {each.body};"
        compilation = penstock.compile(script)
        with RuntimeSession(open_session(only_spark, 0)) as session:
            session.run_once(compilation.program, drain=True)
            found = difference(session.rows("q"), evaluate(compilation.queries[0].root, history.tables()))
        tried[f"shared parts of {kind.lower()}s, through Spark"] += 1
        if found:
            failures.append(f"{script}\n{history}\n{found}")
    assert not failures, "\n\n".join(failures)
