"""The benchmark of Kafka: what its figures mean, and that its scripts are sound."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from string import Template
from typing import Any

import pytest

from bench.kafka import SYSTEMS, TITLES, describe, fill_halves
from bench.turns import Run, tabulate
from examples.kafka.broker import Broker
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
    lines = [*tabulate("from topics", TITLES, SYSTEMS, runs, describe)]
    assert lines == [
        "| from topics | Spark by hand, at least once |",
        "|---|--:|",
        "| Kafka → filter → Kafka | 90 k + 9 s; 1.0 s |",
    ]


@pytest.mark.parametrize("query", TITLES)
def test_the_scripts_are_sound(query: str) -> None:
    text = (ROOT / "bench" / "topics" / query / "penstock.sql").read_text(encoding="utf-8")
    for delivery in ("exactly_once", "at_least_once"):
        given = {"servers": "h:1", "source": "a", "other": "o", "target": "b", "limit": "10", "delivery": delivery}
        assert not compile(Template(text).substitute(given, url="postgresql://h/b")).diagnostics


def test_a_row_is_answered_within_the_bound() -> None:
    sent: dict[str, list[dict[str, Any]]] = {}

    class Topics(Broker):
        def topic(self, name: str = "topic", partitions: int = 1, **settings: str) -> str:
            return name

        def send(self, topic: str, records: Iterable[Mapping[str, Any]]) -> int:
            sent.setdefault(topic, []).extend(json.loads(each["value"]) for each in records)
            return len(sent[topic])

    asked, answered = fill_halves(Topics(Path(), "", "", None), 1_000)
    pairs = [*zip(sent[asked], sent[answered], strict=True)]
    assert len(pairs) == 501
    for left, right in pairs:
        assert left["k"] == right["k"]
        late = datetime.fromisoformat(right["time"]) - datetime.fromisoformat(left["time"])
        assert timedelta(milliseconds=-1) < late < timedelta(seconds=3)
