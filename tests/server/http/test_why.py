"""`penstock why`: what holds back the rows of a query of a server."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from psycopg.types.json import Jsonb

from penstock.commands.cli import main
from tests.server.http.conftest import Database, Door
from tests.server.http.test_statements import ORDERS, TOTALS, send

REASONS = [
    {"cause": "silent", "text": "No row of payments has come.", "numbers": {"input": "payments", "seconds": 12.5}},
    {"cause": "some_left_out", "text": "3 late of 100 rows of orders were left out.", "numbers": {"late": 3}},
]


def ask(*arguments: str | Path, token: str | None = "pst_rita") -> Result:
    environment = {"PENSTOCK_TOKEN": token}
    return CliRunner().invoke(main, ["why", *map(str, arguments)], env=environment, catch_exceptions=False)


def test_reasons_are_printed_in_the_order_of_the_server(door: Door) -> None:
    send(door, f"{ORDERS};{TOTALS}")
    door.database.execute("UPDATE penstock.query SET status = %s", Jsonb({"reasons": REASONS}))
    run = ask("totals", "--url", door.url)
    assert (run.exit_code, run.stderr) == (0, "")
    assert run.stdout == (
        "silent: No row of payments has come.\nsome_left_out: 3 late of 100 rows of orders were left out.\n"
    )


@pytest.mark.parametrize("status", [None, {"batch": 7}, {"reasons": []}])
def test_a_query_that_nothing_holds_back_says_so(door: Door, status: dict[str, object] | None) -> None:
    send(door, f"{ORDERS};{TOTALS}")
    door.database.execute("UPDATE penstock.query SET status = %s", None if status is None else Jsonb(status))
    run = ask("totals", "--url", door.url)
    assert (run.exit_code, run.stdout) == (0, "nothing holds back the rows of totals\n")


def test_the_token_is_read_from_a_file(door: Door, tmp_path: Path) -> None:
    send(door, f"{ORDERS};{TOTALS}")
    file = tmp_path / "token"
    file.write_text("pst_rita\n", encoding="utf-8")
    run = ask("totals", "--url", door.url, "--token-file", file, token=None)
    assert (run.exit_code, run.stdout) == (0, "not_final: The watermark has not passed a window.\n")
    missing = ask("totals", "--url", door.url, "--token-file", tmp_path / "other", token=None)
    assert missing.exit_code == 2
    assert "PENSTOCK_TOKEN can have the token" in missing.stderr


def test_an_unknown_query_is_refused(door: Door) -> None:
    run = ask("totals", "--url", door.url)
    assert (run.exit_code, run.stdout, run.stderr) == (1, "", "error: unknown query totals\n")


@pytest.mark.parametrize(
    ("url", "token", "reason"),
    [
        ("http://127.0.0.1:9", "pst_rita", "does not answer"),
        ("127.0.0.1:9", "pst_rita", "does not answer"),
        ("", "pst_nobody", "the token is not valid"),
    ],
)
def test_a_server_that_does_not_answer_is_a_failure(door: Door, url: str, token: str, reason: str) -> None:
    run = ask("totals", "--url", url or door.url, token=token)
    assert (run.exit_code, run.stdout) == (3, "")
    assert reason in run.stderr


def test_certificates_that_are_none_are_told(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "authority.pem"
    file.write_text("nothing", encoding="utf-8")
    run = ask("totals", "--authority", file)
    assert run.exit_code == 2
    assert f"{file} has no certificates" in run.stderr


def test_a_client_that_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    monkeypatch.delitem(sys.modules, "penstock.client", raising=False)
    run = ask("totals")
    assert run.exit_code == 1
    assert "pip install 'penstock[client]'" in run.stderr
