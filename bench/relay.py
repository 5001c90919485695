"""`python -m bench.relay`: what the PostgreSQL door adds to a read, to many rows and to many clients."""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import asyncpg
import uvloop
from rich.console import Console

from bench.machine import machine
from bench.page import replace_block
from bench.server import serve_postgres
from penstock.server.engine_protocol import Statement, StatementAnswer
from penstock.server.postgres.relay import Relay, Upstream
from penstock.server.postgres.tls import load_context, make_certificate

ROOT = Path(__file__).parents[1]
FUNCTIONS = ROOT / "server" / "postgres" / "functions.sql"
KEYS = 100_000
SETUP = (
    "CREATE TABLE points (k bigint PRIMARY KEY, s text, n numeric(18, 2))",
    f"INSERT INTO points SELECT k, 'point ' || k, k / 100.0 FROM generate_series(0, {KEYS - 1}) AS k",
    "VACUUM ANALYZE points",
)
POINT = "SELECT s, n FROM points WHERE k = $1"
ROWS = "SELECT i, 'name ' || i, i * 1.5 FROM generate_series(1, 200000) AS i"
WAYS = {"direct": "direct", "relay": "relay", "tls": "relay with TLS"}
CLIENTS = (1, 50)


class ReadyEngine:
    """Answers every statement at once."""

    async def run(self, statement: Statement) -> StatementAnswer:
        """Part of the protocol Engine."""
        return StatementAnswer("SHOW", ("name", "columns"), ((statement.author, statement.text),))

    def relations(self) -> frozenset[str]:
        """Part of the protocol Engine."""
        return frozenset({"points", "clicks"})


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m bench.relay", description=__doc__)
    parser.add_argument("--reads", type=int, default=5_000, help="of all clients together (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="each measures all ways, in turns")
    parser.add_argument("--page", action="store_true", help="write the table into docs/serve.md")
    arguments = parser.parse_args()
    console = Console()
    found: dict[tuple[str, str], list[float]] = {}
    with (
        tempfile.TemporaryDirectory(dir="/tmp") as folder,
        serve_postgres(Path(folder) / "server") as server,
        serve_relays(Path(folder)) as ports,
    ):
        places: dict[str, dict[str, Any]] = {
            "direct": {"host": str(server.folder)},
            "relay": {"host": "127.0.0.1", "port": ports[0], "ssl": False},
            "tls": {"host": "127.0.0.1", "port": ports[1], "ssl": "require"},
        }
        uvloop.run(prepare(places["direct"]))
        for number in range(arguments.rounds):
            for way in list(places)[number % 3 :] + list(places)[: number % 3]:
                for name, value in uvloop.run(measure(places[way], arguments.reads)).items():
                    found.setdefault((name, way), []).append(value)
                    console.print(f"{number} {way:8} {name:40} {value * 1000:9.3f} ms")
    lines = list(tabulate(found))
    console.print("\n".join(lines), markup=False)
    if arguments.page:
        replace_block(ROOT / "docs" / "serve.md", "relay", [conditions(arguments), "", *lines])


@contextmanager
def serve_relays(folder: Path) -> Iterator[list[int]]:
    """Two relays in a process of their own, the second one with TLS: their ports."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=run_relays, args=(folder, theirs), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        process.terminate()
        process.join()


def run_relays(folder: Path, pipe: Connection) -> None:
    """The process of the relays."""

    async def serve() -> None:
        tls = load_context(*make_certificate(folder / "tls"))
        upstream = Upstream(str(folder / "server"))
        relays = [Relay(upstream, ReadyEngine(), tls=each, refused_roles=frozenset()) for each in (None, tls)]
        for relay in relays:
            await relay.start("127.0.0.1", 0)
        pipe.send([relay.port for relay in relays])
        await asyncio.Event().wait()

    uvloop.run(serve())


async def prepare(place: dict[str, Any]) -> None:
    """Makes the table and the functions of the relay."""
    connection = await connect(place)
    for text in (FUNCTIONS.read_text(encoding="utf-8"), *SETUP):
        await connection.execute(text)
    await connection.close()


async def connect(place: dict[str, Any]) -> Any:
    """A connection of asyncpg."""
    return await asyncpg.connect(user="postgres", database="postgres", **place)


async def measure(place: dict[str, Any], reads: int) -> dict[str, float]:
    """Seconds by what was measured."""
    found: dict[str, float] = {}
    for clients in CLIENTS:
        connections = [await connect(place) for _ in range(clients)]
        times = [
            each for part in await asyncio.gather(*(read(c, reads // clients) for c in connections)) for each in part
        ]
        suffix = "" if clients == 1 else f", {clients} clients"
        found[f"read by key{suffix}, p50"] = median(times)
        found[f"read by key{suffix}, p99"] = quantiles(times, n=100)[98]
        for connection in connections:
            await connection.close()
    connection = await connect(place)
    begin = time.perf_counter()
    rows = await connection.fetch(ROWS)
    found["200,000 rows of three columns"] = time.perf_counter() - begin
    assert len(rows) == 200_000
    if place.get("port"):
        found["SHOW STREAMS, p50"] = median(await repeat(connection, "SHOW STREAMS", 300))
    begin = time.perf_counter()
    for _ in range(20):
        await (await connect(place)).close()
    found["connect"] = (time.perf_counter() - begin) / 20
    await connection.close()
    return found


async def read(connection: Any, count: int) -> list[float]:
    """The seconds of each read by key."""
    prepared = await connection.prepare(POINT)
    times = []
    for number in range(count):
        begin = time.perf_counter()
        rows = await prepared.fetch(number * 7919 % KEYS)
        times.append(time.perf_counter() - begin)
        assert len(rows) == 1
    return times


async def repeat(connection: Any, text: str, count: int) -> list[float]:
    """The seconds of each run of a statement that is not prepared."""
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        await connection.execute(text)
        times.append(time.perf_counter() - begin)
    return times


def tabulate(found: dict[tuple[str, str], list[float]]) -> Iterator[str]:
    """Markdown: the medians of the rounds, in milliseconds."""
    yield "| milliseconds | " + " | ".join(WAYS.values()) + " |"
    yield "|---|" + "--:|" * len(WAYS)
    for name in dict.fromkeys(name for name, _ in found):
        yield f"| {name} | " + " | ".join(cell(found.get((name, way), ())) for way in WAYS) + " |"


def cell(values: Sequence[float]) -> str:
    """The median of some seconds in milliseconds, with two digits or more."""
    if not values:
        return "–"
    milliseconds = median(values) * 1000
    return f"{milliseconds:,.0f}" if milliseconds >= 100 else f"{milliseconds:.2g}"


def conditions(arguments: argparse.Namespace) -> str:
    """What the figures depend on."""
    about = machine()
    versions = f"Python {about['Python']}, asyncpg {asyncpg.__version__}, uvloop {version('uvloop')}"
    counted = f"{arguments.reads:,} reads in each of {arguments.rounds} rounds; medians of the rounds"
    return f"{about['date']}, {about['machine']}; {versions}.\n{counted}."


if __name__ == "__main__":
    main()
