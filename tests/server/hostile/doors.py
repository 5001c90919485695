"""The ways by which a statement reaches a server."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

import httpx
import psycopg
from psycopg.pq import ExecStatus

from penstock.client import RemoteError, RemoteSession
from penstock.diagnostics import CompileError


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a statement. `passed`: it was not refused. `code`: the SQLSTATE, or that of Penstock or HTTP."""

    passed: bool
    code: str
    shown: str
    """All that the user gets to see."""


Door = Callable[[str], Outcome]


class Doors:
    """All doors of a server, opened for one role whose password is its name."""

    def __init__(self, role: str, port: int, url: str, stack: ExitStack) -> None:
        self._simple = stack.enter_context(connect(role, port))
        self._extended = stack.enter_context(connect(role, port))
        self._run = stack.enter_context(connect(role, port))
        self._http = stack.enter_context(httpx.Client(base_url=url, timeout=120))
        self._http.headers["Authorization"] = f"Bearer pst_{role}"
        self._session = stack.enter_context(RemoteSession(url, f"pst_{role}"))
        self._console = stack.enter_context(httpx.Client(base_url=url, timeout=120))
        self._console.headers["X-CSRF-Token"] = log_in(self._console, role)

    @property
    def all(self) -> dict[str, Door]:
        return {
            "simple protocol": self.send_simply,
            "extended protocol": self.send_prepared,
            "penstock.run": self.call_run,
            "HTTP": lambda text: post(self._http, text),
            "Python client": self.submit,
            "console": lambda text: post(self._console, text),
        }

    def send_simply(self, text: str) -> Outcome:
        return show_result(self._simple.pgconn.exec_(text.encode()))

    def send_prepared(self, text: str) -> Outcome:
        return show_result(self._extended.pgconn.exec_params(text.encode(), None))

    def call_run(self, text: str) -> Outcome:
        """As tools do that only read."""
        pgconn = self._run.pgconn
        pgconn.exec_(b"BEGIN READ ONLY")
        try:
            return show_result(pgconn.exec_params(b"SELECT * FROM penstock.run($1)", [text.encode()]))
        finally:
            pgconn.exec_(b"ROLLBACK")

    def submit(self, text: str) -> Outcome:
        try:
            answers = self._session.run(text)
        except CompileError as error:
            return Outcome(False, error.diagnostics[0].code, str(error))
        except RemoteError as error:
            return Outcome(False, error.code or str(error.status), f"{error} {error.hint}")
        return Outcome(True, "", str(answers))


def connect(role: str, port: int, password: str | None = None) -> psycopg.Connection:
    return psycopg.connect(
        host="127.0.0.1", port=port, dbname="penstock", user=role, password=password or role, autocommit=True
    )


def log_in(client: httpx.Client, role: str) -> str:
    """Logs a browser in, and gives what its requests have to repeat."""
    response = client.post("/v1/session", json={"token": f"pst_{role}"})
    assert response.status_code == 200, response.text
    return str(response.json()["csrf"])


def post(client: httpx.Client, text: str) -> Outcome:
    response = client.post("/v1/statements", json={"sql": text})
    if response.is_success:
        return Outcome(True, "", response.text)
    problem = response.json()
    return Outcome(False, problem["code"] or problem["sqlstate"] or str(response.status_code), response.text)


def show_result(result: psycopg.pq.abc.PGresult) -> Outcome:
    if result.status != ExecStatus.FATAL_ERROR:
        rows = [result.get_value(row, 0) for row in range(result.ntuples)]
        return Outcome(True, "", repr(rows))
    fields = {field: (result.error_field(field) or b"").decode() for field in psycopg.pq.DiagnosticField}
    return Outcome(False, fields[psycopg.pq.DiagnosticField.SQLSTATE], "\n".join(fields.values()))
