"""`python -m bench.latency`: how long messages take from topic to topic, by Penstock, by hand and by Flink.

A message holds the moment at which it was made. The target topic notes the moment at which the broker has put the
message that comes of it into its log. Both are by the clock of this machine.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median
from string import Template
from typing import Any

from rich.console import Console

from bench.following import count_cores, end_all, percentile, start_program
from bench.kafka import FLINK_CACHE, FLINK_JARS, Server, serve_all
from bench.machine import machine
from bench.measure import adopt_orphans
from bench.page import replace_block
from bench.turns import write_settings
from bench.watch import moment
from bench.workload import FLINK_PYTHON, install_flink
from examples.kafka.broker import fetch, fetch_broker, fetch_jars
from penstock.runtime.spark.jars import list_jars

HERE = Path(__file__).parent
ROOT = HERE.parent
SYSTEMS = {
    "penstock": "Penstock, micro-batches",
    "penstock-realtime": "Penstock, real time",
    "spark": "Spark by hand, micro-batches",
    "spark-realtime": "Spark by hand, real time",
    "flink": "Flink SQL",
}
PARTITIONS = 2
STEP = 0.005
"""Seconds from one bunch of messages to the next."""
PATIENCE = 180
"""Seconds until a program has to write its first message, and its last one."""


@dataclass(frozen=True, slots=True)
class Latency:
    """One run of one system. Milliseconds from the making of a message to the log of the target, in order.

    `cores`: the CPU seconds of the program for each second. `again`: messages that came more than once.
    """

    system: str
    times: Sequence[float]
    cores: float
    again: int

    def percentile(self, part: float) -> float:
        """The time that this part of the messages did not exceed."""
        return percentile(self.times, part)


@dataclass(frozen=True, slots=True)
class Feed:
    """Sends messages at a steady rate. Every second one passes the filter."""

    server: Server
    topic: str
    rate: int

    def send(self, numbers: Iterator[int], seconds: float) -> list[int]:
        """Sends for a while. Returns the numbers of the messages that are to come out."""
        producer = self.server.client.producer(linger_ms=1, queue_buffering_max_messages=1_000_000)
        begin = time.perf_counter()
        sent = 0
        wanted: list[int] = []
        while (passed := time.perf_counter() - begin) < seconds:
            for _ in range(int(passed * self.rate) - sent):
                number = next(numbers)
                producer.produce(self.topic, value=make_message(number), key=str(number), partition=number // 2 % 2)
                sent += 1
                if number % 2 == 0:
                    wanted.append(number)
            producer.poll(0)
            time.sleep(STEP)
        producer.flush(30)
        return wanted


def make_message(number: int) -> str:
    """Of even numbers it passes the filter. The moment is in microseconds since 1970."""
    row = {"k": number, "v": 500 * (number % 2), "note": f"reading of {number}", "made": time.time_ns() // 1_000}
    return json.dumps(row)


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m bench.latency", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rate", type=int, default=10_000, help="messages in a second (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=60, help="that count (default %(default)s)")
    parser.add_argument("--warm", type=float, default=30, help="seconds of messages that do not count before")
    parser.add_argument("--runs", type=int, default=3, help="of each system, in turns")
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="with commas between")
    parser.add_argument("--page", action="store_true", help="write the table into docs/performance.md")
    arguments = parser.parse_args()
    console = Console()
    reason = fetch_broker() or fetch_jars()
    systems = arguments.systems.split(",")
    if reason is None and "flink" in systems:
        install_flink(console)
        reason = fetch(FLINK_JARS, FLINK_CACHE, alone=True)
    if reason is not None:
        sys.exit(reason)
    found: defaultdict[str, list[Latency]] = defaultdict(list)
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, serve_all(Path(folder)) as server:
        adopt_orphans()
        for number in range(arguments.runs):
            for system in systems[number % len(systems) :] + systems[: number % len(systems)]:
                run = measure_latency(server, system, Path(folder), arguments)
                found[system].append(run)
                console.print(describe(run), markup=False, soft_wrap=True)
    lines = [*tabulate(found)]
    console.print("\n".join(lines), markup=False, soft_wrap=True)
    if arguments.page:
        replace_block(ROOT / "docs" / "performance.md", "latency", [conditions(arguments), "", *lines])


def measure_latency(server: Server, system: str, folder: Path, arguments: argparse.Namespace) -> Latency:
    """Runs a system beside a steady feed.

    Raises:
        RuntimeError: it ended, wrote nothing in time, or has lost messages.
    """
    source = server.client.topic("source", partitions=PARTITIONS)
    target = server.client.topic("target", partitions=PARTITIONS, message_timestamp_type="LogAppendTime")
    feed, numbers = Feed(server, source, arguments.rate), count()
    with tempfile.TemporaryDirectory(dir=folder) as work, (folder / "log").open("wb") as log:
        place = Path(work)
        command = make_command(server, system, source, target, place)
        write_settings(place, penstock=system.startswith("penstock"))
        child = start_program(command, place, log)
        try:
            await_messages(server, child, target, [*feed.send(numbers, 0.2)])
            feed.send(numbers, arguments.warm)
            before = moment(child.pid, time.time())
            wanted = feed.send(numbers, arguments.seconds)
            after = moment(child.pid, time.time())
            await_messages(server, child, target, wanted[-PARTITIONS:])
        finally:
            end_all(child)
    cores = count_cores([before, after], before.time, after.time)
    return make_latency(system, server.client.read(target), wanted, cores)


def make_latency(system: str, messages: Iterable[Any], wanted: Iterable[int], cores: float) -> Latency:
    """What the messages of a target tell of those that are wanted. One that came again counts as it first came.

    Raises:
        RuntimeError: one has not come.
    """
    times: dict[int, float] = {}
    counts: Counter[int] = Counter(dict.fromkeys(wanted, 0))
    for each in messages:
        row = json.loads(each.value())
        number = row["k"]
        if number in counts:
            counts[number] += 1
            taken = each.timestamp()[1] - row["made"] / 1_000
            times[number] = min(taken, times.get(number, taken))
    lost = len(counts) - len(times)
    if lost:
        raise RuntimeError(f"{system} has lost {lost} messages")
    return Latency(system, sorted(times.values()), cores, sum(each > 1 for each in counts.values()))


def await_messages(server: Server, child: subprocess.Popen[bytes], topic: str, wanted: Sequence[int]) -> None:
    """Waits until the messages are there."""
    deadline = time.monotonic() + PATIENCE
    missing = set(wanted)
    while missing:
        if child.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"{child.args!r} has ended, or is late: {child.returncode}")
        time.sleep(1)
        missing -= {int(each.key()) for each in server.client.read(topic)}


def make_command(server: Server, system: str, source: str, target: str, place: Path) -> list[str]:
    """The program to run in the folder `place`, where its script is put."""
    servers = server.client.servers
    name, _, trigger = system.partition("-")
    trigger = trigger or "micro_batch"
    if name == "spark":
        jars = ",".join(map(str, list_jars()))
        return [sys.executable, "-m", "bench.programs.follow", servers, source, target, jars, trigger]
    text = Template((HERE / "topics" / "latency" / f"{name}.sql").read_text("utf-8"))
    (place / "script.sql").write_text(
        text.substitute(servers=servers, source=source, target=target, trigger=trigger), "utf-8"
    )
    if name == "flink":
        jars = ",".join(map(str, sorted(FLINK_CACHE.glob("*.jar"))))
        return [str(FLINK_PYTHON), "-m", "bench.programs.flink", "script.sql", str(place / "out"), jars]
    run = ["-c", "from penstock.commands.cli import main; main()", "run", "--master", f"local[{PARTITIONS + 1}]"]
    return [sys.executable, *run, "--checkpoint", "state", "script.sql"]


def describe(run: Latency) -> str:
    """A line for the terminal."""
    parts = ", ".join(f"p{100 * part:g} {run.percentile(part):,.0f} ms" for part in (0.5, 0.99, 0.999, 1))
    return f"{run.system:18} {len(run.times):>9,} messages, {parts}, {run.cores:.2f} cores, {run.again} came again"


def tabulate(found: Mapping[str, Sequence[Latency]]) -> Iterator[str]:
    """Markdown: a line for each system, with the medians of its runs."""
    yield "| Kafka → filter → Kafka | p50 ms | p99 ms | longest ms | cores |"
    yield "|---|--:|--:|--:|--:|"
    for system, title in SYSTEMS.items():
        runs = found.get(system, ())
        if runs:
            cells = [f"{median(run.percentile(part) for run in runs):,.0f}" for part in (0.5, 0.99, 1)]
            yield f"| {title} | {' | '.join(cells)} | {median(run.cores for run in runs):.2f} |"


def conditions(arguments: argparse.Namespace) -> str:
    """What the figures depend on."""
    about = machine()
    named = ", ".join(f"{name} {about[name]}" for name in ("Python", "Java", "Spark", "Flink"))
    what = "Milliseconds from the making of a message to its answer in the log of the broker"
    load = f"{arguments.rate:,} messages a second for {arguments.seconds:.0f} s"
    return (
        f"{about['date']}, {about['machine']}, feed and broker included; {named}; Kafka 4.3.1.\n"
        f"{what}.\n{load}; medians of {arguments.runs} runs in turns."
    )


if __name__ == "__main__":
    main()
