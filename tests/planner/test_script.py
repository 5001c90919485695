"""What a script means depends neither on how its text is cut nor on the process that compiles it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import penstock
from penstock.compilation import compile_sources
from penstock.diagnostics import Source
from penstock.planner.lower.plan_limits import LARGEST_PLAN
from penstock.planner.plan import RunningQuery
from penstock.planner.plan.walk import walk
from tests.golden.cases import CASES

DECLARATIONS = [
    """CREATE STREAM orders (id BIGINT KEY, price DECIMAL(10,2), time TIMESTAMP, WATERMARK FOR time AS time - 1 MIN)
WITH (connector = 'files', path = 'data/orders', format = 'json')""",
    """CREATE STREAM shipments (id BIGINT KEY, cost DECIMAL(10,2), time TIMESTAMP, WATERMARK FOR time AS time - 1 MIN)
WITH (connector = 'files', path = 'data/shipments', format = 'json')""",
    """CREATE STREAM kept (id BIGINT, cost DECIMAL(10,2)) WITH (connector = 'files', path = 'kept', format = 'json')""",
]
QUERIES = [
    "CREATE STREAM big AS SELECT STREAM id, price FROM orders WHERE price > 100",
    "CREATE TABLE hourly AS SELECT id, COUNT(*) AS n FROM orders GROUP BY id, TUMBLE(time, 1 HOUR)",
    "CREATE TABLE spent AS SELECT id, SUM(price) AS total FROM orders GROUP BY id",
    "INSERT INTO kept SELECT STREAM o.id, s.cost FROM orders o JOIN shipments s WITHIN 5 MIN ON o.id = s.id",
    "CREATE STREAM mean AS SELECT STREAM id, AVG(price) OVER (PARTITION BY id ORDER BY time RANGE 1 HOUR PRECEDING)"
    " AS m FROM orders",
]


def queries(texts: list[str]) -> dict[str, RunningQuery]:
    """The queries of a script in several sources, by name."""
    sources = [Source(f"{number}.sql", text) for number, text in enumerate(texts)]
    return {query.name: query for query in compile_sources(sources).queries}


@settings(max_examples=25, deadline=None)
@given(st.permutations(DECLARATIONS), st.permutations(QUERIES), st.integers(0, len(DECLARATIONS + QUERIES)))
def test_neither_order_nor_sources_matter(declarations: list[str], asked: list[str], cut: int) -> None:
    statements = [*declarations, *asked]
    parts = [";\n".join(part) for part in (statements[:cut], statements[cut:])]
    assert queries(parts) == queries([";\n".join(DECLARATIONS + QUERIES)])


# The golden cases that are accepted: those of which a later stage is shown.
ACCEPTED = [case.sql for case in CASES if case.sections.keys() & {"plan", "state", "spark", "warning"}]
PRINTING = """
import penstock
from tests.planner.test_script import ACCEPTED
for sql in ACCEPTED:
    print(penstock.compile(sql).program)
"""


def test_another_process_gives_the_same_programs() -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", PRINTING], env=environment, capture_output=True, text=True, check=True)
    here = [str(penstock.compile(sql).program) for sql in ACCEPTED]
    assert len(here) > 40
    assert done.stdout.splitlines() == here


@pytest.mark.parametrize("clause", ["", " WHERE v > 1", " PARTITION BY v"])
@pytest.mark.parametrize("last", ["SELECT STREAM id FROM {}", "SELECT id, COUNT(*) FROM {} GROUP BY id"])
def test_plans_may_be_as_deep_as_they_may_be_large(clause: str, last: str) -> None:
    views = ["CREATE VIEW v0 AS SELECT STREAM id, id AS v FROM orders"]
    count = (LARGEST_PLAN - 4) // (2 if clause else 1)
    views += [f"CREATE VIEW v{n} AS SELECT STREAM id, v + 1 AS v FROM v{n - 1}{clause}" for n in range(1, count)]
    script = [*DECLARATIONS, *views, last.format(f"v{count - 1}")]
    compilation = compile_sources([Source("deep.sql", ";\n".join(script))])
    assert len(list(walk(compilation.queries[0].root))) > LARGEST_PLAN - 7
    if "WHERE" not in clause:  # whose conditions, each over all the sums below, are a text of some megabytes
        assert compilation.program.queries
