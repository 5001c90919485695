"""The benchmark of latency: what its figures mean, and that its script is sound."""

from __future__ import annotations

import json
from string import Template
from typing import Any

import pytest

from bench.latency import make_latency, make_message, tabulate
from penstock.compilation import compile
from tests.house.files import ROOT


class Answer:
    """A message in the log of a target, so many milliseconds after it was made."""

    def __init__(self, number: int, taken: float) -> None:
        self._row = {"k": number, "made": 1_000_000_000_000_000}
        self._at = 1_000_000_000_000 + taken

    def value(self) -> str:
        return json.dumps(self._row)

    def timestamp(self) -> tuple[int, Any]:
        return 2, self._at


def test_a_message_counts_as_it_first_came() -> None:
    answers = [Answer(0, 5), Answer(2, 900), Answer(2, 7), Answer(4, 100), Answer(6, 1)]
    found = make_latency("spark", answers, [0, 2, 4], 0.5)
    assert [*found.times] == [5, 7, 100]
    assert (found.again, found.percentile(0.5), found.percentile(1)) == (1, 7, 100)


def test_a_lost_message_is_told() -> None:
    with pytest.raises(RuntimeError, match="has lost 1 messages"):
        make_latency("spark", [Answer(0, 5)], [0, 2], 0.5)


def test_every_second_message_passes() -> None:
    assert [json.loads(make_message(number))["v"] < 500 for number in range(4)] == [True, False, True, False]


def test_the_table_has_the_systems_that_ran() -> None:
    runs = [make_latency("flink", [Answer(0, taken)], [0], 0.25) for taken in (9, 4, 6)]
    assert [*tabulate({"flink": runs})][2:] == ["| Flink SQL | 6 | 6 | 6 | 0.25 |"]


@pytest.mark.parametrize(("trigger", "batch"), [("micro_batch", None), ("realtime", 30_000)])
def test_the_script_is_sound(trigger: str, batch: int | None) -> None:
    text = (ROOT / "bench" / "topics" / "latency" / "penstock.sql").read_text(encoding="utf-8")
    given = {"servers": "h:1", "source": "a", "target": "b", "trigger": trigger}
    compilation = compile(Template(text).substitute(given))
    assert not compilation.diagnostics
    assert [each.real_time for each in compilation.program.queries] == [batch]
