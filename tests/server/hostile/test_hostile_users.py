"""A reader and a submitter who take all that they can get, for minutes. Others are served, and no query stops."""

from __future__ import annotations

import itertools
import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from tests.server.hostile.doors import connect
from tests.server.hostile.server import NarrowServer, list_tracebacks, login, serve_narrowly
from tests.server.served import wait_for

pytestmark = [pytest.mark.spark, pytest.mark.campaign]
SECONDS = float(os.environ.get("PENSTOCK_HOSTILE_SECONDS", "60"))
PATIENCE = 2.0
STOP_SECONDS = 10.0
LARGE = "SELECT STREAM id FROM clicks"
for _ in range(2000):
    LARGE += " UNION ALL SELECT STREAM id FROM clicks"


def nest_parts(count: int) -> str:
    """Parts that each read the one before twice: 2^n steps for who walks them as a tree."""
    parts = ["c0 AS (SELECT STREAM id, page, ts FROM clicks)"]
    parts += [
        f"c{n} AS (SELECT STREAM * FROM c{n - 1} UNION ALL SELECT STREAM * FROM c{n - 1})" for n in range(1, count)
    ]
    return f"WITH {', '.join(parts)} SELECT STREAM * FROM c{count - 1}"


SLOW = (
    nest_parts(30),
    f"CREATE TABLE slow AS {nest_parts(25).replace('STREAM ', '')}",
    LARGE,
    "SELECT STREAM " + ", ".join(f"id + {n} AS c{n}" for n in range(3000)) + " FROM clicks",
    "SELECT STREAM " + "(" * 4000 + "id" + ")" * 4000 + " AS x FROM clicks",
)


class Attack:
    """Actions that are repeated, each in a thread of its own. What they raise is what they get."""

    def __init__(self, actions: dict[str, Callable[[], object]]) -> None:
        self.stopping = threading.Event()
        self.done: Counter[str] = Counter()
        self._threads = [threading.Thread(target=self._repeat, args=each, daemon=True) for each in actions.items()]

    def __enter__(self) -> Attack:
        for each in self._threads:
            each.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        for each in self._threads:
            each.join(40)

    def _repeat(self, name: str, action: Callable[[], object]) -> None:
        while not self.stopping.is_set():
            with suppress(psycopg.Error, httpx.HTTPError, OSError):
                action()
            self.done[name] += 1
            time.sleep(0.02)


