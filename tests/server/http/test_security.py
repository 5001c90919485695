"""Who may do what over HTTP, and what keeps other sites out."""

from __future__ import annotations

import socket
import time
from contextlib import suppress

import pytest

from penstock.server.client_limits import Limits
from penstock.server.http.problems import Problem
from penstock.server.http.security import (
    SESSION_SECONDS,
    ConsoleSessions,
    FailedLogins,
    digest_token,
    make_token,
)
from tests.server.http.conftest import TOKENS, Database, Door, serve

OPEN = ["/", "/docs", "/healthz", "/readyz", "/errors/K012", "/console/console.css", "/console/main.js"]


def test_nothing_is_readable_without_a_token(door: Door) -> None:
    """Every route there is, asked without a token."""
    paths = {
        (method, path.replace("{name}", "totals").replace("{code}", "K012"))
        for path, methods in door.door.app.openapi()["paths"].items()
        for method in methods
    }
    assert len(paths) > 10
    paths |= {("get", "/openapi.json")} | {("get", path) for path in OPEN}
    with door.client(None) as client:
        for method, path in paths:
            body = {"token": "wrong"} if (method, path) == ("post", "/v1/session") else None
            response = client.request(method, path, json=body)
            expected = {200} if path in OPEN else {401}
            assert response.status_code in expected, (method, path)
            if response.status_code == 401:
                assert response.headers["WWW-Authenticate"].startswith("Bearer")
                assert response.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("header", ["Bearer", "Basic cGVuOnN0b2Nr", "Bearer pst_nobody", "pst_sam"])
def test_other_tokens_are_refused(door: Door, header: str) -> None:
    with door.client(None, follow_redirects=False) as client:
        assert client.get("/v1/queries", headers={"Authorization": header}).status_code == 401


def test_a_token_needs_a_role_that_may_log_in(door: Door) -> None:
    with door.client("sam") as client:
        door.database.execute("ALTER ROLE sam NOLOGIN")
        assert client.get("/v1/queries").status_code == 401
        door.database.execute("ALTER ROLE sam LOGIN VALID UNTIL '2000-01-01'")
        assert client.get("/v1/queries").status_code == 401
        door.database.execute("ALTER ROLE sam VALID UNTIL 'infinity'")
        assert client.get("/v1/queries").status_code == 200


def test_a_role_that_the_door_may_not_use_is_refused(door: Door) -> None:
    database = door.database
    database.execute("CREATE ROLE stranger LOGIN")
    database.execute("INSERT INTO penstock.token (hash, role) VALUES (%s, 'stranger')", digest_token("pst_stranger"))
    with door.client(None) as client:
        response = client.get("/v1/queries", headers={"Authorization": "Bearer pst_stranger"})
    problem = response.json()
    assert (response.status_code, problem["code"]) == (403, "V015")
    assert problem["hint"] == 'GRANT "stranger" TO "door" WITH INHERIT FALSE, SET TRUE'
    database.execute("DROP ROLE stranger")


def test_the_database_keeps_no_token() -> None:
    token = make_token()
    assert token != make_token()
    assert len(digest_token(token)) == 32
    assert token.encode() not in digest_token(token)


def test_the_console_logs_in_with_a_cookie(door: Door) -> None:
    with door.client(None) as client:
        response = client.post("/v1/session", json={"token": TOKENS["olga"]})
        cookie = response.headers["Set-Cookie"]
        assert all(part in cookie for part in ("HttpOnly", "SameSite=strict", "Path=/"))
        assert "Secure" not in cookie
        assert TOKENS["olga"] not in cookie
        session = client.get("/v1/session").json()
        assert (session["role"], session["submits"], session["owns"]) == ("olga", True, True)
        assert client.post("/v1/statements", json={"sql": "x"}).status_code == 403
        wrong = client.post("/v1/statements", json={"sql": "x"}, headers={"X-CSRF-Token": "wrong"})
        assert wrong.status_code == 403
        assert door.engine.statements == []
        right = {"X-CSRF-Token": session["csrf"]}
        assert client.post("/v1/statements", json={"sql": "x"}, headers=right).status_code == 422
        assert client.delete("/v1/session").status_code == 403
        assert client.delete("/v1/session", headers=right).status_code == 204
        assert client.get("/v1/session").status_code == 401


