"""What one client may take of the door, and whom it leaves the rest."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress

import httpx

from penstock.server.client_limits import Limits
from penstock.server.http.shares import RESERVE
from tests.server.http.conftest import TOKENS, Door, serve


@contextmanager
def follow(door: Door, role: str, count: int) -> Iterator[list[int]]:
    """Streams of changes; the status of each."""
    with ExitStack() as stack:
        client = stack.enter_context(door.client(role, limits=httpx.Limits(max_connections=None)))
        path = "/v1/tables/totals/changes"
        yield [stack.enter_context(client.stream("GET", path)).status_code for _ in range(count)]


def test_a_role_has_its_share_of_requests(door: Door) -> None:
    with (
        serve(door.database, Limits(connections=20, role_connections=5, address_connections=15)) as small,
        follow(small, "rita", 8) as statuses,
    ):
        assert statuses == [200] * 5 + [429] * 3
        with small.client("sam") as other:
            assert other.get("/v1/queries").status_code == 200
            assert other.get("/healthz").status_code == 200
        with small.client("rita") as same:
            response = same.get("/v1/queries")
            assert (response.status_code, response.json()["message"]) == (429, "5 requests of rita are being answered")


def test_an_address_has_its_share_and_health_is_told(door: Door) -> None:
    limits = Limits(connections=20, role_connections=10, address_connections=6)
    with serve(door.database, limits) as small, follow(small, "rita", 4), follow(small, "sam", 4) as statuses:
        assert statuses == [200, 200, 429, 429]
        with small.client() as other:
            assert other.get("/v1/queries").status_code == 429
            assert other.get("/healthz").status_code == 200
            assert other.get("/readyz").status_code == 200


def test_a_full_door_tells_its_health(door: Door) -> None:
    limits = Limits(connections=6, role_connections=10, address_connections=10)
    with serve(door.database, limits) as small, follow(small, "rita", 8) as statuses:
        assert statuses == [200] * 6 + [503] * 2
        with small.client() as other:
            assert other.get("/v1/queries").status_code == 503
            assert other.get("/healthz").status_code == 200


def test_what_was_taken_is_given_back(door: Door) -> None:
    limits = Limits(connections=20, role_connections=3, address_connections=15)
    with serve(door.database, limits) as small:
        for _ in range(5):
            with follow(small, "rita", 3) as statuses:
                assert statuses == [200] * 3
            ends = time.monotonic() + 10
            with small.client("rita") as client:
                while client.get("/v1/queries").status_code != 200:
                    assert time.monotonic() < ends
        with small.client("rita") as client:
            for _ in range(20):
                assert client.get("/v1/queries/none").status_code == 404
                assert client.get("/v1/queries").status_code == 200


def test_idle_connections_make_room(door: Door) -> None:
    with serve(door.database, Limits(connections=5)) as small, ExitStack() as stack:
        idle = [socket.create_connection(("127.0.0.1", small.door.port)) for _ in range(RESERVE + 50)]
        for each in idle:
            stack.callback(each.close)
        with small.client() as client:
            assert client.get("/healthz").status_code == 200
            assert client.get("/v1/queries").status_code == 200
        idle[0].settimeout(5)
        with suppress(ConnectionResetError):
            assert idle[0].recv(10) == b"", "the oldest is closed"


def test_slow_reads_of_a_role_leave_others_their_turns(door: Door) -> None:
    """Logins, health and other roles do not wait for them."""
    door.database.execute("CREATE OR REPLACE VIEW public.slow AS SELECT pg_sleep(5)::text AS x")
    door.database.execute("GRANT SELECT ON public.slow TO penstock_reader")
    with ThreadPoolExecutor(30) as pool, serve(door.database, database_connections=6) as small:

        def read() -> int:
            with small.client("rita", timeout=60) as client:
                return client.get("/v1/tables/slow").status_code

        sent = [pool.submit(read) for _ in range(30)]
        time.sleep(1)
        began = time.monotonic()
        with small.client("sam") as other:
            assert other.get("/v1/tables/totals").status_code == 200
            assert other.get("/readyz").status_code == 200
        assert time.monotonic() - began < 2
        assert {each.result() for each in sent} <= {200, 503}
    door.database.execute("DROP VIEW public.slow")


def test_many_wrong_tokens_lock_nobody_out(door: Door) -> None:
    stopping = threading.Event()

    def guess(first: int) -> None:
        with door.client(None) as client:
            while not stopping.is_set():
                token = f"pst_{first}_{time.monotonic_ns()}"
                client.get("/v1/queries", headers={"Authorization": f"Bearer {token}"})

    with ThreadPoolExecutor(4) as pool:
        for number in range(4):
            pool.submit(guess, number)
        try:
            for role in [*TOKENS] * 10:
                with door.client(role) as client:
                    assert client.get("/v1/queries").status_code == 200
        finally:
            stopping.set()
