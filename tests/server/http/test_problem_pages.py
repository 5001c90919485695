"""Errors as a person sees them who opens an address in a browser, and as a program gets them."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from penstock.server.client_limits import Limits
from tests.server.http.conftest import Database, Door, serve

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"


def open_page(door: Door, path: str, role: str | None = "rita", **options: Any) -> httpx.Response:
    with door.client(role) as client:
        return client.get(path, headers={"Accept": BROWSER, **options})


@pytest.mark.parametrize(
    ("path", "role", "status", "texts"),
    [
        ("/v1/tables/totals", None, 401, ["401: a token is needed", 'Log in on the <a href="/">home page</a>']),
        ("/v1/tables/secrets", "rita", 403, ["403: permission denied for table secrets", "penstock token create"]),
        ("/v1/tables/totls", "rita", 404, ["404: unknown table totls", '<a href="/">home page</a> shows all']),
        ("/nowhere", None, 404, ["404: Not Found"]),
        ("/errors/K999", None, 404, ["404: unknown code K999"]),
        ("/console/nothing.js", None, 404, ["404: Not Found"]),
        ("/v1/tables/totals?prodct=x", "rita", 400, ["400: unknown column prodct", "hint: did you mean product?"]),
    ],
)
def test_a_browser_gets_a_page(door: Door, path: str, role: str | None, status: int, texts: list[str]) -> None:
    response = open_page(door, path, role)
    assert response.status_code == status
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert response.headers["Vary"] == "Accept"
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    assert [text for text in [*texts, '<a href="/">Home</a>', f"<title>{status} "] if text not in response.text] == []


def test_a_code_links_its_page(door: Door) -> None:
    door.database.execute("REVOKE rita FROM door")
    try:
        response = open_page(door, "/v1/tables/totals")
    finally:
        door.database.execute("GRANT rita TO door WITH INHERIT FALSE, SET TRUE, ADMIN TRUE")
    assert response.status_code == 403
    assert 'The code is <a href="/errors/V015">V015</a>.' in response.text


def test_a_fault_tells_nothing_of_the_server(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object) -> None:
        raise ValueError("hunter2")

    monkeypatch.setattr(type(door.door.services.catalog), "list_relations", fail)
    with door.client("rita") as client:
        page = client.get("/v1/relations", headers={"Accept": BROWSER})
    with door.client("rita") as client:  # the connection of before is closed behind a fault
        problem = client.get("/v1/relations")
    assert (page.status_code, problem.status_code) == (500, 500)
    assert "500: internal error" in page.text
    assert "The log of the server says what has failed." in page.text
    assert "hunter2" not in page.text + problem.text
    assert problem.json()["message"] == "internal error"


@pytest.mark.parametrize("accept", ["*/*", "application/json", "application/json, text/html", "text/csv", ""])
def test_a_program_gets_an_object(door: Door, accept: str) -> None:
    with door.client("rita") as client:
        response = client.get("/v1/queries/nowhere", headers={"Accept": accept})
    assert (response.status_code, response.headers["Content-Type"]) == (404, "application/problem+json")
    assert response.json()["message"] == "unknown query nowhere"


def test_names_are_text(door: Door) -> None:
    response = open_page(door, "/v1/tables/<script>alert(1)</script>")
    assert "<script>" not in response.text
    assert "unknown table &lt;script&gt;alert(1)&lt;/script&gt;" in response.text


def test_what_is_refused_before_its_route_has_a_page(database: Database, door: Door) -> None:
    assert "403: requests of other origins are refused" in open_page(door, "/", Origin="https://example.org").text
    with serve(database, Limits(address_connections=0)) as full:
        response = open_page(full, "/")
    assert (response.status_code, response.headers["Retry-After"]) == (429, "5")
    assert "Wait a few seconds" in response.text
