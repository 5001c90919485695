"""Clients that break the protocols, or take all that they can get. Meanwhile others are served."""

from __future__ import annotations

import json
import os
import random
import socket
import struct
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress

import httpx
import psutil
import psycopg
import pytest

from tests.server.hostile.doors import connect, log_in
from tests.server.hostile.server import NarrowServer, list_tracebacks
from tests.server.hostile.statements import SAM
from tests.server.postgres.wire import message, query

pytestmark = [pytest.mark.spark, pytest.mark.campaign]
PATIENCE = 15
"""Seconds in which others have to get their answers while the attack goes on, on a machine of two cores."""
GARBAGE = random.Random(5).randbytes(10_000)


class Bystander:
    """A user who reads and sends statements. `longest`: the most seconds that it has waited, for each way."""

    def __init__(self, server: NarrowServer) -> None:
        self.longest: defaultdict[str, float] = defaultdict(float)
        self.faults: list[str] = []
        self._server = server
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._repeat, args=each)
            for each in (("read", self._read), ("statement", self._send), ("HTTP", self._ask), ("login", self._log_in))
        ]

    def __enter__(self) -> Bystander:
        self._old = connect("olga", self._server.port)
        self._client = httpx.Client(base_url=self._server.url, headers={"Authorization": "Bearer pst_olga"}, timeout=60)
        for each in self._threads:
            each.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for each in self._threads:
            each.join()
        self._client.close()
        self._old.close()

    def _repeat(self, what: str, action: Callable[[], object]) -> None:
        while not self._stopping.wait(0.1):
            begin = time.monotonic()
            try:
                action()
            except Exception as error:
                self.faults.append(f"{what}: {error!r}")
            self.longest[what] = max(self.longest[what], time.monotonic() - begin)

    def _read(self) -> None:
        assert self._old.execute("SELECT n FROM hourly").fetchall() == [(3,)]

    def _send(self) -> None:
        with connect("sue", self._server.port) as db:
            assert len(db.execute("SHOW QUERIES").fetchall()) == 5

    def _ask(self) -> None:
        assert self._client.get("/v1/tables/hourly").json()["rows"][0]["n"] == 3

    def _log_in(self) -> None:
        with connect("rita", self._server.port) as db:
            db.execute("SELECT 1")
        assert httpx.get(f"{self._server.url}/healthz", timeout=60).status_code == 200


def open_plug(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), 30)


def http_port(server: NarrowServer) -> int:
    return int(server.url.rpartition(":")[2])


@contextmanager
def logged_in(server: NarrowServer) -> Iterator[socket.socket]:
    """The bare connection of a session that has begun."""
    with connect(SAM, server.port) as db:
        plug = socket.socket(fileno=os.dup(db.fileno()))
        plug.settimeout(30)
        try:
            yield plug
        finally:
            plug.close()


def send_halves(server: NarrowServer) -> None:
    startup = struct.pack(">ii", 41, 3 << 16) + b"user\0sam\0database\0penstock\0\0"
    request = b"POST /v1/statements HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
    for whole, port in ((startup, server.port), (request, http_port(server))):
        for size in range(len(whole)):
            with open_plug(port) as plug:
                plug.sendall(whole[:size])


def send_wrong_lengths(server: NarrowServer) -> None:
    for length in (0, 1, 7, 8, 9, 10_001, 1 << 30, (1 << 31) - 1, (1 << 32) - 1):
        for code in (3 << 16, 80877103, 80877104, 80877102, 0):
            with open_plug(server.port) as plug, suppress(ConnectionError, TimeoutError):
                plug.settimeout(0.2)
                plug.sendall(struct.pack(">II", length, code) + b"x" * 20)
                plug.recv(100)
    for kind in b"QPBDECSHFdcfpX\0\xffz":
        for length in (0, 3, 4, 5, 10_001, 1 << 30, (1 << 32) - 1):
            with logged_in(server) as plug, suppress(ConnectionError, TimeoutError):
                plug.settimeout(0.2)
                plug.sendall(bytes([kind]) + struct.pack(">I", length) + b"SHOW QUERIES\0")
                plug.recv(100)


