"""`python -m bench.serving`: reads, statements and the freshness of tables while a server is busy."""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import asyncpg
import httpx
import uvloop
from psycopg import conninfo
from rich.console import Console

from bench.machine import machine
from bench.page import replace_block
from bench.relay import cell
from bench.serve_process import PAGES, TOKEN, ServeProcess, serve

ROOT = Path(__file__).parents[1]
READERS, DIRECT, SUBMITTERS = 200, 20, 20
READ_PAUSE, STATEMENT_PAUSE = 0.1, 2.0
"""Mean seconds that a client waits before it asks again."""
POINT = "SELECT n FROM counts WHERE page = $1"
MARK = "SELECT n FROM marks WHERE id = $1"
FEED_ROWS = 1_000
DOCUMENTED = {
    "57P03": "the engine has not answered in time",
    "53400": "too many queries",
}
"""By SQLSTATE: what the pages of errors and docs/http.md announce under load."""
SAMPLES = 60


class Found:
    """What was measured: seconds by name, and errors by name. `failures`: errors that are not documented."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)
        self.refused: Counter[str] = Counter()
        self.failures: list[str] = []

    async def time(self, name: str, work: Callable[[], Awaitable[str | None]]) -> bool:
        """Does some work, and notes its time or its error. `work` gives the SQLSTATE of a refusal."""
        begin = time.perf_counter()
        try:
            state = await work()
        except Exception as error:
            self.failures.append(f"{name}: {error!r}")
            return False
        if state is None:
            self.seconds[name].append(time.perf_counter() - begin)
        elif state in DOCUMENTED:
            self.refused[DOCUMENTED[state]] += 1
        else:
            self.failures.append(f"{name}: {state}")
        return state is None


def main() -> None:
    """Do what the command line says. Exit code 1: an error came that is not documented, or connections leak."""
    parser = argparse.ArgumentParser(prog="python -m bench.serving", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300, help="of the load (default %(default)s)")
    parser.add_argument("--page", action="store_true", help="write the table into docs/serve.md")
    arguments = parser.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, serve(Path(folder)) as server:
        found = uvloop.run(measure(server, arguments.seconds))
    lines = list(tabulate(found, arguments.seconds))
    console.print("\n".join(lines), markup=False)
    for failure, count in Counter(found.failures).most_common(20):
        console.print(f"{count} × {failure}", markup=False)
    if arguments.page:
        replace_block(ROOT / "docs" / "serve.md", "serving", [conditions(arguments), "", *lines])
    sys.exit(1 if found.failures else 0)


async def measure(server: ServeProcess, seconds: float) -> Found:
    """The freshness of an idle server, and then everything under load."""
    found = Found()
    sessions, files = server.count_sessions(), server.count_files()
    await watch_freshness(server, found, "idle", lambda: len(found.seconds["fresh, idle"]) >= SAMPLES)
    stopping = asyncio.Event()
    asyncio.get_running_loop().call_later(seconds, stopping.set)
    feeding = asyncio.create_task(server.feed(FEED_ROWS))
    clients = [read(server.relay, found, "relay", stopping) for _ in range(READERS)]
    clients += [read(server.direct, found, "direct", stopping) for _ in range(DIRECT)]
    clients += [submit(server, found, number, stopping) for number in range(SUBMITTERS)]
    clients.append(watch_freshness(server, found, "load", stopping.is_set))
    await asyncio.gather(*clients)
    feeding.cancel()
    await asyncio.sleep(5)
    if (left := server.count_sessions() - sessions) > 0:
        found.failures.append(f"{left} sessions of PostgreSQL are left")
    if (left := server.count_files() - files) > 10:
        found.failures.append(f"{left} open files of the server are left")
    return found


async def connect(place: str) -> Any:
    """A connection of asyncpg."""
    given = conninfo.conninfo_to_dict(place)
    kept = {name: given[name] for name in ("host", "port", "user", "password") if name in given}
    return await asyncpg.connect(database=given["dbname"], ssl=False, **kept)


async def read(place: str, found: Found, way: str, stopping: asyncio.Event) -> None:
    """Reads rows by their key until it is told to stop."""
    await asyncio.sleep(random.uniform(0, 2))
    connection = await connect(place)
    prepared = await connection.prepare(POINT)

    async def ask() -> None:
        rows = await prepared.fetch(random.randrange(PAGES))
        assert len(rows) == 1

    while not stopping.is_set():
        await found.time(f"read, {way}", ask)
        await pause(READ_PAUSE)
    await connection.close()


async def submit(server: ServeProcess, found: Found, number: int, stopping: asyncio.Event) -> None:
    """Makes and drops a view, or a stream with a query, until it is told to stop."""
    way = ("relay", "HTTP")[number % 2]
    name = f"made_{number}"
    kind = ("VIEW", "STREAM")[number // 2 % 2]
    create = f"CREATE {kind} {name} AS SELECT STREAM id, page FROM clicks WHERE page = {number}"
    drop = f"DROP {kind} IF EXISTS {name}"
    async with (open_relay if way == "relay" else open_http)(server) as send:
        while not stopping.is_set():
            await pause(STATEMENT_PAUSE)
            if await found.time(f"CREATE {kind}, {way}", partial(send, create)):
                await pause(STATEMENT_PAUSE)
            # What was refused because the engine was late may have been made all the same.
            while not await found.time(f"DROP {kind}, {way}", partial(send, drop)) and not stopping.is_set():
                await pause(STATEMENT_PAUSE)


@asynccontextmanager
async def open_relay(server: ServeProcess) -> Any:
    """Sends statements through the relay."""
    connection = await connect(server.relay)

    async def send(text: str) -> str | None:
        try:
            await connection.execute(text)
        except asyncpg.PostgresError as error:
            return str(error.sqlstate)
        return None

    yield send
    await connection.close()


@asynccontextmanager
async def open_http(server: ServeProcess) -> Any:
    """Sends statements over HTTP."""
    async with httpx.AsyncClient(base_url=server.http, timeout=90) as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"

        async def send(text: str) -> str | None:
            response = await client.post("/v1/statements", json={"sql": text})
            return None if response.is_success else str(response.json()["sqlstate"] or response.status_code)

        yield send


async def watch_freshness(server: ServeProcess, found: Found, when: str, ended: Callable[[], bool]) -> None:
    """Notes the times from the rename of a file into the folder until a SELECT shows its row."""
    connection = await connect(server.relay)
    prepared = await connection.prepare(MARK)
    number = 1_000_000 * (when == "load")
    while not ended():
        number += 1
        row: dict[str, object] = {"id": number, "page": -1, "ts": "2026-01-01T00:00:00Z"}
        begin = await asyncio.to_thread(server.write, f"mark-{number}", [row])
        while not await prepared.fetch(number):
            await asyncio.sleep(0.005)
        found.seconds[f"fresh, {when}"].append(time.perf_counter() - begin)
        await pause(0.5)
    await connection.close()


async def pause(mean: float) -> None:
    """Waits as people and dashboards do: not all at the same time."""
    await asyncio.sleep(random.uniform(0.5, 1.5) * mean)


def tabulate(found: Found, seconds: float) -> Iterator[str]:
    """Markdown, in milliseconds."""
    yield "| milliseconds | count | p50 | p99 |"
    yield "|---|--:|--:|--:|"
    names = {
        "read, relay": f"read by key, {READERS} clients of the relay",
        "read, direct": f"read by key, {DIRECT} clients beside the relay",
        "fresh, idle": "from a file to its row in a SELECT, idle",
        "fresh, load": "from a file to its row in a SELECT, under load",
    }
    others = sorted(set(found.seconds) - set(names))
    for name in (*names, *others):
        times = found.seconds[name]
        yield f"| {names.get(name, name)} | {len(times):,} | {cell([median(times)])} | {cell([percentile(times)])} |"
    refusals = "; ".join(f"{count} × {what}" for what, count in found.refused.items()) or "none"
    yield ""
    yield f"Refused in {seconds:.0f} s: {refusals}. Errors that are not documented: {len(found.failures)}."


def percentile(times: Sequence[float]) -> float:
    """The 99th percentile."""
    return quantiles(times, n=100, method="inclusive")[98]


def conditions(arguments: argparse.Namespace) -> str:
    """What the figures depend on."""
    about = machine()
    versions = f"Python {about['Python']}, Spark {about['Spark']}, Java {about['Java']}"
    load = f"{FEED_ROWS:,} rows a second come in under load, for {arguments.seconds:.0f} s"
    return f"{about['date']}, {about['machine']}, clients included; {versions}.\n{load}."


if __name__ == "__main__":
    main()
