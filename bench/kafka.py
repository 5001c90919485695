"""`python -m bench.kafka`: topics to topics and tables, by Penstock, by hand and by Flink; compares rows and costs."""

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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from string import Template

import psycopg
from rich.console import Console

from bench.machine import machine
from bench.measure import adopt_orphans
from bench.page import replace_block
from bench.server import Server as Database
from bench.server import serve_postgres
from bench.turns import Run, add_arguments, measure_beside, run_in_turns, tabulate, write_settings
from bench.workload import FLINK_PYTHON, install_flink
from examples.kafka.broker import Broker, fetch, fetch_broker, fetch_jars, find_port
from penstock.runtime.spark.jars import list_jars

HERE = Path(__file__).parent
ROOT = HERE.parent
TITLES = {
    "filter": "Kafka → filter → Kafka",
    "window": "Kafka → window → Kafka",
    "join": "Kafka ⋈ Kafka → PostgreSQL",
}
SYSTEMS = {
    "exactly_once": "Penstock, exactly once",
    "at_least_once": "Penstock, at least once",
    "spark": "Spark by hand, at least once",
    "flink": "Flink SQL, exactly once",
}
LEFT_OUT = {("join", "at_least_once")}
"""There is one way into tables."""
FLINK_JARS = (
    "org.apache.flink:flink-sql-connector-kafka:5.0.0-2.2",
    "org.apache.flink:flink-connector-jdbc-core:4.0.0-2.0",
    "org.apache.flink:flink-connector-jdbc-postgres:4.0.0-2.0",
    "org.postgresql:postgresql:42.7.7",
)
FLINK_CACHE = Path("~/.cache/penstock/flink-connectors").expanduser()
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
PAIRS = "CREATE TABLE pairs (k bigint PRIMARY KEY, v bigint, w bigint, time timestamptz)"
WRITTEN = "CREATE TABLE written (query text, batch bigint, PRIMARY KEY (query, batch))"
DIGEST = "SELECT count(*), sum(hashtext(concat_ws(',', k, v, w, extract(epoch FROM time)))::bigint) FROM pairs"
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Server:
    """A broker and a database. They are no children of this process: their time is not counted as that of a program."""

    client: Broker
    process: int
    database: Database

    def cpu_seconds(self) -> float:
        """User and system time of both."""
        times = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, times)) / _TICKS + self.database.cpu_seconds()


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m bench.kafka", description=__doc__)
    add_arguments(parser, TITLES, SYSTEMS)
    arguments = parser.parse_args()
    console = Console()
    reason = fetch_broker() or fetch_jars()
    if reason is None and "flink" in arguments.systems:
        install_flink(console)
        reason = fetch(FLINK_JARS, FLINK_CACHE, alone=True)
    if reason is not None:
        sys.exit(reason)
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, serve_all(Path(folder)) as server:
        # From here on processes that lose their parent count; the servers have lost their own before.
        adopt_orphans()
        runs = list(run_all(server, Path(folder), arguments, console))
    lines = list(tabulate("from topics", TITLES, SYSTEMS, runs, describe))
    console.print("\n".join(lines))
    if arguments.page:
        replace_block(ROOT / "docs" / "performance.md", "kafka", [conditions(arguments), "", *lines])


@contextmanager
def serve_all(folder: Path) -> Iterator[Server]:
    """Starts a database, and a broker through a process that ends at once. Stops them at the end."""
    root = folder / "broker"
    root.mkdir()
    command = [sys.executable, "-c", APART, str(root)]
    with serve_postgres(folder / "database", find_port()) as database:
        started = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        servers, process = started.stdout.split()
        try:
            yield Server(Broker(root, servers, "", None), int(process), database)
        finally:
            os.kill(int(process), signal.SIGTERM)


def run_all(server: Server, folder: Path, arguments: argparse.Namespace, console: Console) -> Iterator[Run]:
    """Runs every query on every system, in turns, and compares what they have written."""
    sources: dict[tuple[bool, int], list[str]] = {}

    def run(query: str, system: str, rows: int) -> tuple[Run, object]:
        if (query == "join", rows) not in sources:
            fill = fill_halves if query == "join" else fill_topic
            sources[query == "join", rows] = fill(server.client, rows)
        return measure_run(server, Job(query, system, rows, sources[query == "join", rows]), folder)

    return run_in_turns(arguments, run, console, LEFT_OUT)


@dataclass(frozen=True, slots=True)
class Job:
    """What is run. `sources`: the topics that it reads."""

    query: str
    system: str
    rows: int
    sources: list[str]


def fill_topic(broker: Broker, rows: int) -> list[str]:
    """A topic of rows in order of their times, but for some seconds, and a last one that ends all windows."""
    draw = random.Random(rows)
    topic = broker.topic("source", partitions=4)
    drawn = ((draw.randrange(KEYS), draw.randrange(1_000), moment) for moment in draw_times(draw, rows))
    broker.send(topic, (message(k, {"v": v, "note": f"reading of {k}"}, at, n) for n, (k, v, at) in enumerate(drawn)))
    broker.send(topic, [message(-1, {"v": 0, "note": ""}, LAST, 3)])
    return [topic]