def send_other_protocols(server: NarrowServer) -> None:
    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + GARBAGE[:500]
    for data in (GARBAGE, hello, b"GET / HTTP/1.1\r\n\r\n", b"\0" * 5000, b"\r\n" * 5000, query("SELECT 1")):
        for port in (server.port, http_port(server)):
            with open_plug(port) as plug, suppress(ConnectionError, TimeoutError):
                plug.settimeout(1)
                plug.sendall(data)
                plug.recv(1000)


def send_odd_texts(server: NarrowServer) -> None:
    for text in (b"SHOW QUERIES \xff", b"DROP TABLE \xed\xa0\x80", b"SHOW\0 QUERIES", b"\0", b"\xc3", GARBAGE):
        for data in (message("Q", text, b"\0"), message("P", b"\0", text, b"\0\0\0") + message("S")):
            with logged_in(server) as plug:
                plug.sendall(data)
                with suppress(ConnectionError):
                    assert plug.recv(1) in b"E"
    client = httpx.Client(base_url=server.url, headers={"Authorization": "Bearer pst_sam"}, timeout=60)
    bodies = [
        b'{"sql": "SHOW QUERIES \xff"}',
        b'{"sql": "SHOW \\u0000 QUERIES"}',
        b'{"sql": "SHOW \\ud800 QUERIES"}',
        b'{"sql": 1e999}',
        b'{"sql": ' + b"9" * 100_000 + b"}",
        b'{"sql": ["SHOW QUERIES"]}',
        b'{"sql": "SHOW QUERIES", "author": "penstock"}',
        b"[" * 500_000 + b"]" * 500_000,
        b'{"sql":' * 100_000 + b"1" + b"}" * 100_000,
        b"",
        b"null",
        GARBAGE,
    ]
    with client:
        for path in ("/v1/statements", "/v1/check", "/v1/session"):
            for body in bodies:
                response = client.post(path, content=body, headers={"Content-Type": "application/json"})
                assert 400 <= response.status_code < 500, (path, body[:50], response.text)


def stop_reading(server: NarrowServer) -> None:
    process = psutil.Process(server.served.process.pid)
    before = process.memory_info().rss
    with ExitStack() as stack:
        for _ in range(5):
            plug = stack.enter_context(logged_in(server))
            plug.sendall(query("SELECT repeat('x', 10000) FROM generate_series(1, 100000)"))
        for _ in range(5):
            plug = stack.enter_context(open_plug(http_port(server)))
            head = b"GET /v1/tables/hourly HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer pst_sam\r\n\r\n"
            with suppress(TimeoutError):
                plug.settimeout(5)
                plug.sendall(head * 20_000)
        time.sleep(3)
        assert process.memory_info().rss - before < 200_000_000


def hold_connections(server: NarrowServer) -> None:
    """As many as there may be but for a few, idle before and behind the login."""
    with ExitStack() as stack:
        for _ in range(250):
            stack.enter_context(connect(SAM, server.port))
        for _ in range(700):
            stack.enter_context(open_plug(server.port))
        for _ in range(900):
            stack.enter_context(open_plug(http_port(server)))
        time.sleep(3)


def send_slowly(server: NarrowServer) -> None:
    head = b"POST /v1/statements HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer pst_sam\r\n"
    with ExitStack() as stack:
        plugs = [stack.enter_context(open_plug(http_port(server))) for _ in range(200)]
        plugs += [stack.enter_context(open_plug(server.port)) for _ in range(100)]
        for plug in plugs[:100]:
            plug.sendall(head + b"Content-Length: 1000\r\n\r\n{")
        ends = time.monotonic() + 13
        while time.monotonic() < ends:
            for plug in plugs:
                with suppress(ConnectionError):
                    plug.sendall(b"\0" if plug in plugs[200:] else b"x")
            time.sleep(0.5)
        for plug in plugs:
            plug.settimeout(5)
            with suppress(ConnectionError):
                while plug.recv(10_000):
                    pass  # what is sent before the server closes the connection