def test_a_session_ends_with_its_token(door: Door) -> None:
    with door.client(None) as client:
        client.post("/v1/session", json={"token": TOKENS["sam"]})
        assert client.get("/v1/queries").status_code == 200
        door.database.execute("DELETE FROM penstock.token WHERE role = 'sam'")
        assert client.get("/v1/queries").status_code == 401


def test_sessions_end() -> None:
    now = 0.0
    sessions = ConsoleSessions(lambda: now)
    cookie, session = sessions.open(b"")
    assert sessions.find(cookie) is session
    now = SESSION_SECONDS + 1
    assert sessions.find(cookie) is None


def test_failed_logins_are_slowed_down(door: Door) -> None:
    """Wrong ones. A right token of the address is taken all the same."""
    with door.client(None) as client:
        answers = [client.post("/v1/session", json={"token": f"pst_{guess}"}) for guess in range(12)]
        assert [each.status_code for each in answers] == [401] * 10 + [429] * 2
        assert 1 <= int(answers[-1].headers["Retry-After"]) <= 60
        assert client.get("/v1/queries", headers={"Authorization": "Bearer pst_sam"}).status_code == 200
        assert client.post("/v1/session", json={"token": "pst_rita"}).status_code == 200


def test_one_wrong_token_is_slowed_down(door: Door) -> None:
    """Whatever its address: the database is not asked for it again."""
    with door.client(None, headers={"Authorization": "Bearer pst_old"}) as client:
        assert [client.get("/v1/queries").status_code for _ in range(12)] == [401] * 10 + [429] * 2
    with door.client("rita") as other:
        assert other.get("/v1/queries").status_code == 200


def test_failures_are_forgotten() -> None:
    now = 0.0
    failures = FailedLogins(2, 60, lambda: now)
    failures.add("a")
    failures.add("a")
    with pytest.raises(Problem):
        failures.check("a")
    failures.check("b")
    now = 61
    failures.check("a")


def test_a_proxy_that_is_trusted_tells_of_tls(database: Database, door: Door) -> None:
    body, over_tls = {"token": "pst_sam"}, {"X-Forwarded-Proto": "https"}
    with serve(database, proxies=("127.0.0.1",)) as behind, behind.client(None) as client:
        assert "Secure" in client.post("/v1/session", json=body, headers=over_tls).headers["Set-Cookie"]
        origin = {"Origin": behind.url.replace("http:", "https:")}
        assert client.get("/healthz", headers=over_tls | origin).status_code == 200
    with door.client(None) as client:
        assert "Secure" not in client.post("/v1/session", json=body, headers=over_tls).headers["Set-Cookie"]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", ""])
def test_other_hosts_are_refused(door: Door, host: str) -> None:
    with door.client() as client:
        assert client.get("/healthz", headers={"Host": host}).status_code == 400
        assert client.get("/v1/queries", headers={"Host": host}).status_code == 400


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", "http://localhost:1"])
def test_other_origins_are_refused(door: Door, origin: str) -> None:
    with door.client() as client:
        response = client.post("/v1/statements", json={"sql": "x"}, headers={"Origin": origin})
        assert response.status_code == 403
        assert client.options("/v1/statements", headers={"Origin": origin}).status_code == 403
        assert not [name for name in response.headers if name.startswith("access-control")]
        assert client.get("/v1/queries", headers={"Origin": door.url}).status_code == 200


def test_every_response_has_the_headers_of_security(door: Door) -> None:
    with door.client() as client:
        for path in (*OPEN, "/v1/queries", "/nowhere", "/v1/tables/nowhere"):
            headers = client.get(path).headers
            policy = headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["X-Frame-Options"] == "DENY"
            assert "Server" not in headers
        assert client.get("/v1/queries").headers["Cache-Control"] == "no-store"


