"""`python -m bench.file_latency`: how long rows take from a folder of files to another, by operator and by system.

Rows arrive at a steady rate, a file in each tick (`bench.file_feed`). `bench.file_answers` says when an answer is
complete, and when it is visible. A program runs through all rates. It warms up at the first one. Then no rows come for
a while. Each rate begins with some seconds that do not count. What was answered is compared with the batch answer of
DuckDB over the same files. A run that lacks a row, or has another one, does not count.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from string import Template

import numpy as np
from rich.console import Console

from bench.file_answers import Observer, Question, list_latencies, make_question
from bench.file_feed import TICK, Feed
from bench.following import count_cores, end_all, find_peak, percentile, start_program, watch_program
from bench.machine import machine
from bench.measure import adopt_orphans
from bench.page import replace_block
from bench.turns import ROOT, write_settings
from bench.watch import Moment
from bench.workload import Query, System, install_flink, program

DELAY = "1"
"""Seconds that watermarks lie behind."""
_SECOND = {"length": "1", "unit": "SECOND"}
_HOPS = {**_SECOND, "slide": "0.2", "hops": "5"}
QUERIES = (
    Query("q1", "projection", ("bid",)),
    Query("tumble", "tumbling aggregates, 1 s", ("bid",), parameters=_SECOND),
    Query("hop", "hopping aggregates, 1 s by 0.2 s", ("bid",), parameters=_HOPS),
    Query("join", "join within 1 s", ("auction", "bid"), parameters=_SECOND),
    Query("over", "OVER RANGE 1 s", ("bid",), parameters={**_SECOND, "key": "auction"}),
    Query("q11", "sessions, 1 s", ("bid",), parameters=_SECOND),
)
NEEDS = {
    "q1": "time",
    "tumble": "window_start + INTERVAL 1 SECOND + INTERVAL $delay SECOND",
    "hop": "window_start + INTERVAL 1 SECOND + INTERVAL $delay SECOND",
    "join": "time",
    "over": "time + INTERVAL $delay SECOND",
    "q11": "window_end + INTERVAL $delay SECOND",
}
"""SQL for the event time that completes an answer."""
SYSTEMS = (
    System("penstock", "Penstock", "penstock", head="SET trigger_interval = 1 MILLISECOND;\n", follows=True),
    System("spark", "Spark by hand", "spark", follows=True),
    System("flink", "Flink SQL", "flink", follows=True),
)
READ_NEW = {"delay": DELAY, "limit": "", "halves": "", "follow": ", 'source.monitor-interval' = '10 ms'"}
FLINK = (
    "execution.checkpointing.interval=190 ms",
    "pipeline.auto-watermark-interval=10 ms",
    "execution.buffer-timeout.interval=5 ms",
    "parallelism.default=1",
)
"""Files are finished by checkpoints only, which are not to keep step with the ticks of the feed.