def send_large_heads(server: NarrowServer) -> None:
    begin = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
    for head in (b"X: " + b"x" * 5_000_000, b"X: x\r\n" * 500_000, b"x" * 5_000_000, b"Cookie: " + b"a=b; " * 500_000):
        with open_plug(http_port(server)) as plug, suppress(ConnectionError):
            plug.sendall(begin + head + b"\r\n\r\n")
            assert not plug.recv(100).startswith(b"HTTP/1.1 200")
    with httpx.Client(base_url=server.url, timeout=60) as client:
        for path in ("/" + "x" * 60_000, "/v1/tables/" + "%00" * 100, "/v1/tables/..%2f..%2fetc%2fpasswd"):
            assert client.get(path, headers={"Authorization": "Bearer pst_sam"}).status_code >= 400
        for path in ("/console/../../../../etc/passwd", "/console/%2e%2e/%2e%2e/door.py", "/errors/..%2f..%2fdoor"):
            assert client.get(path).status_code == 404


def send_long_bodies(server: NarrowServer) -> None:
    head = b"POST /v1/statements HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer pst_sam\r\n"
    chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    for more, part in (
        (b"Content-Length: 99999999999\r\n\r\n", b"x" * 65_536),
        (b"Transfer-Encoding: chunked\r\n\r\n", chunk),
    ):
        with open_plug(http_port(server)) as plug, suppress(ConnectionError):
            plug.sendall(head + more)
            for _ in range(1000):
                plug.sendall(part)


def send_without_secret(server: NarrowServer) -> None:
    """What a page of another site could make a browser send."""
    with httpx.Client(base_url=server.url, timeout=60) as client:
        secret = log_in(client, SAM)
        body = {"sql": "CREATE STREAM h AS SELECT STREAM id FROM clicks"}
        origin = {"Origin": "http://evil.example"}
        for headers in (
            {},
            {"X-CSRF-Token": "x"},
            {"X-CSRF-Token": secret, **origin},
            {"X-CSRF-Token": secret, "Host": "evil.example"},
        ):
            assert client.post("/v1/statements", json=body, headers=headers).status_code in (400, 403)


def send_notices(server: NarrowServer) -> None:
    with connect("rita", server.port) as db:
        for channel in ("penstock_answer", "penstock_catalog", "penstock_statement", "penstock_change"):
            for payload in ("", "x", "-1", "1", "9" * 5000, "hourly"):
                for _ in range(200):
                    db.execute("SELECT pg_notify(%s, %s)", [channel, payload])


def send_many(server: NarrowServer) -> None:
    def send(_: int) -> None:
        with connect(SAM, server.port) as db:
            for _ in range(20):
                db.execute("SHOW QUERIES")

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(send, range(20)))


def send_long_texts(server: NarrowServer) -> None:
    texts = [
        "CREATE TABLE h AS " + ")) AS (" * 140_000,
        "CREATE TABLE h AS SELECT " + "a, " * 300_000 + "a FROM clicks",
        "CREATE STREAM h AS SELECT STREAM " + "id, " * 240_000 + "id FROM clicks",
        "SELECT " + "penstock.run(" * 75_000,
    ]

    def send(text: str) -> None:
        with connect(SAM, server.port) as db, suppress(psycopg.Error):
            db.execute(text)
        headers = {"Authorization": "Bearer pst_sam"}
        for path in ("/v1/statements", "/v1/check"):
            assert httpx.post(server.url + path, json={"sql": text}, headers=headers, timeout=60).status_code >= 400

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(send, texts))


def ask_much_and_leave(server: NarrowServer) -> None:
    calls = ", ".join(["penstock.run('SHOW QUERIES')"] * 100)
    for _ in range(10):
        with logged_in(server) as plug:
            plug.sendall(query(f"SELECT {calls}") * 50)


ATTACKS = (
    *(send_halves, send_wrong_lengths, send_other_protocols, send_odd_texts, stop_reading, hold_connections),
    *(send_slowly, send_large_heads, send_long_bodies, send_without_secret, send_notices, send_many),
    *(send_long_texts, ask_much_and_leave),
)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_others_are_served_meanwhile(narrow: NarrowServer, attack: Callable[[NarrowServer], None]) -> None:
    before, processes = narrow.list_state(), narrow.find_processes()
    with Bystander(narrow) as other:
        attack(narrow)
        time.sleep(1)
    longest = {name: round(seconds, 2) for name, seconds in sorted(other.longest.items())}
    print(f"{attack.__name__}: {json.dumps(longest)}")
    assert other.faults == []
    assert max(longest.values()) < PATIENCE
    assert narrow.list_state() == before
    assert narrow.find_processes() == processes
    assert list_tracebacks(narrow) == []
