"""Tests of scripts on Spark: they pass and fail as on the evaluator."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from penstock.compilation import compile
from penstock.diagnostics import Source
from penstock.planner.plan.walk import walk
from penstock.testing.cases import read_cases
from penstock.testing.coverage_classes import watch
from penstock.testing.find_difference import play
from penstock.testing.given_values import START
from penstock.testing.planned_steps import plan_case
from penstock.testing.row_text import difference
from penstock.testing.run_case import CaseResult, run_source
from penstock.testing.script_relations import ScriptRelations
from penstock.testing.snapshots import rewrite
from penstock.testing.spark_engine import SparkEngine, json_text, plain_value
from tests.penstock.testing.shop import HEAD, SCRIPT

TESTS = int(os.environ.get("PENSTOCK_SCRIPT_TESTS", "4"))
"""Tests of drawn scripts that run on the evaluator and on Spark."""
NO_SPARK = cast(SparkEngine, object())
"""For tests that are refused before Spark is asked."""
STEPS = """
GIVEN orders (id, product, price, time) VALUES (1, 'lamp', 5, '0:00'), (2, 'chair', 5, '1:00');
GIVEN payments (order_id, amount, time) VALUES (2, 120, '2:00');
THEN paid NOTHING;
GIVEN orders (id, product, price, time) VALUES (3, 'lamp', 5, '20:00'), (4, 'lamp', 5, '0:30');
GIVEN payments (order_id, amount, time) VALUES (9, 1, '20:00');
THEN paid (id, amount) VALUES (1, NULL), (2, 120);
THEN totals (product, total, n) VALUES ('lamp', NULL, 1), ('chair', 120, 1);
GIVEN END;
THEN paid (id) VALUES (3);
THEN totals (product, n) CHANGES - ('lamp', 1), + ('lamp', 2);
"""


@pytest.fixture(scope="module")
def engine(only_spark: object) -> Iterator[SparkEngine]:
    with SparkEngine() as engine:
        yield engine


def run_on(engine: SparkEngine | None, folder: Path, text: str, script: str = SCRIPT) -> CaseResult:
    (folder / "shop.sql").write_text(script, encoding="utf-8")
    (result,) = run_source(Source("shop_test.sql", HEAD + text), folder, engine=engine)
    return result


def list_codes(result: CaseResult) -> list[str]:
    return [each.code for each in result.findings]


@pytest.mark.spark
def test_steps_are_those_of_the_evaluator(engine: SparkEngine, tmp_path: Path) -> None:
    assert list_codes(run_on(None, tmp_path, STEPS)) == []
    result = run_on(engine, tmp_path, STEPS)
    assert list_codes(result) == [], [each.detail for each in result.findings]


@pytest.mark.spark
def test_what_is_wrong_fails(engine: SparkEngine, tmp_path: Path) -> None:
    given = "GIVEN orders (id, price, time) VALUES (1, 120, '0:00'), (2, 0, '0:00');"
    assert list_codes(run_on(engine, tmp_path, f"{given} THEN dear (id) VALUES (2);")) == ["T110"]
    assert list_codes(run_on(engine, tmp_path, f"{given} THEN dear NOTHING;")) == ["T110"]
    assert list_codes(run_on(engine, tmp_path, f"{given} THEN ratios NOTHING;")) == ["T113"]
    assert list_codes(run_on(engine, tmp_path, f"{given} THEN FAILS R020;")) == []
    assert list_codes(run_on(engine, tmp_path, f"{given} THEN FAILS R021;")) == ["T113", "T112"]


@pytest.mark.spark
def test_what_the_evaluator_does_not_know(engine: SparkEngine, tmp_path: Path) -> None:
    script = SCRIPT + "CREATE STREAM sounds AS SELECT STREAM SOUNDEX(product) AS sound FROM orders;"
    text = "GIVEN orders (product, time) VALUES ('Miller', '0:00'); THEN sounds VALUES ('M460');"
    assert list_codes(run_on(None, tmp_path, text, script)) == ["T101"]
    assert list_codes(run_on(engine, tmp_path, text, script)) == []
    assert list_codes(run_on(engine, tmp_path, text.replace("M460", "M461"), script)) == ["T110"]


@pytest.mark.parametrize(
    "text",
    [
        "GIVEN WATERMARK OF orders '1:00'; THEN paid NOTHING;",
        "GIVEN SILENCE OF payments FOR INTERVAL '1' MINUTE; THEN paid NOTHING;",
        "THEN LATE OF orders NOTHING;",
        "THEN REJECTED OF orders NOTHING;",
        "THEN STATE OF paid AT MOST 1 ROW;",
    ],
)
def test_what_spark_cannot_be_asked(text: str, tmp_path: Path) -> None:
    assert list_codes(run_on(NO_SPARK, tmp_path, text)) == ["T117"]


def test_records_of_json() -> None:
    value = {"n": [1.5, float("nan"), None], "b": b"a", "m": {1: True}}
    assert json_text(value) == '{"n": [1.5, "NaN", null], "b": "YQ==", "m": {"1": true}}'


def test_times_of_spark_have_no_zone() -> None:
    noon, aware = datetime(2025, 1, 1, 12), datetime(2025, 1, 1, 12, tzinfo=UTC)
    assert plain_value({"t": aware, "a": [aware, None], "n": 1}) == {"t": noon, "a": [noon, None], "n": 1}


QUERIES = (
    "SELECT STREAM a.k AS k, a.v AS v, b.v AS w FROM a {join} JOIN b ON a.k = b.k "
    "AND b.time BETWEEN a.time - INTERVAL {low} SECONDS AND a.time + INTERVAL {high} SECONDS",
    "SELECT STREAM k, window_start, COUNT(*) AS n, SUM(v) AS s FROM a GROUP BY k, TUMBLE(time, {long})",
    "SELECT STREAM k, window_start, window_end, MAX(v) AS m FROM a GROUP BY k, SESSION(time, INTERVAL {high} SECONDS)",
    "SELECT STREAM window_start, COUNT(DISTINCT v) AS n FROM a GROUP BY HOP(time, {slide}, {size})",
    "SELECT STREAM DISTINCT k, time FROM a",
    "SELECT STREAM k, v, LAG(v) OVER (PARTITION BY k ORDER BY time) AS earlier FROM a",
    "SELECT STREAM k, time, SUM(v) OVER (PARTITION BY k ORDER BY time "
    "RANGE BETWEEN INTERVAL {high} SECONDS PRECEDING AND CURRENT ROW) AS s FROM a",
    "SELECT STREAM k, v + {low} AS v, k || '!' AS text FROM a WHERE v > {low}",
    "SELECT k, COUNT(*) AS n, SUM(v) AS s FROM a GROUP BY k",
    "SELECT k, MIN(v) AS least FROM a GROUP BY k HAVING COUNT(*) > 1",
    "SELECT k, window_start, AVG(v) AS m FROM a GROUP BY k, TUMBLE(time, INTERVAL {high} SECONDS)",
)


def draw_test(chance: Random) -> tuple[str, str]:
    """A script, and a test whose rows are still to be expected."""
    low = chance.randint(1, 10)
    numbers = {"low": low, "high": chance.randint(1, 40)}
    lengths = {"slide": f"INTERVAL {low} SECONDS", "size": f"INTERVAL {2 * low} SECONDS"}
    lengths["long"] = f"INTERVAL {numbers['high']} SECONDS"
    query = chance.choice(QUERIES).format(join=chance.choice(("", "LEFT", "RIGHT", "FULL")), **numbers, **lengths)
    streams = (
        f"CREATE STREAM {name} (k STRING, v INT, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL "
        f"{chance.randint(0, 20)} SECONDS) WITH (connector = 'files', path = '{name}', format = 'json');"
        for name in ("a", "b")
    )
    kind = "STREAM" if "STREAM" in query else "TABLE"
    script = f"{' '.join(streams)} CREATE {kind} r AS {query};"
    steps = []
    for step in range(chance.randint(1, 3)):
        for name in ("a", "b"):
            rows = [
                f"({chance.choice(('NULL', chr(39) + 'x' + chr(39), chr(39) + 'y' + chr(39)))}, "
                f"{chance.choice(('NULL', '1', '2', '30'))}, '{timedelta(seconds=chance.randint(0, 40) + 30 * step)}')"
                for _ in range(chance.randint(1, 4))
            ]
            steps.append(f"GIVEN {name} VALUES {', '.join(rows)};")
        steps.append("THEN r NOTHING;")
    return script, "\n".join([*steps, "GIVEN END;", "THEN r NOTHING;"])


def expect_what_comes(folder: Path, text: str, script: str) -> str:
    """The test that expects what the evaluator gives."""
    (folder / "shop.sql").write_text(script, encoding="utf-8")
    source = Source("shop_test.sql", HEAD + text)
    return rewrite(source, run_source(source, folder, to_end=True)).removeprefix(HEAD)


def test_drawn_tests_expect_rows(tmp_path: Path) -> None:
    rows = 0
    for seed in range(40):
        script, text = draw_test(Random(seed))
        expected = expect_what_comes(tmp_path, text, script)
        assert list_codes(run_on(None, tmp_path, expected, script)) == [], (script, expected)
        rows += expected.count("THEN r (")
    assert rows > 40


def test_drawn_tests_come_to_the_batch_answer() -> None:
    kinds = set[str]()
    for seed in range(300):
        script, text = draw_test(Random(seed))
        relations = ScriptRelations(compile(script))
        (case,) = read_cases(Source("shop_test.sql", HEAD + text))
        arrivals = [step.arrival for step in plan_case(case, relations, Path())[0]]
        (query,) = relations.queries
        batch, rows = watch(query, arrivals).rows(query.root), play(query, arrivals)
        assert not isinstance(rows, str)
        assert difference(batch, rows, query.root.schema, START) == [], (script, text)
        kinds |= {type(node).__name__ for node in walk(query.root)} if rows else set()
    assert {"IntervalJoin", "WindowAggregate", "GroupAggregate", "Over", "OverRows", "Distinct", "Filter"} <= kinds


@pytest.mark.spark
@pytest.mark.draws
@pytest.mark.parametrize("seed", range(TESTS))
def test_drawn_tests_pass_on_spark(seed: int, engine: SparkEngine, tmp_path: Path) -> None:
    script, text = draw_test(Random(seed))
    expected = expect_what_comes(tmp_path, text, script)
    result: Any = run_on(engine, tmp_path, expected, script)
    assert list_codes(result) == [], (script, expected, [each.detail for each in result.findings])
