"""A server whose processes are killed at random moments: after it all tables equal the batch answer."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.server.running.scripts import HOURS, declare_clicks
from tests.server.served import ServedProcess, wait_for

pytestmark = [pytest.mark.spark, pytest.mark.campaign]
KILLS = int(os.environ.get("PENSTOCK_SERVER_KILLS", "20"))
SEED = 7
PAGES = "abcdefgh"
USERS = (
    "CREATE TABLE users (id BIGINT PRIMARY KEY, page STRING) WITH (connector = 'files', path = '{}', format = 'json')"
)
TOTAL = "CREATE TABLE total AS SELECT COUNT(*) AS n FROM users"
PER_PAGE = "CREATE TABLE per_page AS SELECT page, COUNT(*) AS n FROM users GROUP BY page"


class Writer:
    """Writes files of clicks and of users until it is stopped, and knows what the tables come to."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.clicks, self.users = folder / "clicks", folder / "users"
        for each in (self.clicks, self.users):
            each.mkdir()
        self.counts: Counter[str] = Counter()
        self.page_of: dict[int, str | None] = {}
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
            users = [(self._random.randrange(30), self._random.choice([*PAGES, None])) for _ in range(5)]
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
        with suppress(psutil.NoSuchProcess):
            command = each.cmdline()
            if "penstock.server.running" in command:
                found["engine"] = each
            elif command and command[0].endswith("java"):
                found["jvm"] = each
    with suppress(OSError, ValueError, psutil.NoSuchProcess):
        pid = (served.state / "postgres" / "postmaster.pid").read_text(encoding="utf-8").split("\n")[0]
        found["postgres"] = psutil.Process(int(pid))
    return found


def kill_one(served: ServedProcess, chance: random.Random) -> str:
    """Kills one of the processes, once it is there; which one."""
    victim = chance.choice(("server", "engine", "jvm", "postgres"))
    while True:
        wait_for(lambda: victim in find_processes(served))
        with suppress(psutil.NoSuchProcess, KeyError):
            find_processes(served)[victim].send_signal(signal.SIGKILL)
            return victim


Tables = tuple[dict[str, int], dict[str | None, int], list[tuple[int]]]


def read_tables(served: ServedProcess) -> Tables | None:
    """All tables; None while they cannot be read."""
    try:
        with served.connect() as db:
            hourly: dict[str, int] = dict(db.execute("SELECT page, n FROM hourly").fetchall())
            per_page: dict[str | None, int] = dict(db.execute("SELECT page, n FROM per_page").fetchall())
            return hourly, per_page, db.execute("SELECT n FROM total").fetchall()
    except psycopg.Error:
        return None


def test_killed_servers_lose_nothing_and_repeat_nothing(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    chance = random.Random(SEED)
    killed: Counter[str] = Counter()
    script = tmp_path / "script.sql"
    with ExitStack() as stack:
        with Writer(tmp_path, SEED) as writer:
            parts = [declare_clicks(writer.clicks), HOURS, USERS.format(writer.users), PER_PAGE, TOTAL]
            script.write_text(";\n".join(parts) + ";\n", encoding="utf-8")
            served = ServedProcess(tmp_path / "state", script)
            stack.callback(lambda: served.__exit__())
            served.wait_until_ready()
            while sum(killed.values()) < KILLS:
                time.sleep(chance.uniform(3, 20))
                assert served.process.poll() is None, served.text
                victim = kill_one(served, chance)
                killed[victim] += 1
                print(f"{time.strftime('%H:%M:%S')} {victim}", flush=True)
                if victim == "server":
                    served.process.wait()
                    served = ServedProcess(tmp_path / "state", script)
        wanted = dict(writer.counts), dict(Counter(writer.page_of.values())), [(len(writer.page_of),)]
        began = time.monotonic()
        try:
            wait_for(lambda: read_tables(served) == wanted)
        except AssertionError:
            raise AssertionError(f"{read_tables(served)} instead of {wanted} after {dict(killed)}") from None
        seconds = time.monotonic() - began
        with served.connect() as db:
            states: dict[str, str] = dict(db.execute("SELECT name, state FROM penstock.query").fetchall())
        assert states == dict.fromkeys(("clicks", "hourly", "users", "per_page", "total"), "RUNNING")
        assert served.stop() == 0
    print(f"killed: {dict(killed)}; equal {seconds:.0f} s after the last input")
