"""`python -m bench.kafka`: topic to topic, by Penstock and by hand with the same broker; compares rows and costs."""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from string import Template

from rich.console import Console

from bench.machine import machine
from bench.measure import adopt_orphans
from bench.page import replace_block
from bench.turns import Run, add_arguments, list_sizes, measure_beside, run_in_turns, tabulate, write_settings
from examples.kafka.broker import Broker, fetch_broker, fetch_jars
from penstock.runtime.jars import list_jars

HERE = Path(__file__).parent
ROOT = HERE.parent
TITLES = {"filter": "Kafka → filter → Kafka", "window": "Kafka → window → Kafka"}
SYSTEMS = {
    "exactly_once": "Penstock, exactly once",
    "at_least_once": "Penstock, at least once",
    "spark": "Spark by hand, at least once",
}
KEYS = 1_000
PER_MINUTE = 20_000
"""Rows in a minute of event time."""
FIRST = datetime(2024, 1, 1, tzinfo=UTC)
LAST = FIRST + timedelta(hours=25)
"""The time of a row behind all others, which the queries leave out."""
DISORDER = 4
"""Seconds that a row may be behind the one before it."""
BATCHES = 10
APART = """import sys
from pathlib import Path
from examples.kafka.broker import Broker
broker = Broker.start(Path(sys.argv[1]))
print(broker.servers, broker.process and broker.process.pid)
"""
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Server:
    """A broker that is no child of this process, so that its time is not counted as that of a program."""

    client: Broker
    process: int

    def cpu_seconds(self) -> float:
        """User and system time of the broker."""
        times = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, times)) / _TICKS


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m bench.kafka", description=__doc__)
    add_arguments(parser, TITLES, SYSTEMS)
    arguments = parser.parse_args()
    reason = fetch_broker() or fetch_jars()
    if reason is not None:
        sys.exit(reason)
    console = Console()
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, serve_kafka(Path(folder) / "broker") as server:
        # From here on processes that lose their parent count; the broker has lost its own before.
        adopt_orphans()
        runs = list(run_all(server, Path(folder), arguments, console))
    lines = list(tabulate("topic to topic", TITLES, SYSTEMS, runs, describe))
    console.print("\n".join(lines))
    if arguments.page:
        replace_block(ROOT / "docs" / "performance.md", "kafka", [conditions(arguments), "", *lines])


@contextmanager
def serve_kafka(root: Path) -> Iterator[Server]:
    """Starts a broker through a process that ends at once, and stops it at the end."""
    root.mkdir()
    command = [sys.executable, "-c", APART, str(root)]
    started = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    servers, process = started.stdout.split()
    try:
        yield Server(Broker(root, servers, "", None), int(process))
    finally:
        os.kill(int(process), signal.SIGTERM)


def run_all(server: Server, folder: Path, arguments: argparse.Namespace, console: Console) -> Iterator[Run]:
    """Runs every query on every system, in turns, and compares the topics."""
    sources = {rows: fill(server.client, rows) for rows in list_sizes(arguments.rows)}

    def run(query: str, system: str, rows: int) -> tuple[Run, object]:
        return measure_run(server, Job(query, system, rows, sources[rows]), folder)

    return run_in_turns(arguments, run, console)


@dataclass(frozen=True, slots=True)
class Job:
    """What is run. `source`: the topic that it reads."""

    query: str
    system: str
    rows: int
    source: str


def fill(broker: Broker, rows: int) -> str:
    """A topic of rows in order of their times, but for some seconds, and a last one that ends all windows."""
    draw = random.Random(rows)
    topic = broker.topic("source", partitions=4)
    step = timedelta(minutes=1) / PER_MINUTE

    def messages() -> Iterator[dict[str, object]]:
        for number in range(rows):
            moment = FIRST + number * step - timedelta(seconds=DISORDER * draw.random())
            yield message(draw.randrange(KEYS), draw.randrange(1_000), moment, number % 4)
        yield message(-1, 0, LAST, 3)

    broker.send(topic, messages())
    return topic


def message(key: int, value: int, moment: datetime, partition: int) -> dict[str, object]:
    row = {"k": key, "v": value, "note": f"reading of {key}", "time": f"{moment:%Y-%m-%dT%H:%M:%S.%fZ}"}
    milliseconds = int(moment.timestamp() * 1000)
    return {"key": str(key), "value": json.dumps(row), "timestamp": milliseconds, "partition": partition}


def measure_run(server: Server, job: Job, folder: Path) -> tuple[Run, tuple[int, int]]:
    """Runs a query into a new topic, and reads the topic after it."""
    target = server.client.topic("target", partitions=4)
    limit = str(job.rows // BATCHES)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        place = Path(work)
        if job.system == "spark":
            jars = ",".join(map(str, list_jars()))
            program = [sys.executable, "-m", "bench.programs.topics"]
            command = [*program, job.query, server.client.servers, job.source, target, limit, jars]
        else:
            text = Template((HERE / "topics" / f"{job.query}.sql").read_text("utf-8")).substitute(
                servers=server.client.servers, source=job.source, target=target, limit=limit, delivery=job.system
            )
            (place / "script.sql").write_text(text, "utf-8")
            run = ["-c", "from penstock.cli import main; main()", "run", "--once", "--checkpoint", "state"]
            command = [sys.executable, *run, "script.sql"]
        write_settings(place, penstock=job.system != "spark")
        cost, used = measure_beside(server, command, place, folder / "log")
    return Run(job.query, job.system, job.rows, cost.wall, cost.cpu, used), digest(server.client, target)


def digest(broker: Broker, topic: str) -> tuple[int, int]:
    """The number of messages that were committed, and a sum over their keys and values in any order."""
    count = total = 0
    for each in broker.read(topic):
        value = json.dumps(json.loads(each.value()), sort_keys=True)
        count += 1
        total += zlib.crc32(each.key() + value.encode())
    return count, total


def describe(runs: list[Run]) -> str:
    """Rows for a CPU second beyond those of the short run, CPU seconds to start, and those of the broker."""
    if not runs:
        return ""
    small, large = min(run.rows for run in runs), max(run.rows for run in runs)

    def middle(name: str, rows: int) -> float:
        return float(median(getattr(run, name) for run in runs if run.rows == rows))

    more = middle("cpu", large) - middle("cpu", small)
    start = middle("cpu", small) - more * small / (large - small)
    broker = middle("server", large) - middle("server", small)
    return f"{(large - small) / more / 1000:.0f} k + {start:.0f} s; {broker:.1f} s"


def conditions(arguments: argparse.Namespace) -> str:
    """What the figures depend on."""
    about = machine()
    named = ", ".join(f"{name} {about[name]}" for name in ("Python", "Java", "Spark"))
    what = "Rows for a further CPU second of the program + CPU seconds to start; CPU seconds of the broker for the rows"
    return (
        f"{about['date']}, {about['machine']}; {named}; Kafka 4.3.1.\n{what}.\n"
        f"{arguments.rows:,} rows in {BATCHES} micro-batches; medians of {arguments.runs} interleaved runs."
    )


if __name__ == "__main__":
    main()
