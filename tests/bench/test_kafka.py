"""The benchmark of Kafka: what its figures mean, and that its scripts are sound."""

from __future__ import annotations

from string import Template

import pytest

from bench.kafka import SYSTEMS, TITLES, describe
from bench.turns import Run, tabulate
from penstock.compilation import compile
from tests.house.files import ROOT


def run(rows: int, cpu: float, broker: float, query: str = "filter") -> Run:
    return Run(query, "spark", rows, 1.0, cpu, broker)


def test_figures_are_of_further_rows() -> None:
    runs = [run(100_000, 12.0, 1.0), run(1_000_000, 30.0, 4.5), run(100_000, 13.0, 1.5), run(1_000_000, 31.0, 5.0)]
    assert describe(runs) == "50 k + 10 s; 3.5 s"
    assert describe([]) == ""


def test_the_table_has_the_systems_that_ran() -> None:
    runs = [run(100_000, 10.0, 1.0), run(1_000_000, 20.0, 2.0)]
    lines = [*tabulate("topic to topic", TITLES, SYSTEMS, runs, describe)]
    assert lines == [
        "| topic to topic | Spark by hand, at least once |",
        "|---|--:|",
        "| Kafka → filter → Kafka | 90 k + 9 s; 1.0 s |",
    ]


@pytest.mark.parametrize("query", TITLES)
def test_the_scripts_are_sound(query: str) -> None:
    text = (ROOT / "bench" / "topics" / f"{query}.sql").read_text(encoding="utf-8")
    for delivery in SYSTEMS.keys() - {"spark"}:
        given = {"servers": "h:1", "source": "a", "target": "b", "limit": "10", "delivery": delivery}
        assert not compile(Template(text).substitute(given)).diagnostics
