"""Changes of tables as server-sent events: in order, resumed, lost, ended."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg
import pytest

from penstock.server.http import change_feed, table_routes
from penstock.server.http.door_catalog import DoorCatalog
from tests.server.http.conftest import Database, Door, serve

Events = Iterator[tuple[str, str, Any]]
PATH = "/v1/tables/totals/changes"


def read_events(response: httpx.Response) -> Events:
    """Kind, identifier and data of each event."""
    fields: dict[str, str] = {}
    for line in response.iter_lines():
        name, _, value = line.partition(": ")
        if line:
            fields[name] = value
        elif "event" in fields:
            yield fields["event"], fields["id"], json.loads(fields["data"])
            fields = {}


@contextmanager
def follow(door: Door, last: str | None = None, role: str = "rita") -> Iterator[Events]:
    headers = {} if last is None else {"Last-Event-ID": last}
    with door.client(role) as client, client.stream("GET", PATH, headers=headers) as response:
        assert response.status_code == 200, response.read()
        yield read_events(response)


def write(door: Door, batch: int, sql: str) -> None:
    """One micro-batch."""
    with psycopg.connect(door.database.url) as connection:
        connection.execute(f"SET LOCAL penstock.batch = {batch}")
        connection.execute(sql)


def test_changes_come_in_order_with_their_batches(door: Door) -> None:
    with follow(door) as events:
        assert next(events)[0] == "ready"
        write(door, 1, "INSERT INTO totals VALUES ('lamp', 1.50, 1), ('desk', NULL, 0)")
        write(door, 2, "UPDATE totals SET n = 2 WHERE product = 'lamp'")
        write(door, 3, "DELETE FROM totals WHERE product = 'desk'")
        found = [next(events) for _ in range(4)]
    assert [(kind, data["batch"], data["op"], data["key"]["product"], data["row"]["n"]) for kind, _, data in found] == [
        ("change", 1, "insert", "lamp", 1),
        ("change", 1, "insert", "desk", 0),
        ("change", 2, "update", "lamp", 2),
        ("change", 3, "delete", "desk", 0),
    ]
    numbers = [int(id_.rpartition("-")[2]) for _, id_, _ in found]
    assert numbers == sorted(set(numbers))
    assert found[0][2]["at"].endswith("Z")


def test_a_client_that_comes_back_misses_nothing(door: Door) -> None:
    with follow(door) as events:
        _, start, _ = next(events)
        write(door, 1, "INSERT INTO totals VALUES ('a', 1, 1), ('b', 1, 1)")
        _, first, _ = next(events)
    write(door, 2, "INSERT INTO totals VALUES ('c', 1, 1)")
    for last, expected in ((start, "abc"), (first, "bc")):
        with follow(door, last) as events:
            assert [next(events)[2]["key"]["product"] for _ in expected] == list(expected)


def test_changes_that_are_no_longer_logged_are_a_gap(door: Door) -> None:
    with follow(door) as events:
        _, start, _ = next(events)
        write(door, 1, "INSERT INTO totals VALUES ('a', 1, 1), ('b', 1, 1)")
        _, first, _ = next(events)
        _, second, _ = next(events)
    door.database.execute("DELETE FROM penstock.change WHERE seq <= %s", int(first.rpartition("-")[2]))
    with follow(door, start) as events:
        kind, position, _ = next(events)
        assert kind == "gap"
        write(door, 2, "INSERT INTO totals VALUES ('c', 1, 1)")
        assert next(events)[2]["key"] == {"product": "c"}
    with follow(door, first) as events:
        assert next(events)[2]["key"] == {"product": "b"}
    door.database.execute("DELETE FROM penstock.change")
    with follow(door, second) as events:
        assert next(events)[0] == "gap"
    assert position.rpartition("-")[0] == second.rpartition("-")[0]


@pytest.mark.parametrize("last", ["12", "abcd-1", "-", "x-9999999999999999999999"])
def test_an_unknown_last_event_is_a_gap(door: Door, last: str) -> None:
    with follow(door, last) as events:
        assert next(events)[0] == "gap"


def test_changes_of_a_time_when_nobody_listened_are_a_gap(door: Door) -> None:
    with follow(door) as events:
        _, start, _ = next(events)
    door.database.execute("UPDATE penstock.listener SET until = now() - interval '1 second'")
    write(door, 1, "INSERT INTO totals VALUES ('a', 1, 1)")
    with follow(door) as events:
        next(events)
    with follow(door, start) as events:
        assert next(events)[0] == "gap"


def test_a_table_that_takes_the_place_of_another_is_a_gap(door: Door) -> None:
    """At once, for who follows and for who comes back. So says the transaction of the swap (`take_over`)."""
    with follow(door) as events:
        _, start, _ = next(events)
        write(door, 1, "INSERT INTO totals VALUES ('a', 1, 1)")
        assert next(events)[0] == "change"
        began = time.monotonic()
        with psycopg.connect(door.database.url) as connection:
            connection.execute("DELETE FROM penstock.listener WHERE relation = 'totals'")
            connection.execute("DELETE FROM penstock.change WHERE relation = 'totals'")
            connection.execute("SELECT pg_notify('penstock_replaced', 'totals')")
        assert next(events)[0] == "gap"
        assert time.monotonic() - began < change_feed._RENEW_SECONDS
        write(door, 2, "INSERT INTO totals VALUES ('b', 1, 1)")
        assert next(events)[2]["key"] == {"product": "b"}
    with follow(door, start) as events:
        assert next(events)[0] == "gap"


def test_another_server_does_not_know_the_last_event(door: Door, database: Database) -> None:
    with follow(door) as events:
        _, start, _ = next(events)
    with serve(database) as other, follow(other, start) as events:
        assert next(events)[0] == "gap"


def test_ready_waits_for_transactions_that_have_begun(door: Door) -> None:
    """Such a one has changed the table before its changes were logged, and a read before its end does not see it."""
    ready = threading.Event()

    def wait() -> None:
        with follow(door) as events:
            next(events)
            ready.set()

    with psycopg.connect(door.database.url) as connection:
        connection.execute("INSERT INTO totals VALUES ('early', 1, 1)")
        thread = threading.Thread(target=wait)
        thread.start()
        assert not ready.wait(0.3)
    assert ready.wait(5)
    thread.join()


def test_an_idle_relation_loses_nothing_when_the_log_is_trimmed(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_feed, "_RENEW_SECONDS", 0.05)
    catalog = door.door.services.catalog
    list_changes = catalog.list_changes
    reads: list[int] = []

    async def count_reads(relation: str, after: int, limit: int) -> list[dict[str, Any]]:
        rows = await list_changes(relation, after, limit)
        reads.append(after)
        return rows

    monkeypatch.setattr(DoorCatalog, "list_changes", staticmethod(count_reads))
    with follow(door) as events:
        _, start, _ = next(events)
        for _ in range(3):
            door.database.execute(
                "INSERT INTO penstock.change (relation, op) SELECT 'other', 'insert' FROM generate_series(1, 10)"
            )
            seen = len(reads)
            while (
                len(reads) < seen + 4
            ):  # one has taken note of the new numbers, and a later one has found them settled
                time.sleep(0.01)
            door.database.execute("DELETE FROM penstock.change WHERE seq < (SELECT max(seq) FROM penstock.change)")
        write(door, 1, "INSERT INTO totals VALUES ('a', 1, 1)")
        kind, id_, data = next(events)
    assert (kind, data["key"]) == ("change", {"product": "a"})
    assert int(id_.rpartition("-")[2]) == int(start.rpartition("-")[2]) + 31


def test_a_token_that_is_removed_ends_its_streams(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_feed, "_RENEW_SECONDS", 0.05)
    with follow(door) as events:
        next(events)
        door.database.execute("DELETE FROM penstock.token WHERE role = 'rita'")
        assert list(events) == []


def test_what_a_role_may_not_read_it_may_not_follow(door: Door) -> None:
    with door.client("rita") as client:
        assert client.get("/v1/tables/secrets/changes").status_code == 403
        assert client.get("/v1/tables/nowhere/changes").status_code == 404


def test_heartbeats_keep_a_stream_open(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_routes, "HEARTBEAT_SECONDS", 0.05)
    with door.client("rita") as client, client.stream("GET", PATH) as response:
        comments = (line for line in response.iter_lines() if line.startswith(": ping"))
        assert [next(comments) for _ in range(2)]


def test_a_lost_connection_is_made_anew(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_feed, "_RETRY_SECONDS", 0.05)
    with follow(door) as events:
        next(events)
        door.database.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ~ '^LISTEN'")
        write(door, 1, "INSERT INTO totals VALUES ('a', 1, 1)")
        assert next(events)[2]["key"] == {"product": "a"}


def test_streams_end_with_the_server(database: Database, door: Door) -> None:
    ended = threading.Event()
    with serve(database) as other, other.client("rita") as client:
        response = client.send(client.build_request("GET", PATH), stream=True)
        events = read_events(response)
        assert next(events)[0] == "ready"

        def read_on() -> None:
            assert list(events) == []
            ended.set()

        thread = threading.Thread(target=read_on)
        thread.start()
        assert other.door.services.changes.count_clients() == {"totals": 1}
        other.stop()
        assert ended.wait(3)
        thread.join()
