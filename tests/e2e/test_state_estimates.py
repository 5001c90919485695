"""What EXPLAIN STATE estimates from the rate of a stream, against what Spark reports of the same queries.

Rows come at a constant rate, one micro-batch for each interval of the trigger. The estimate is that of the moment at
which an operator keeps most, so it is compared with the most that Spark reports once the state does not grow any more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from penstock.commands.cli import main
from penstock.compilation import compile
from penstock.planner.explain.rates import find_rates
from penstock.planner.explain.state_estimate import estimate_state
from penstock.planner.physical.estimates import StateEstimate
from penstock.planner.plan import Stateful
from penstock.planner.plan.walk import stateful
from penstock.runtime import RuntimeSession, Status

pytestmark = pytest.mark.spark

RATE, SECONDS, BATCHES = 80, 10, 15
FULL = 8
"""After so many micro-batches nothing grows any more."""
SCRIPT = f"""
SET trigger_interval = {SECONDS} SECONDS;
CREATE STREAM orders (id BIGINT, customer STRING, amount DECIMAL(10, 2), time TIMESTAMP,
  WATERMARK FOR time AS time - 10 SECONDS)
WITH (connector = 'files', path = '{{folder}}', format = 'json', files_per_batch = 1, rate = {RATE});
{{query}};
"""
# Each order has an id of its own, so that there are as many groups as there can be.
GROUPED = {
    "tumble": "SELECT id, COUNT(*) AS n, SUM(amount) AS s FROM orders GROUP BY id, TUMBLE(time, 1 MINUTE) EMIT FINAL",
    "hop": "SELECT id, MAX(customer) AS c FROM orders GROUP BY id, HOP(time, 20 SECONDS, 1 MINUTE) EMIT FINAL",
    "cumulate": "SELECT id, AVG(amount) AS a FROM orders GROUP BY id, CUMULATE(time, 20 SECONDS, 1 MINUTE) EMIT FINAL",
    "session": "SELECT id, COUNT(*) AS n FROM orders GROUP BY id, SESSION(time, 30 SECONDS) EMIT FINAL",
    "collected": "SELECT id, COLLECT_LIST(customer) AS c FROM orders GROUP BY id, TUMBLE(time, 1 MINUTE) EMIT FINAL",
    "all": "SELECT COUNT(DISTINCT id) AS n FROM orders GROUP BY TUMBLE(time, 1 MINUTE) EMIT FINAL",
}
ROWS = {
    "distinct": "SELECT STREAM DISTINCT customer, id, time FROM orders",
    "one by one": "SELECT STREAM a.id, b.amount FROM orders a JOIN orders b ON a.id % 100 = b.id % 100 AND b.time "
    "BETWEEN a.time + 60 SECONDS AND a.time + 61 SECONDS",
    "left": "SELECT STREAM a.id, b.amount FROM orders a LEFT JOIN orders b ON a.id = b.id AND b.amount > a.amount "
    "AND b.time BETWEEN a.time AND a.time + 30 SECONDS",
}
PACKED = {
    "panes": "SELECT STREAM a.id, b.amount FROM orders a JOIN orders b ON a.id = b.id AND b.time BETWEEN a.time AND "
    "a.time + 30 SECONDS",
    "full": "SELECT STREAM a.id, b.amount FROM orders a FULL JOIN orders b ON a.id = b.id AND b.time BETWEEN "
    "a.time - 10 SECONDS AND a.time + 20 SECONDS",
    "over": "SELECT STREAM id, SUM(amount) OVER (PARTITION BY customer ORDER BY time RANGE 30 SECONDS PRECEDING) AS s, "
    "time FROM orders",
    "rows": "SELECT STREAM id, SUM(amount) OVER (ORDER BY time ROWS 2 PRECEDING) AS s, time FROM orders",
    "sessions": "SELECT id, COUNT(*) AS n FROM orders GROUP BY id, SESSION(time, 30 SECONDS) EMIT CHANGES",
    "ranks": "SELECT STREAM id, ROW_NUMBER() OVER (PARTITION BY customer, window_start ORDER BY amount) AS place, time "
    "FROM TUMBLE(orders, time, 30 SECONDS)",
    "ranks of windows": "SELECT STREAM id, RANK() OVER (PARTITION BY window_start ORDER BY amount) AS place, time "
    "FROM TUMBLE(orders, time, 30 SECONDS)",
}

OFTEN = ("tumble", "over")
"""Groups and packed rows. The campaign has the others, which are much like these."""
QUERIES = [
    pytest.param(query, id=name, marks=[] if name in OFTEN else pytest.mark.campaign)
    for name, query in {**GROUPED, **ROWS, **PACKED}.items()
]


@pytest.fixture
def session(spark: SparkSession) -> Iterator[RuntimeSession]:
    """A session without a checkpoint folder."""
    with RuntimeSession(spark) as session:
        yield session


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file for each micro-batch."""
    folder = tmp_path_factory.mktemp("orders")
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(BATCHES):
        ids = range(number * RATE * SECONDS, (number + 1) * RATE * SECONDS)
        rows = (
            {
                "id": each,
                "customer": f"customer {each * 7919 % 997 * 1_000_003}",
                "amount": each * 7919 % 10_007 / 100,
                "time": (begin + timedelta(seconds=each / RATE)).isoformat(),
            }
            for each in ids
        )
        (folder / f"{number:03d}.json").write_text("\n".join(map(json.dumps, rows)) + "\n")
    return folder