def fill_halves(broker: Broker, rows: int) -> list[str]:
    """Two topics with half of the rows each. A row of the second has the key of one of the first, and comes later."""
    draw = random.Random(rows)
    topics = [broker.topic(name, partitions=4) for name in ("asked", "answered")]
    times = [*draw_times(draw, rows // 2)]
    later = (moment + timedelta(milliseconds=draw.randrange(3_000)) for moment in times)
    values = ({"v": number % 1_000, "note": f"reading of {number}"} for number in range(len(times)))
    broker.send(topics[0], (message(k, v, at, k) for k, (v, at) in enumerate(zip(values, times, strict=True))))
    broker.send(topics[1], (message(k, {"w": k % 777}, cut_micros(at), k) for k, at in enumerate(later)))
    last: list[Mapping[str, object]] = [{"v": 0, "note": ""}, {"w": 0}]
    for topic, value in zip(topics, last, strict=True):
        broker.send(topic, [message(-1, value, LAST, 3)])
    return topics


def draw_times(draw: random.Random, rows: int) -> Iterator[datetime]:
    step = timedelta(minutes=1) / PER_MINUTE
    return (FIRST + number * step - timedelta(seconds=DISORDER * draw.random()) for number in range(rows))


def cut_micros(moment: datetime) -> datetime:
    """Flink has an event time in milliseconds."""
    return moment.replace(microsecond=moment.microsecond // 1_000 * 1_000)


def message(key: int, value: Mapping[str, object], moment: datetime, partition: int) -> dict[str, object]:
    row = {"k": key, **value, "time": f"{moment:%Y-%m-%dT%H:%M:%S.%fZ}"}
    milliseconds = int(moment.timestamp() * 1000)
    return {"key": str(key), "value": json.dumps(row), "timestamp": milliseconds, "partition": partition % 4}


def measure_run(server: Server, job: Job, folder: Path) -> tuple[Run, tuple[int, int]]:
    """Runs a query into a new topic or table, and reads that after it."""
    target = make_target(server, job.query)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        place = Path(work)
        command = make_command(server, job, target, place)
        write_settings(place, penstock=job.system not in ("spark", "flink"))
        cost, used = measure_beside(server, command, place, folder / "log")
    found = digest_table(target) if job.query == "join" else digest_topic(server.client, target)
    return Run(job.query, job.system, job.rows, cost.wall, cost.cpu, used), found


def make_target(server: Server, query: str) -> str:
    """Makes a new topic, or a new database with an empty table. Returns the topic's name or the database's address."""
    if query != "join":
        return server.client.topic("target", partitions=4)
    with psycopg.connect(server.database.url("postgres"), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS bench")
        connection.execute("CREATE DATABASE bench")
    with psycopg.connect(server.database.url("bench"), autocommit=True) as connection:
        for statement in (PAIRS, WRITTEN, "CHECKPOINT"):
            connection.execute(statement)
    return server.database.url("bench")


def make_command(server: Server, job: Job, target: str, place: Path) -> list[str]:
    """The program to run in the folder `place`, where its script is put."""
    limit = str(job.rows // len(job.sources) // BATCHES)
    if job.system == "spark":
        given = [server.client.servers, ",".join(job.sources), target, limit, ",".join(map(str, list_jars()))]
        return [sys.executable, "-m", "bench.programs.topics", job.query, *given]
    language = "flink" if job.system == "flink" else "penstock"
    text = Template((HERE / "topics" / job.query / f"{language}.sql").read_text("utf-8")).substitute(
        servers=server.client.servers,
        source=job.sources[0],
        other=job.sources[-1],
        target=target,
        url=target,
        jdbc=f"jdbc:postgresql://127.0.0.1:{server.database.port}/bench",
        limit=limit,
        delivery=job.system,
    )
    (place / "script.sql").write_text(text, "utf-8")
    if language == "flink":
        jars = ",".join(map(str, sorted(FLINK_CACHE.glob("*.jar"))))
        return [str(FLINK_PYTHON), "-m", "bench.programs.flink", "script.sql", str(place / "out"), jars]
    run = ["-c", "from penstock.commands.cli import main; main()", "run", "--once", "--checkpoint", "state"]
    return [sys.executable, *run, "script.sql"]


def digest_topic(broker: Broker, topic: str) -> tuple[int, int]:
    """The number of messages that were committed, and a sum over their keys and values in any order."""
    count = total = 0
    for each in broker.read(topic):
        row = json.loads(each.value())
        # Flink leaves zeros at the end out.
        seconds, _, fraction = row["time"].rstrip("Z").partition(".")
        value = json.dumps(row | {"time": f"{seconds}.{fraction:0<6}"}, sort_keys=True)
        count += 1
        total += zlib.crc32(each.key() + value.encode())
    return count, total


def digest_table(url: str) -> tuple[int, int]:
    """The number of rows, and a sum over them in any order."""
    with psycopg.connect(url) as connection:
        count, total = connection.execute(DIGEST).fetchone() or (0, 0)
    return int(count), int(total)


def describe(runs: list[Run]) -> str:
    """Rows for a CPU second beyond those of the short run, CPU seconds to start, and those of the servers."""
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
    named = ", ".join(f"{name} {about[name]}" for name in ("Python", "Java", "Spark", "Flink"))
    what = "Rows for a further CPU second of the program + CPU seconds to start; those of the servers for the rows"
    return (
        f"{about['date']}, {about['machine']}; {named}; Kafka 4.3.1.\n{what}.\n"
        f"{arguments.rows:,} rows in {BATCHES} micro-batches; medians of {arguments.runs} interleaved runs."
    )


if __name__ == "__main__":
    main()