By default watermarks come each 200 ms, and buffers wait 100 ms.
"""
PATIENCE = 120
"""Seconds until a program has to run, and until it has to write its last answer."""
SETTLE = 3.0
"""Seconds of rows before those of each rate, and without rows before the program counts as at rest."""
TAIL = 4.0
"""Seconds of rows behind all others, which close the windows and panes of these."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a program did at a rate. `times`: milliseconds that answers took, in order. `memory`: the peak, in bytes.

    Without rows the rate is 0.
    """

    query: str
    system: str
    rate: int
    times: Sequence[float]
    cores: float
    memory: int


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.file_latency", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--rates", default="1000,20000", help="rows in a second, with commas between, the least first")
    parser.add_argument("--seconds", type=float, default=13, help="of each rate that count (default %(default)s)")
    parser.add_argument("--warm", type=float, default=12, help="seconds of rows before (default %(default)s)")
    parser.add_argument("--rest", type=float, default=3, help="seconds without rows that count (default %(default)s)")
    parser.add_argument("--runs", type=int, default=1, help="of each query on each system, in turns")
    parser.add_argument("--queries", default=",".join(each.name for each in QUERIES), help="with commas between")
    parser.add_argument("--systems", default=",".join(each.name for each in SYSTEMS), help="with commas between")
    parser.add_argument("--page", action="store_true", help="write the table into docs/performance.md")
    arguments = parser.parse_args()
    arguments.rates = [int(rate) for rate in arguments.rates.split(",")]
    console = Console()
    systems = [each for each in SYSTEMS if each.name in arguments.systems.split(",")]
    queries = [each for each in QUERIES if each.name in arguments.queries.split(",")]
    if any(each.name == "flink" for each in systems):
        install_flink(console)
    adopt_orphans()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the program that runs is ended, too
    loads: list[Load] = []
    failed: list[str] = []
    for number in range(arguments.runs):
        for query in queries:
            for system in systems[number % len(systems) :] + systems[: number % len(systems)]:
                if not can_follow(system, query):
                    continue
                try:
                    found = measure_query(system, query, arguments)
                except RuntimeError as error:
                    failed.append(f"{query.name} by {system.name} {error}")
                    console.print(failed[-1], markup=False, soft_wrap=True)
                    continue
                for load in found:
                    console.print(f"{query.name:8} {system.name:9} {load.rate:>6,}/s {describe([load])}")
                loads += found
    lines = [*tabulate(loads, arguments.rates)]
    console.print("\n".join(lines), markup=False, soft_wrap=True)
    if arguments.page:
        replace_block(ROOT / "docs" / "performance.md", "file-latency", [conditions(arguments), "", *lines])
    if failed:
        sys.exit(f"{len(failed)} runs do not count")


def can_follow(system: System, query: Query) -> bool:
    """Spark has no OVER over streams. The self-join that stands for it cannot keep up with a stream."""
    return (system.language, query.name) != ("spark", "over")


def measure_query(system: System, query: Query, arguments: argparse.Namespace) -> list[Load]:
    """Runs a program beside a feed, first at rest and then at each rate.

    Raises:
        RuntimeError: it ended, was not there in time, or its answers are not those of the batch.
    """
    with tempfile.TemporaryDirectory(dir="/tmp") as work:
        place = Path(work)
        feed = Feed(place / "data", place / "aside", query.reads)
        observer = Observer(place / "out", system.language == "flink")
        with run_program(system, query, place) as (child, moments):
            ended = threading.Event()
            watchers = [
                threading.Thread(target=observer.observe, args=(ended,)),
                threading.Thread(target=watch_program, args=(child.pid, moments, ended)),
            ]
            for each in watchers:
                each.start()
            try:
                feed.send(arguments.rates[0], TICK / 1_000)
                await_program(child, observer, place)
                feed.send(arguments.rates[0], arguments.warm)
                time.sleep(SETTLE)
                spans = [(0, range(0), time.time())]
                time.sleep(arguments.rest)
                ends = [time.time()]
                for rate in arguments.rates:
                    feed.send(rate, SETTLE)
                    begin = time.time()
                    spans.append((rate, feed.send(rate, arguments.seconds), begin))
                    ends.append(time.time())
                feed.send(arguments.rates[-1], TAIL)
                needs, at = await_answers(child, observer, feed, make_batch_question(query, place), spans[-1][1])
            finally:
                ended.set()
                for each in watchers:
                    each.join()
        return [
            Load(
                query.name,
                system.name,
                rate,
                list_latencies(feed.arrivals, part, needs, at).tolist(),
                count_cores(moments, begin, end),
                find_peak(moments, begin, end),
            )
            for (rate, part, begin), end in zip(spans, ends, strict=True)
        ]


@contextmanager
def run_program(system: System, query: Query, place: Path) -> Iterator[tuple[subprocess.Popen[bytes], list[Moment]]]:
    """Runs a program in the folder `place` until the block ends."""
    command = program(system, query, place / "data", place / "out", place, "csv", READ_NEW)
    if system.language == "spark":
        command.append(f"delay={DELAY}")
    if system.language == "flink":
        command += ["", *FLINK]
    write_settings(place, system.language == "penstock")
    with (place / "log").open("wb") as log:
        child = start_program(command, place, log)
        try:
            yield child, []
        finally:
            end_all(child)


def await_program(child: subprocess.Popen[bytes], observer: Observer, place: Path) -> None:
    """Waits for the first micro-batch, or for the first checkpoint of Flink."""
    deadline = time.monotonic() + PATIENCE
    while not (any(place.glob("checkpoints/*/chk-*")) if observer.flink else observer.seen):
        check_program(child, place, deadline)
        time.sleep(0.1)


def await_answers(
    child: subprocess.Popen[bytes], observer: Observer, feed: Feed, question: Question, part: range
) -> tuple[np.ndarray, np.ndarray]:
    """Waits for all that is complete with the last arrival of this part: what each needs, and when it was visible."""
    deadline = time.monotonic() + PATIENCE
    limit = feed.arrivals[part[-1]].last
    wanted = question.expect(limit)
    while True:
        found, needs, at = question.read(observer.find_files(), limit)
        if found == wanted:
            return needs, at
        if found.rows > wanted.rows or time.monotonic() > deadline:
            raise RuntimeError(f"has other answers than the batch: {found} in place of {wanted}")
        check_program(child, observer.out.parent, deadline)
        time.sleep(0.5)


def check_program(child: subprocess.Popen[bytes], place: Path, deadline: float) -> None:
    """Raises RuntimeError if the program has ended, or the time is over."""
    if child.poll() is not None or time.monotonic() > deadline:
        text = (place / "log").read_text(encoding="utf-8", errors="replace")
        raise RuntimeError(f"has ended with {child.returncode}, or is late:\n{text[-3000:]}")


def make_batch_question(query: Query, place: Path) -> Question:
    """The query over all files that were sent."""
    inputs, text = ((path / "duckdb.sql").read_text(encoding="utf-8") for path in (query.inputs, query.path))
    # The folders of the other streams are not there.
    read = [each for each in inputs.split(";\n") if any(f"CREATE VIEW {name} " in each for name in query.reads)]
    script = Template(";\n".join([*read, text])).substitute(data=str(place / "data"), **query.parameters)
    return make_question(script, Template(NEEDS[query.name]).substitute(delay=DELAY))


def describe(loads: Sequence[Load]) -> str:
    """Medians of runs."""
    if not loads:
        return "–"
    cells = [
        f"{median(load.cores for load in loads):.2f} cores",
        f"{median(load.memory for load in loads) / 2**30:.1f} GiB",
    ]
    if loads[0].rate:
        times = (f"{median(percentile(load.times, part) for load in loads):,.0f}" for part in (0.5, 0.95, 0.99))
        cells.insert(0, f"{' / '.join(times)} ms")
    return ", ".join(cells)


def tabulate(loads: Sequence[Load], rates: Sequence[int]) -> Iterator[str]:
    """Markdown: for each query a line without rows and one for each rate, with a column for each system that ran."""
    systems = [system for system in SYSTEMS if any(load.system == system.name for load in loads)]
    yield f"| query | rows a second | {' | '.join(system.title for system in systems)} |"
    yield "|---|--:|" + "--:|" * len(systems)
    for query in QUERIES:
        for rate in (0, *rates):
            found = [
                [load for load in loads if (load.query, load.system, load.rate) == (query.name, system.name, rate)]
                for system in systems
            ]
            if any(found):
                yield f"| {query.title} | {f'{rate:,}' if rate else 'none'} | {' | '.join(map(describe, found))} |"


def conditions(arguments: argparse.Namespace) -> str:
    """What the figures depend on."""
    about = machine()
    named = ", ".join(f"{name} {about[name]}" for name in ("Python", "Java", "Spark", "Flink"))
    what = "p50 / p95 / p99 of the answers, CPU seconds a second, peak of memory"
    load = f"{arguments.seconds:.0f} s of each rate after {arguments.warm:.0f} s to warm up"
    return (
        f"{about['date']}, {about['machine']}, feed included; {named}.\n"
        f"{what}.\n{load}; medians of {arguments.runs} runs."
    )


if __name__ == "__main__":
    main()
