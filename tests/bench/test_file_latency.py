"""The benchmark of latency over files: which row completes an answer, when an answer is visible, and its scripts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bench.file_answers import Observer, find_completing, list_latencies, make_question, read_log
from bench.file_feed import PHASE, TICK, Arrival, Feed, find_tick, spread_times
from bench.file_latency import (
    NEEDS,
    QUERIES,
    READ_NEW,
    SYSTEMS,
    Load,
    can_follow,
    describe,
    make_batch_question,
    tabulate,
)
from bench.following import count_cores, find_peak, percentile
from bench.nexmark import is_of, list_events
from bench.watch import Moment
from bench.workload import Query, program
from penstock.compilation import compile

ARRIVALS = [Arrival(1_199, 10.0), Arrival(1_399, 10.2), Arrival(1_599, 10.4)]


def test_percentiles_are_of_sorted_times() -> None:
    times = [float(number) for number in range(1, 101)]
    assert [percentile(times, part) for part in (0, 0.5, 0.95, 0.99, 1)] == [1, 51, 96, 100, 100]
    assert percentile([7.0], 0.99) == 7


def test_the_first_row_at_the_time_completes_an_answer() -> None:
    needs = np.array([1_000, 1_199, 1_200, 1_399, 1_400, 1_599, 1_600])
    assert find_completing(ARRIVALS, needs).tolist() == [0, 0, 1, 1, 2, 2, 3]


def test_answers_count_that_are_complete_in_the_part() -> None:
    needs = np.array([1_100, 1_300, 1_350, 1_400, 1_700])
    at = np.array([10.1, 10.5, 10.25, 10.9, 11.0])
    assert list_latencies(ARRIVALS, range(1, 3), needs, at).round(6).tolist() == [50, 300, 500]
    assert list_latencies(ARRIVALS, range(0), needs, at).tolist() == []


def list_files(*names: str) -> str:
    return "\n".join(["v1", *(json.dumps({"path": f"file:///out/{name}", "action": "add"}) for name in names)])


def test_a_file_is_visible_with_the_first_entry_that_lists_it() -> None:
    texts = {"10": list_files("d%20e"), "9.compact": list_files("a", "b", "c"), "8": list_files("b"), "2": "v1"}
    assert read_log(texts, {"10": 4.0, "9.compact": 3.0, "8": 2.0, "2": 1.0}) == {
        "/out/b": 2.0,
        "/out/a": 3.0,
        "/out/c": 3.0,
        "/out/d e": 4.0,
    }


def test_files_of_open_micro_batches_and_checkpoints_are_not_visible(tmp_path: Path) -> None:
    for folder, flink in (("spark", False), ("flink", True)):
        observer = Observer(tmp_path / folder, flink)
        assert observer.list_new() == []
        log = observer.out / "_spark_metadata"
        log.mkdir(parents=True)
        (observer.out / "part-0").write_text("1")
        (observer.out / ".part-1.inprogress").write_text("2")
        (log / ".1.tmp").write_text("")
        (log / "0").write_text("v1\n" + json.dumps({"path": f"file://{observer.out}/part-0"}))
        [entry] = observer.list_new()
        assert entry == ("part-0" if flink else "0")
        observer.seen[entry] = 5.0
        assert observer.list_new() == []
        assert observer.find_files() == {str(observer.out / "part-0"): 5.0}


def test_ticks_have_fixed_borders_and_rows_in_order() -> None:
    assert find_tick(100.0) == 100_000 + PHASE
    assert find_tick((100_000 + PHASE) / 1_000) == 100_000 + PHASE
    assert find_tick((100_001 + PHASE) / 1_000) == 100_000 + PHASE + TICK
    assert spread_times(1_000, 4).tolist() == [1_000, 1_050, 1_100, 1_150]
    times = spread_times(0, 4_000)
    assert (times[0], times[-1]) == (0, TICK - 1)


def test_events_are_those_of_the_streams() -> None:
    bids = list_events(("bid",), 40, 10)
    assert bids.tolist() == [44, 45, 46, 47, 48, 49, 54, 55, 56, 57]
    both = list_events(("auction", "bid"), 0, 49)
    assert both.tolist() == [*range(1, 50)]
    assert is_of("auction", both).sum() == 3


def test_a_tick_is_a_file_of_each_stream(tmp_path: Path) -> None:
    feed = Feed(tmp_path / "data", tmp_path / "aside", ("auction", "bid"))
    assert feed.send(1_000, TICK / 1_000) == range(1)
    assert feed.rows == 200
    lines = {name: (tmp_path / "data" / name / "000000.csv").read_text().splitlines() for name in feed.streams}
    assert sum(map(len, lines.values())) == 200
    newest = np.datetime64(lines["bid"][-1].split(",")[-1], "ms").astype(int)
    assert newest == feed.arrivals[0].last
    assert 1_000 * feed.arrivals[0].at - newest > 0


def test_cores_and_memory_are_of_a_span() -> None:
    moments = [Moment(0.0, 0.0, 9), Moment(1.0, 1.0, 5), Moment(2.0, 3.0, 7), Moment(3.0, 3.0, 2)]
    assert count_cores(moments, 0.5, 2.5) == 1.25
    assert find_peak(moments, 0.5, 2.5) == 7


def test_the_table_has_a_line_for_each_rate() -> None:
    loads = [
        Load("q1", "penstock", 0, [], 0.25, 1 << 30),
        Load("q1", "penstock", 1_000, [100.0, 200.0], 1.0, 1 << 30),
        Load("q1", "penstock", 1_000, [200.0, 300.0], 2.0, 3 << 30),
        Load("q1", "flink", 1_000, [50.0], 0.5, 1 << 29),
    ]
    assert [*tabulate(loads, [1_000])] == [
        "| query | rows a second | Penstock | Flink SQL |",
        "|---|--:|--:|--:|",
        "| projection | none | 0.25 cores, 1.0 GiB | – |",
        "| projection | 1,000 | 250 / 250 / 250 ms, 1.50 cores, 2.0 GiB | 50 / 50 / 50 ms, 0.50 cores, 0.5 GiB |",
    ]
    assert describe([]) == "–"


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_every_query_can_be_asked(query: Query, tmp_path: Path) -> None:
    for system in SYSTEMS:
        if not can_follow(system, query):
            continue
        command = program(system, query, tmp_path / "data", tmp_path / "out", tmp_path, "csv", READ_NEW)
        if system.language == "penstock":
            text = Path(command[-1]).read_text()
            compilation = compile(text)
            assert not compilation.diagnostics
            assert [each.interval for each in compilation.program.queries] == [1]
            assert "files_per_batch" not in text
        elif system.language == "spark":
            assert Path(command[3]).exists()
        else:
            assert "$" not in Path(command[-2]).read_text()


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_the_batch_knows_what_an_answer_needs(query: Query, tmp_path: Path) -> None:
    feed = Feed(tmp_path / "data", tmp_path / "aside", query.reads)
    feed.send(1_000, 2 * TICK / 1_000)
    question = make_batch_question(query, tmp_path)
    assert list(NEEDS) == [each.name for each in QUERIES]
    newest = feed.arrivals[-1].last
    everything = question.expect(newest + 10_000)
    assert everything.rows > 0
    done = question.expect(newest).rows
    assert done == (everything.rows if query.name in ("q1", "join") else 0)


def test_answers_that_are_read_are_those_of_the_batch(tmp_path: Path) -> None:
    for number, text in enumerate(("1,1970-01-01T00:00:01.500Z\n", "2,1970-01-01T00:00:02.500Z\n")):
        (tmp_path / f"part-{number}").write_text(text)
    view = "CREATE VIEW v AS SELECT 1 AS n, TIMESTAMP '1970-01-01 00:00:01.5' AS time;"
    question = make_question(f"{view}\nSELECT n::BIGINT AS n, time FROM v;", "time + INTERVAL 1 SECOND")
    found, needs, at = question.read({str(tmp_path / "part-0"): 7.0, str(tmp_path / "part-1"): 8.0}, 2_500)
    assert found == question.expect(2_500)
    assert (needs.tolist(), at.tolist()) == ([2_500], [7.0])
    assert question.read({}, 2_500)[0] == question.expect(2_499)