def test_bodies_have_a_limit(door: Door) -> None:
    with door.client() as client:
        assert client.post("/v1/statements", content=b"x" * 3_000_000).status_code == 413
        chunks = (b"x" * 100_000 for _ in range(30))
        assert client.post("/v1/statements", content=chunks).status_code == 413
        assert client.get("/healthz").status_code == 200


def test_slow_clients_are_left(database: Database, door: Door) -> None:
    head = "POST /v1/statements HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with serve(database, Limits(startup_seconds=0.15)) as quick:
        for sent, answer in (
            (b"", b""),
            (b"GET /healthz HTTP/1.1\r\n", b""),
            (f"{head}Authorization: Bearer pst_sam\r\nContent-Length: 100\r\n\r\n{{".encode(), b"HTTP/1.1 408"),
        ):
            with socket.create_connection(("127.0.0.1", quick.door.port), 5) as connection:
                connection.sendall(sent)
                begun = time.monotonic()
                assert connection.recv(1000).startswith(answer)
                assert 0.1 < time.monotonic() - begun < 3
                with suppress(ConnectionError):
                    while connection.recv(1000):
                        connection.sendall(b"x")  # the rest of the body, for as long as it is taken
        with socket.create_connection(("127.0.0.1", quick.door.port), 5) as connection:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            received = b""
            while not received.endswith(b"}"):
                received += connection.recv(10_000)
            connection.sendall(b"GET /healthz HT")
            assert connection.recv(1000) == b""


def test_connections_have_a_limit(database: Database, door: Door) -> None:
    with serve(database, Limits(connections=3)) as small:
        held = [socket.create_connection(("127.0.0.1", small.door.port)) for _ in range(5)]
        time.sleep(0.1)
        with small.client() as client:
            assert client.get("/v1/queries").status_code == 200
        for connection in held:
            connection.close()


def test_responses_do_not_wait_for_the_client(door: Door) -> None:
    """A client that confirms late would add 40 ms to each of them."""
    seconds = []
    with door.client() as client:
        for _ in range(10):
            begun = time.perf_counter()
            client.get("/healthz")
            seconds.append(time.perf_counter() - begun)
    assert min(seconds) < 0.03


def test_errors_show_nothing_of_the_inside(door: Door) -> None:
    with door.client() as client:
        door.database.execute("ALTER TABLE penstock.query RENAME TO hidden")
        response = client.get("/v1/queries")
        door.database.execute("ALTER TABLE penstock.hidden RENAME TO query")
    assert response.status_code == 500
    assert response.json()["message"] == "internal error"
    assert not any(word in response.text for word in ("penstock.query", "SELECT", "Traceback", "psycopg"))


def test_a_database_that_is_away_is_said_so(database: Database) -> None:
    with serve(database, url="postgresql://door@/postgres?host=/nowhere") as lost, lost.client() as client:
        lost.door.services.catalog._own.timeout = 0.2
        assert client.get("/healthz").status_code == 200
        for path in ("/readyz", "/v1/queries"):
            response = client.get(path)
            assert (response.status_code, response.json()["message"]) == (503, "the database does not answer")


def test_ready_means_that_the_engine_has_been_seen(door: Door) -> None:
    with door.client(None) as client:
        assert client.get("/readyz").json() == {"database": "ok", "engine": "READY"}
        door.database.execute("UPDATE penstock.engine SET state = 'STARTING'")
        assert (client.get("/readyz").status_code, client.get("/readyz").json()["engine"]) == (503, "STARTING")
        door.database.execute("UPDATE penstock.engine SET state = 'READY', seen = now() - interval '1 hour'")
        assert (client.get("/readyz").status_code, client.get("/readyz").json()["engine"]) == (503, "away")


def test_a_port_that_is_taken_is_said_so(database: Database, door: Door) -> None:
    with pytest.raises(OSError, match="in use"), serve(database, port=door.door.port):
        raise AssertionError("it listens")