@pytest.mark.parametrize("query", QUERIES)
def test_the_estimate_is_within_a_factor_of_2(query: str, orders: Path, session: RuntimeSession) -> None:
    estimate, (rows, size) = run(query, orders, session)
    assert 0.5 <= estimate.bytes / size <= 2
    assert estimate.is_packed or 0.5 <= estimate.rows / rows <= 2
    assert estimate.is_packed == (query in PACKED.values())
    if not (estimate.is_exact or estimate.is_packed):
        assert rows <= 1.01 * estimate.rows


def test_groups_of_few_keys_are_fewer_than_the_limit(orders: Path, session: RuntimeSession) -> None:
    query = "SELECT id % 10 AS k, COUNT(*) AS n FROM orders GROUP BY id % 10, TUMBLE(time, 1 MINUTE) EMIT FINAL"
    estimate, (rows, size) = run(query, orders, session)
    assert not estimate.is_exact
    assert rows == 20
    assert size < estimate.bytes


def test_the_last_run_says_what_came_and_what_was_kept(orders: Path, spark: SparkSession, tmp_path: Path) -> None:
    """The rate of the script is taken out, and that of the run is there in its place."""
    state, script = str(tmp_path / "state"), tmp_path / "script.sql"
    group = "SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer;\n"
    text = SCRIPT.format(folder=orders, query=f"{PACKED['over']};\n{group}{GROUPED['tumble']}")
    told: dict[str, list[Status]] = {}
    with RuntimeSession(spark, state) as session:
        session.run_once(
            compile(text).program, drain=True, progress=lambda each: told.setdefault(each.name, []).append(each)
        )
    script.write_text(text.replace(f", rate = {RATE}", ""))
    shown = CliRunner().invoke(main, ["explain", "STATE", "--checkpoint", state, str(script)], catch_exceptions=False)
    assert shown.exit_code == 0, shown.output
    over, customers, tumble = shown.output.split("\n\n")
    rate = r"at 80 rows per second of orders as in the last run\n"
    assert re.search(rf"    estimate: about 6,400 rows, packed in \d+ kB {rate}", over)
    assert re.search(rf"    estimate: at most 6,400 rows, 1\.\d MB {rate}", tumble)
    assert "    no estimate: how many groups there are does not follow from a rate\n" in customers
    for text, statuses, unit in ((over, told["query"], "kB"), (tumble, told["query_3"], "MB")):
        most = max(each.state_rows for each in statuses)
        assert re.search(rf"    last run: at most {most:,} entries, [\d.]+ {unit} in memory\n", text)
    assert re.search(r"    last run: at most 997 entries, [\d.]+ MB in memory\n", customers)


def run(query: str, orders: Path, session: RuntimeSession) -> tuple[StateEstimate, tuple[int, int]]:
    """The estimate for the query, and the most rows and bytes that Spark reports once the state is full."""
    compilation = compile(SCRIPT.format(folder=orders, query=query))
    (planned,) = compilation.queries
    node = stateful(planned.root)
    assert isinstance(node, Stateful)
    estimate = estimate_state(node, planned, compilation.settings, find_rates(planned, {}))
    assert isinstance(estimate, StateEstimate)
    told: list[Status] = []
    session.run_once(compilation.program, drain=False, progress=told.append)
    assert len(told) > BATCHES
    return estimate, (max(each.state_rows for each in told[FULL:]), max(each.state_bytes for each in told[FULL:]))
