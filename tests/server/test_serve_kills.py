"""A server whose processes are killed at random moments: after it all tables equal the batch answer."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.server.running.scripts import HOURS, declare_clicks
from tests.server.served import ServedProcess, wait_for

pytestmark = [pytest.mark.spark, pytest.mark.campaign]
KILLS = int(os.environ.get("PENSTOCK_SERVER_KILLS", "20"))
PAGES = "abcdefgh"
USERS = (
    "CREATE TABLE users (id BIGINT PRIMARY KEY, page STRING) WITH (connector = 'files', path = '{}', format = 'json')"
)
PER_PAGE = "CREATE TABLE per_page AS SELECT page, COUNT(*) AS n FROM users GROUP BY page"


class Writer:
    """Writes files of clicks and of users until it is stopped, and knows what the tables come to."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.clicks, self.users = folder / "clicks", folder / "users"
        for each in (self.clicks, self.users):
            each.mkdir()
        self.counts: Counter[str] = Counter()
        self.page_of: dict[int, str] = {}
        self._random = random.Random(seed)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._write_all)

    def _write_all(self) -> None:
        number = 0
        while not self._stopping.wait(0.5):
            number += 1
            pages = self._random.choices(PAGES, k=20)
            self.counts.update(pages)
            self._write(self.clicks, number, [{"id": 1, "page": page, "ts": "2026-01-01T10:00:00Z"} for page in pages])
            users = [(self._random.randrange(30), self._random.choice(PAGES)) for _ in range(5)]
            self.page_of |= dict(users)
            self._write(self.users, number, [{"id": id_, "page": page} for id_, page in users])

    def _write(self, folder: Path, number: int, rows: list[dict[str, object]]) -> None:
        (folder / f".{number:05}").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        (folder / f".{number:05}").rename(folder / f"{number:05}.json")

    def __enter__(self) -> Writer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()


def find_processes(served: ServedProcess) -> dict[str, psutil.Process]:
    """What can be killed: the server, its engine, the JVM of that, PostgreSQL."""
    found = {"server": psutil.Process(served.process.pid)}
    for each in found["server"].children(recursive=True):
        command = each.cmdline()
        if "penstock.server.running" in command:
            found["engine"] = each
        elif command and command[0].endswith("java"):
            found["jvm"] = each
    pid = served.state / "postgres" / "postmaster.pid"
    if pid.exists():
        found["postgres"] = psutil.Process(int(pid.read_text(encoding="utf-8").split("\n")[0]))
    return found


@contextmanager
def reader(served: ServedProcess) -> Iterator[psycopg.Connection]:
    with served.connect() as db:
        yield db


def tables(served: ServedProcess) -> tuple[dict[str, int], dict[str, int]]:
    """Both tables; empty while they cannot be read."""
    try:
        with reader(served) as db:
            hourly = dict(db.execute("SELECT page, n FROM hourly").fetchall())
            return hourly, dict(db.execute("SELECT page, n FROM per_page").fetchall())
    except psycopg.Error:
        return {}, {}


def test_killed_servers_lose_nothing_and_repeat_nothing(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    chance = random.Random(7)
    killed: Counter[str] = Counter()
    script = tmp_path / "script.sql"
    with Writer(tmp_path, 7) as writer:
        parts = [declare_clicks(writer.clicks), HOURS, USERS.format(writer.users), PER_PAGE]
        script.write_text(";\n".join(parts) + ";\n", encoding="utf-8")
        served = ServedProcess(tmp_path / "state", script)
        served.wait_until_ready()
        while sum(killed.values()) < KILLS:
            time.sleep(chance.uniform(3, 20))
            choices = find_processes(served)
            victim = chance.choice(sorted(choices))
            choices[victim].send_signal(signal.SIGKILL)
            killed[victim] += 1
            if victim == "server":
                served.process.wait()
                served = ServedProcess(tmp_path / "state", script)
    per_page = dict(Counter(writer.page_of.values()))
    wanted = dict(writer.counts), per_page

    def is_right() -> bool:
        hourly, found = tables(served)
        return (hourly, {page: n for page, n in found.items() if n}) == wanted

    with served:
        wait_for(is_right, f"{wanted} after {dict(killed)}, but {tables(served)}")
        with reader(served) as db:
            states = dict(db.execute("SELECT name, state FROM penstock.query").fetchall())
        assert set(states) == {"clicks", "hourly", "users", "per_page"}
        assert served.stop() == 0
    print(f"killed: {dict(killed)}")
