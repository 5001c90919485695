"""Statements that users keep on the server: who reads them, who changes them, and how many there may be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from penstock.server.client_limits import Limits
from tests.server.http.conftest import Door, serve


def save(door: Door, name: str, sql: str, role: str = "rita") -> tuple[int, Any]:
    with door.client(role) as client:
        response = client.put(f"/v1/saved/{name}", json={"sql": sql})
        return response.status_code, response.json()["message"] if response.content else None


def list_saved(door: Door, role: str = "rita") -> list[tuple[str, str, str]]:
    with door.client(role) as client:
        listed = client.get("/v1/saved").json()["saved"]
        assert all(set(each) == {"name", "owner", "changed"} for each in listed), "texts may be long"
        texts = [client.get(f"/v1/saved/{quote(each['name'], safe='')}").json()["text"] for each in listed]
        return [(each["name"], text, each["owner"]) for each, text in zip(listed, texts, strict=True)]


def forget(door: Door, name: str, role: str) -> int:
    with door.client(role) as client:
        return client.delete(f"/v1/saved/{name}").status_code


def test_all_read_and_who_has_kept_it_changes_it(door: Door) -> None:
    assert save(door, "per%20hour", "SELECT 1; -- ü") == (204, None)
    assert save(door, "dear", "SELECT 2", "sam") == (204, None)
    assert list_saved(door, "olga") == [("dear", "SELECT 2", "sam"), ("per hour", "SELECT 1; -- ü", "rita")]
    assert save(door, "dear", "SELECT 3") == (403, "dear is kept by sam")
    assert forget(door, "dear", "rita") == 403
    assert save(door, "dear", "SELECT 4", "sam") == (204, None)
    assert save(door, "per%20hour", "SELECT 5", "olga") == (204, None)
    assert list_saved(door) == [("dear", "SELECT 4", "sam"), ("per hour", "SELECT 5", "rita")]
    assert [forget(door, "dear", "sam"), forget(door, "dear", "sam"), forget(door, "per%20hour", "olga")] == [
        204,
        404,
        204,
    ]
    assert list_saved(door) == []
    with door.client("rita") as client:
        assert client.get("/v1/saved/dear").json()["message"] == "no statement is kept as dear"


def test_names_and_texts_have_limits(door: Door) -> None:
    assert save(door, "x" * 101, "SELECT 1")[0] == 400
    assert save(door, "a%0Ab", "SELECT 1")[0] == 400
    assert save(door, "%20a", "SELECT 1")[0] == 400
    assert save(door, "long", "x" * 70_000)[0] == 413
    assert save(door, "a%2Fb", "SELECT '<b>'") == (204, None)
    assert list_saved(door) == [("a/b", "SELECT '<b>'", "rita")]


@pytest.fixture
def limited(door: Door) -> Iterator[Door]:
    with serve(door.database, Limits(saved=2)) as opened:
        yield opened


def test_a_role_keeps_only_so_many(limited: Door) -> None:
    assert [save(limited, name, "SELECT 1")[0] for name in ("a", "b")] == [204, 204]
    assert save(limited, "c", "SELECT 1") == (429, "rita keeps 2 statements already")
    assert save(limited, "a", "SELECT 2") == (204, None)
    assert save(limited, "c", "SELECT 1", "sam") == (204, None)


def test_no_role_writes_them_over_postgres(door: Door) -> None:
    save(door, "a", "SELECT 1")
    rights = "SELECT has_table_privilege(%s, 'penstock.saved', %s)"
    for role in ("rita", "sam", "olga"):
        assert door.database.execute(rights, role, "SELECT") == [(True,)]
        assert door.database.execute(rights, role, "INSERT, UPDATE, DELETE") == [(False,)]
