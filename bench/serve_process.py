"""A `penstock serve` over a folder of clicks, its users, and the files that come into the folder."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import conninfo

PAGES = 10_000
SCRIPT = """
CREATE STREAM clicks (id BIGINT, page BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
  WITH (connector = 'files', path = '{folder}', format = 'json');
CREATE TABLE counts AS SELECT page, COUNT(*) AS n FROM clicks GROUP BY page;
CREATE TABLE marks AS SELECT id, COUNT(*) AS n FROM clicks WHERE page < 0 GROUP BY id;
"""
"""`counts` is read by key. A click whose page is less than 0 is a mark, by which the time to its row is measured."""
USER, TOKEN = "bench", "pst_bench"
START_SECONDS = 180


@dataclass(frozen=True, slots=True)
class ServeProcess:
    """A server that runs. `relay`, `direct`: connection strings of its user, through the relay and around it."""

    process: subprocess.Popen[str]
    folder: Path
    relay: str
    direct: str
    operator: str
    http: str

    def count_files(self) -> int:
        """How many files and connections the server has open."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def count_sessions(self) -> int:
        """How many sessions of the user PostgreSQL has."""
        with psycopg.connect(self.operator) as db:
            row = db.execute("SELECT count(*) FROM pg_stat_activity WHERE usename = %s", [USER]).fetchone()
        assert row is not None
        return int(row[0])

    def write(self, name: str, rows: list[dict[str, object]]) -> float:
        """Writes a file that is there at once; gives the time of that."""
        hidden = self.folder / f".{name}"
        hidden.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        hidden.rename(self.folder / f"{name}.json")
        return time.perf_counter()

    async def feed(self, rows: int) -> None:
        """Writes a file of so many clicks each second, until it is cancelled."""
        number = 0
        while True:
            number += 1
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            clicks = [{"id": 0, "page": random.randrange(PAGES), "ts": now} for _ in range(rows)]
            await asyncio.to_thread(self.write, f"clicks-{number:06}", clicks)
            await asyncio.sleep(1)


@contextmanager
def serve(folder: Path) -> Iterator[ServeProcess]:
    """A server with its user, and with a row of each page."""
    folder.chmod(0o755)  # PostgreSQL has a user of its own
    clicks, script, state = folder / "clicks", folder / "script.sql", folder / "state"
    clicks.mkdir()
    script.write_text(SCRIPT.format(folder=clicks), encoding="utf-8")
    command = [sys.executable, "-m", "penstock", "serve", str(script), "--state", str(state)]
    command += ["--pg-port", "0", "--http-port", "0", "--master", "local[2]"]
    log = folder / "server.log"
    with log.open("w") as output:
        process = subprocess.Popen(command, stderr=output, text=True)
    try:
        operator = find(process, log, r'psql "(.*)"')
        http = find(process, log, r"(http://\S+?)/ ")
        find(process, log, r"(engine +ready)")
        with psycopg.connect(operator, autocommit=True) as db:
            db.execute(f"CREATE ROLE {USER} LOGIN PASSWORD '{USER}' IN ROLE penstock_submitter")
            digest = "sha256(convert_to(%s, 'UTF8'))"
            db.execute(f"INSERT INTO penstock.token (hash, role) VALUES ({digest}, %s)", [TOKEN, USER])
        socket = (state / "postgres" / "postmaster.pid").read_text(encoding="utf-8").splitlines()[4]
        relay = conninfo.make_conninfo(operator, user=USER, password=USER, passfile="")
        direct = conninfo.make_conninfo(host=socket, dbname="penstock", user=USER, password=USER)
        server = ServeProcess(process, clicks, relay, direct, operator, http)
        server.write("first", [{"id": 0, "page": page, "ts": "2026-01-01T00:00:00Z"} for page in range(PAGES)])
        await_rows(server)
        yield server
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(120)
    problems = re.findall(r"(?m)^.*Traceback.*$", log.read_text(encoding="utf-8"))
    assert not problems, problems


def find(process: subprocess.Popen[str], log: Path, pattern: str) -> str:
    """What the server prints; ends the program if it does not."""
    ends = time.monotonic() + START_SECONDS
    while time.monotonic() < ends and process.poll() is None:
        if match := re.search(pattern, log.read_text(encoding="utf-8")):
            return match[1]
        time.sleep(0.1)
    sys.exit(f"the server does not start:\n{log.read_text(encoding='utf-8')}")


def await_rows(server: ServeProcess) -> None:
    """Waits until the table has a row of each page."""
    with psycopg.connect(server.direct, autocommit=True) as db:
        while db.execute("SELECT count(*) FROM counts").fetchone() != (PAGES,):
            time.sleep(0.2)