class Others:
    """Users who read and send statements. `seconds`: how long each of them has waited, for each way."""

    def __init__(self, server: NarrowServer) -> None:
        self.seconds: dict[str, list[float]] = {}
        self.faults: list[str] = []
        self._server, self._stopping = server, threading.Event()
        ways: dict[str, Callable[[], object]] = {
            "read": self._read,
            "statement": self._send,
            "CREATE or DROP VIEW": self._make,
            "HTTP read": self._ask,
            "check": self._check,
            "health": self._look,
            "login": self._log_in,
        }
        self._threads = [threading.Thread(target=self._repeat, args=each) for each in ways.items()]

    def __enter__(self) -> Others:
        self._old = connect("olga", self._server.port)
        self._maker = connect("olga", self._server.port)
        self._made = itertools.cycle(["CREATE VIEW few AS SELECT STREAM id FROM clicks WHERE id > 1", "DROP VIEW few"])
        self._client = self._open("olga")
        for each in self._threads:
            each.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for each in self._threads:
            each.join()
        self._client.close()

    def _open(self, role: str) -> httpx.Client:
        headers = {"Authorization": f"Bearer pst_{role}"}
        return httpx.Client(base_url=self._server.url, headers=headers, timeout=60)

    def _repeat(self, what: str, action: Callable[[], object]) -> None:
        waited = self.seconds.setdefault(what, [])
        while not self._stopping.wait(0.2):
            begin = time.monotonic()
            try:
                action()
            except Exception as error:
                self.faults.append(f"{what}: {error!r}")
            waited.append(time.monotonic() - begin)

    def _read(self) -> None:
        assert self._old.execute("SELECT n FROM hourly").fetchall() != []

    def _send(self) -> None:
        with connect("sue", self._server.port) as db:
            assert db.execute("SHOW STREAMS").fetchall()

    def _make(self) -> None:
        self._maker.execute(next(self._made))

    def _ask(self) -> None:
        assert self._client.get("/v1/tables/hourly").json()["rows"]

    def _check(self) -> None:
        body = {"sql": "SELECT STREAM id FROM clicks"}
        assert self._client.post("/v1/check", json=body).json() == {"findings": []}

    def _look(self) -> None:
        assert httpx.get(f"{self._server.url}/healthz", timeout=60).status_code == 200
        assert httpx.get(f"{self._server.url}/readyz", timeout=60).status_code == 200

    def _log_in(self) -> None:
        with connect("olga", self._server.port) as db:
            db.execute("SELECT 1")

    def describe(self) -> dict[str, tuple[int, float, float]]:
        """Of each way: how often, the median and the longest wait, in seconds."""
        return {
            what: (len(waited), round(sorted(waited)[len(waited) // 2], 3), round(max(waited), 3))
            for what, waited in self.seconds.items()
        }


def list_reader_attacks(server: NarrowServer, token: str = "pst_rita") -> dict[str, Callable[[], object]]:
    """What a reader may try."""
    headers = {"Authorization": f"Bearer {token}"}
    numbers = itertools.count()

    def run(text: str) -> Callable[[], object]:
        def send() -> None:
            with connect("rita", server.port) as db:
                for each in text.split(";"):
                    with suppress(psycopg.errors.InsufficientPrivilege):
                        db.execute(each)
                db.execute("SELECT pg_sleep(1)")

        return send

    def follow() -> None:
        limits = httpx.Limits(max_connections=None)
        with httpx.Client(base_url=server.url, headers=headers, timeout=20, limits=limits) as client:
            opened = [client.stream("GET", "/v1/tables/hourly/changes") for _ in range(400)]
            for each in opened:
                each.__enter__()
            time.sleep(5)
            for each in opened:
                each.__exit__(None, None, None)

    def check() -> None:
        for text in SLOW:
            httpx.post(f"{server.url}/v1/check", json={"sql": text}, headers=headers, timeout=30)

    def guess() -> None:
        wrong = {"Authorization": f"Bearer pst_{next(numbers)}"}
        httpx.get(f"{server.url}/v1/queries", headers=wrong, timeout=20)

    def guess_password() -> None:
        connect("rita", server.port, f"wrong {next(numbers)}")

    def fill() -> None:
        with connect("rita", server.port) as db:
            db.execute("SET work_mem = '10GB'")
            db.execute(
                "SELECT count(*) FROM (SELECT array_agg(g) FROM generate_series(1, 90000000) AS g GROUP BY g % 99)"
            )

    return {
        "advisory locks": run(
            "SELECT pg_advisory_lock(hashtext('hourly')); SELECT pg_advisory_lock(hashtext('of_sue'))"
        ),
        "many advisory locks": run("SELECT count(pg_try_advisory_lock(n)) FROM generate_series(1, 1000000) AS n"),
        "idle transactions": run("BEGIN; LOCK TABLE hourly, of_sue IN ACCESS SHARE MODE; LISTEN penstock_change"),
        "cursors": run("BEGIN; DECLARE c CURSOR FOR SELECT * FROM hourly; FETCH c; SELECT pg_sleep(5)"),
        "large objects": run(
            "SELECT count(lo_from_bytea(0, repeat('x', 1000000)::bytea)) FROM generate_series(1, 1000)"
        ),
        "temporary tables": run("CREATE TEMP TABLE x AS SELECT repeat('x', 1000) FROM generate_series(1, 10000000)"),
        "sorts": run(
            "SET statement_timeout = 0; SELECT g FROM generate_series(1, 20000000) AS g ORDER BY md5(g::text)"
        ),
        "processors": run("SET statement_timeout = 0; SELECT count(*) FROM generate_series(1, 300000000)"),
        "notices": run("SELECT count(pg_notify('x' || n, repeat('x', 7000))) FROM generate_series(1, 10000) AS n"),
        "memory": fill,
        "changes": follow,
        "checks": check,
        "more checks": check,
        "wrong tokens": guess,
        "wrong passwords": guess_password,
    }


def list_submitter_attacks(server: NarrowServer) -> dict[str, Callable[[], object]]:
    """What a submitter may try besides."""
    headers = {"Authorization": "Bearer pst_sam"}
    numbers = itertools.count()

    def send(text: str) -> None:
        with connect("sam", server.port) as db:
            db.execute(text)

    def explain() -> None:
        for text in SLOW:
            with suppress(psycopg.Error):
                send(f"EXPLAIN {text}")

    def create() -> None:
        for text in SLOW:
            body = {"sql": f"CREATE STREAM s{next(numbers)} AS {text}" if text.startswith("SELECT") else text}
            with suppress(httpx.HTTPError):
                httpx.post(f"{server.url}/v1/statements", json=body, headers=headers, timeout=40)

    def drop_others() -> None:
        send("DROP TABLE hourly")

    def flood() -> None:
        with connect("sam", server.port) as db:
            for _ in range(50):
                db.execute("SHOW QUERIES")

    def odd_names() -> None:
        name = f"a%s {next(numbers)}"
        send(f"CREATE TABLE `{name}` AS SELECT page AS `p%d`, COUNT(*) AS `n%` FROM clicks GROUP BY page")
        httpx.get(
            f"{server.url}/v1/tables/{name.replace('%', '%25')}", params={"p%d": "a"}, headers=headers, timeout=20
        )
        send(f"DROP TABLE `{name}`")

    return {
        "EXPLAIN": explain,
        "more EXPLAIN": explain,
        "CREATE": create,
        "DROP of others": drop_others,
        "many statements": flood,
        "odd names": odd_names,
    }


@contextmanager
def feed(server: NarrowServer) -> Iterator[list[int]]:
    """Rows that come in meanwhile; how many there are in all."""
    stopping, written = threading.Event(), [3]

    def write() -> None:
        for number in itertools.count():
            if stopping.wait(2):
                return
            rows = [{"id": number, "page": "a", "ts": "2026-01-01T10:00:01Z"}] * 5
            place = server.root / "open" / "in" / f"more-{number}.json"
            made = place.with_suffix(".new")
            made.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            made.rename(place)
            written[0] += 5

    thread = threading.Thread(target=write)
    thread.start()
    yield written
    stopping.set()
    thread.join()


def disk_bytes(folder: Path) -> int:
    total = 0
    for each in folder.rglob("*"):
        with suppress(OSError):
            total += each.stat().st_size
    return total


def test_others_are_served_for_minutes(tmp_path: Path) -> None:
    with serve_narrowly(tmp_path) as server:
        before, processes = queries(server), server.find_processes()
        size = disk_bytes(server.served.state)
        with feed(server) as written, Others(server) as others:
            attacks = list_reader_attacks(server) | list_submitter_attacks(server)
            with Attack(attacks) as attack:
                time.sleep(SECONDS)
                grown = disk_bytes(server.served.state) - size
        found = others.describe()
        print(json.dumps({"seconds": SECONDS, "waits": found, "attacks": attack.done, "disk": grown}))
        with psycopg.connect(**login(server, "olga")) as db:  # all rows have arrived
            wait_for(lambda: db.execute("SELECT sum(n) FROM of_sue").fetchall() == [(written[0],)])
            wait_for(lambda: db.execute("SELECT sum(n) FROM hourly").fetchall() == [(written[0],)])
        assert others.faults == []
        assert queries(server).items() >= before.items(), "no query stops, and none is started again"
        assert server.find_processes() >= processes
        assert grown < 2 << 30
        assert list_tracebacks(server) == []
        with Attack(attacks):
            time.sleep(5)
            began = time.monotonic()
            server.served.stop()
            stopped = time.monotonic() - began
        print(json.dumps({"stopped": round(stopped, 2)}))
        assert stopped < STOP_SECONDS
        assert {what: worst for what, (_, _, worst) in found.items() if worst > PATIENCE} == {}


def queries(server: NarrowServer) -> dict[str, Any]:
    with server.served.connect() as db:
        return {
            name: (state, restarts)
            for name, state, restarts in db.execute("SELECT name, state, restarts FROM penstock.query").fetchall()
        }
