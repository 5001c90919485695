"""The client of the server: the calls of a session, over HTTP."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
import trustme

import penstock
from penstock import CompileError, RemoteError, RemoteSession, client
from penstock.diagnostics import render
from penstock.server.engine_protocol import StatementAnswer
from tests.server.http.conftest import Database, Door, serve
from tests.server.http.test_statements import ORDERS, TOTALS


@pytest.fixture
def session(door: Door) -> Iterator[RemoteSession]:
    with penstock.connect(door.url, token="pst_sam") as session:
        yield session


def test_a_script_is_submitted(session: RemoteSession) -> None:
    (query,) = session.submit(f"{ORDERS}; {TOTALS}")
    assert (query.name, session.tables(), repr(query)) == ("totals", ["totals"], "<RemoteQuery totals>")
    assert [each.name for each in session.queries()] == ["totals"]
    status = query.status()
    assert (status.state, status.running, status.rows, status.out, status.late, status.rejected) == (
        *("RUNNING", True, 100, 40, 3, 2),
    )
    assert status.watermark == datetime(2025, 1, 1, 10, tzinfo=UTC)
    assert status.details["plan"]["nodes"]


def test_a_select_is_answered(session: RemoteSession, door: Door) -> None:
    session.submit(f"{ORDERS}; {TOTALS}; CREATE VIEW dear AS SELECT product FROM totals WHERE total > 50")
    door.database.execute("INSERT INTO totals VALUES ('lamp', 80.00, 2), ('chair', 120.00, 1), ('desk', 9.50, 1)")
    rows = session.sql("SELECT * FROM totals ORDER BY total DESC LIMIT 2")
    assert rows == [{"product": "chair", "total": Decimal("120.00")}, {"product": "lamp", "total": Decimal("80.00")}]
    assert session.sql("SELECT COUNT(*) AS n, SUM(total) AS total FROM totals WHERE total > 10") == [
        {"n": 2, "total": Decimal("200.00")}
    ]
    assert session.sql("SELECT product FROM dear ORDER BY product") == [{"product": "chair"}, {"product": "lamp"}]
    assert session.sql("SELECT 1 AS n") == [{"n": 1}]


def test_a_select_that_needs_more_is_refused(
    session: RemoteSession, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.submit(f"{ORDERS}; {TOTALS}")
    door.database.execute("INSERT INTO totals VALUES ('lamp', 80.00, 2), ('chair', 120.00, 1)")

    def refusal(sql: str) -> tuple[str, str]:
        with pytest.raises(CompileError) as refused:
            session.sql(sql)
        (found,) = refused.value.diagnostics
        return found.code, found.message.rpartition(": ")[2]

    assert refusal("SELECT nothing FROM totals")[0] == "N001"
    assert refusal("SELECT SOUNDEX(product) FROM totals") == (
        *("R088", "it needs Spark, or a table that the server does not keep itself"),
    )
    monkeypatch.setattr("penstock.remote_read.MOST_ROWS", 2)
    assert refusal("SELECT product FROM totals") == ("R088", "totals has 2 rows or more")


def test_queries_are_paused_resumed_and_dropped(session: RemoteSession) -> None:
    (query,) = session.submit(f"{ORDERS}; {TOTALS}")
    query.pause()
    assert (query.status().state, query.status().running) == ("PAUSED", False)
    assert not query.await_done(0)
    query.resume()
    assert query.status().state == "RUNNING"
    query.drop()
    assert query.await_done(0)
    with pytest.raises(RemoteError, match="unknown query totals"):
        query.status()


def test_a_query_that_ends_is_awaited(session: RemoteSession, door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_POLL_SECONDS", 0.05)
    (query,) = session.submit(f"{ORDERS}; {TOTALS}")

    def stop() -> None:
        time.sleep(0.1)
        door.database.execute("UPDATE penstock.query SET state = 'STOPPED'")

    thread = threading.Thread(target=stop)
    thread.start()
    assert query.await_done(10)
    thread.join()
    door.database.execute("UPDATE penstock.query SET state = 'HELD', code = 'R020', message = 'division by zero'")
    with pytest.raises(RemoteError, match="R020: division by zero"):
        query.await_done()


HELD = "UPDATE penstock.query SET state = 'HELD', code = 'R020', message = 'division by zero'"


def submit_and_leave(door: Door, number: int, error: Exception | None = None, *, awaits: bool = False) -> None:
    with penstock.connect(door.url, token="pst_sam") as session:
        assert isinstance(session, RemoteSession)
        sql = f"{ORDERS}; {TOTALS}".replace("orders", f"orders{number}").replace("totals", f"totals{number}")
        (query,) = session.submit(sql)
        door.database.execute(HELD)
        status = query.status()
        assert status.error is not None
        assert (status.running, status.error.code, status.error.message) == (False, "R020", "division by zero")
        if awaits:
            with pytest.raises(RemoteError):
                query.await_done()
        if error is not None:
            raise error


def test_who_leaves_the_session_is_told_that_a_query_is_held(door: Door) -> None:
    with pytest.raises(RemoteError, match=r"^R020: totals1: division by zero$") as raised:
        submit_and_leave(door, 1)
    assert raised.value.code == "R020"
    submit_and_leave(door, 2, awaits=True)
    with pytest.raises(KeyError) as masked:
        submit_and_leave(door, 3, KeyError("mine"))
    assert masked.value.__notes__ == ["queries of this session failed, too: R020: totals3: division by zero"]
    with penstock.connect(door.url, token="pst_sam") as other:  # it has started none
        assert len(other.queries()) == 3


def test_answers_have_their_types(session: RemoteSession, door: Door) -> None:
    answer = StatementAnswer("SELECT 1", ("n", "s"), (("1", "a"), (None, "b")), types=("bigint", "text"))
    door.engine.answers["SHOW TABLES"] = answer
    rows = session.sql("SHOW TABLES")
    assert rows == [{"n": 1, "s": "a"}, {"n": None, "s": "b"}]
    assert len(session.sql(ORDERS)) == 0


def test_tables_are_read_with_their_types(session: RemoteSession, door: Door) -> None:
    door.database.execute("INSERT INTO totals VALUES ('lamp', 80.5, 2), ('desk', 1, 1), ('bed', NULL, 2)")
    assert session.table("totals", order="-n,product", limit=2) == [
        {"product": "bed", "total": None, "n": 2},
        {"product": "lamp", "total": Decimal("80.50"), "n": 2},
    ]
    assert [row["product"] for row in session.table("totals", n=2)] == ["bed", "lamp"]
    assert [row["product"] for row in session.table("totals", product=["desk", "bed"])] == ["bed", "desk"]
    with pytest.raises(RemoteError, match="unknown column prodct") as refusal:
        session.table("totals", prodct="x")
    assert refusal.value.hint == "did you mean product?"


def test_a_refusal_is_that_of_the_compiler(session: RemoteSession) -> None:
    sql = "CREATE VIEW v AS\n  SELECT STREAM id FROM oders"
    with pytest.raises(CompileError) as refusal:
        session.submit(f"{ORDERS};\n{sql}", "orders.sql")
    shown = render(refusal.value.diagnostics[0], color=False)
    assert "error[K012]: unknown name oders" in shown
    assert "orders.sql:6:25" in shown
    assert "^^^^^" in shown
    (finding,) = session.check("SELECT STREAM id FROM oders")
    assert (finding["code"], finding["column"]) == ("K012", 23)


def test_a_refusal_of_the_runtime_is_remote(door: Door) -> None:
    with penstock.connect(door.url, token="pst_sam") as session, pytest.raises(RemoteError) as refusal:
        session.table("nowhere")
    assert (refusal.value.status, str(refusal.value)) == (404, "unknown table nowhere")


def test_a_wrong_token_is_told_at_once(door: Door) -> None:
    with pytest.raises(RemoteError, match="the token is not valid"):
        penstock.connect(door.url, token="pst_nobody")


def test_a_server_that_is_away_is_told(database: Database) -> None:
    with pytest.raises(RemoteError, match="does not answer"):
        penstock.connect("http://127.0.0.1:9", token="pst_sam")


def test_a_session_shows_no_token(session: RemoteSession) -> None:
    assert "pst_" not in repr(session)
    assert "as sam" in repr(session)


def test_tls_is_checked(database: Database, door: Door, tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1", "localhost")
    certificate.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "server.pem"))
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    pem = tmp_path / "server.pem"
    with serve(database, certificate=pem, key=pem) as safe:
        with penstock.connect(safe.url, token="pst_sam", authority=str(tmp_path / "authority.pem")) as session:
            assert session.tables() == []
        with pytest.raises(RemoteError, match="CERTIFICATE_VERIFY_FAILED"):
            penstock.connect(safe.url, token="pst_sam")
        trust = ssl.create_default_context(cafile=str(tmp_path / "authority.pem"))
        with safe.client(None, verify=trust) as client:
            assert "Secure" in client.post("/v1/session", json={"token": "pst_sam"}).headers["Set-Cookie"]
