"""A session with a server. It has the calls of a session with Spark, over HTTP.

Needs the extra `client`.
"""

from __future__ import annotations

import re
import ssl
import sys
import time
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import Any
from urllib.parse import quote

import httpx
import pyarrow as pa

from penstock.arrow import read_table
from penstock.diagnostics import CompileError, Diagnostic, Label, Source, Span, show_lines
from penstock.left_errors import report_errors
from penstock.remote_read import is_read, read_remote
from penstock.rows import Rows

_SECONDS = 90.0  # longer than the server waits for its engine, or reads a table
_POLL_SECONDS = 1.0
_ENDED = ("STOPPED", "HELD")


class RemoteError(Exception):
    """The server does not do what it was asked for. `code` and `hint` are None if it gives none."""

    def __init__(self, message: str, *, status: int | None = None, code: str | None = None, hint: str | None = None):
        super().__init__(show_lines(message if code is None else f"{code}: {message}"))
        self.status = status
        self.code = code
        self.hint = hint


@dataclass(frozen=True, slots=True)
class RemoteAnswer:
    """What one statement of a script answers."""

    tag: str
    rows: Rows
    notices: tuple[str, ...]
    queries: tuple[RemoteQuery, ...]
    """The queries that the statement has started."""


@dataclass(frozen=True, slots=True)
class QueryStatus:
    """A query of a server as the engine told last. Counts begin when it was started."""

    name: str
    state: str
    """`STARTING`, `RUNNING`, `PAUSED`, `RETRYING`, `HELD` or `STOPPED`."""
    rows: int
    late: int
    rejected: int
    out: int
    state_rows: int
    watermark: datetime | None
    lag_seconds: float | None
    code: str | None
    message: str | None
    """Why it is held, or tries again."""
    details: dict[str, Any] = field(repr=False, compare=False)
    """All that the server tells."""

    @property
    def error(self) -> Diagnostic | None:
        """Why it is held, with its code and message; None while it runs or tries again, or if it was stopped."""
        is_held = self.state == "HELD" and self.code is not None
        return Diagnostic(str(self.code), self.message or "the query failed") if is_held else None

    @property
    def running(self) -> bool:
        """Whether it is neither paused nor at its end."""
        return self.state in ("STARTING", "RUNNING", "RETRYING")


@dataclass(frozen=True, slots=True)
class RemoteReason:
    """One thing that holds back rows of a query.

    cause: one word, such as `silent`. text: sentences for people. numbers: what it is about, by names; times are texts
    in ISO 8601, stretches of time are in seconds.
    """

    cause: str
    text: str
    numbers: dict[str, Any] = field(default_factory=dict)


class RemoteQuery:
    """A query that a server keeps running."""

    def __init__(self, session: RemoteSession, name: str) -> None:
        self._session = session
        self.name = name
        self.is_told = False
        """Whether a failure of it was raised or given."""

    def __repr__(self) -> str:
        return f"<RemoteQuery {self.name}>"

    def status(self) -> QueryStatus:
        """The query as the engine told last.

        Raises:
            RemoteError: there is no such query any more, or the server does not answer.
        """
        return _read_status(self._read())

    def list_reasons(self) -> list[RemoteReason]:
        """What holds back rows of the query, what matters most first. Raises RemoteError as `status` does."""
        reasons = (self._read()["status"] or {}).get("reasons") or []
        return [RemoteReason(each["cause"], each["text"], each["numbers"]) for each in reasons]

    def await_done(self, timeout: float | None = None) -> bool:
        """Waits, at most `timeout` seconds, until the query has ended; False if it has not.

        Raises:
            RemoteError: the query failed, or the server does not answer.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            try:
                status = self.status()
            except RemoteError as error:
                if error.status == httpx.codes.NOT_FOUND:
                    return True
                raise
            if status.state in _ENDED:
                if status.code is not None:
                    self.is_told = True
                    raise RemoteError(status.message or "the query failed", code=status.code)
                return True
            if deadline is not None and time.monotonic() >= deadline:
                return False
            time.sleep(_POLL_SECONDS if deadline is None else min(_POLL_SECONDS, max(0, deadline - time.monotonic())))

    def await_rows(self, n: int = 1, timeout: float | None = None) -> bool:
        """Waits, at most `timeout` seconds, until the query has written `n` rows since the server started it.

        False if it has not, or has ended.

        Raises:
            RemoteError: the query failed, there is none any more, or the server does not answer.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            status = self.status()
            if status.out >= n:
                return True
            if status.state in _ENDED:
                self.await_done(0)
                return False
            left = _POLL_SECONDS if deadline is None else min(_POLL_SECONDS, deadline - time.monotonic())
            if left <= 0:
                return False
            time.sleep(left)

    def pause(self) -> None:
        """Stops the query until it is resumed. Raises CompileError or RemoteError."""
        self._change("PAUSE QUERY")

    def resume(self) -> None:
        """Lets the query go on. Raises CompileError or RemoteError."""
        self._change("RESUME QUERY")

    def drop(self) -> None:
        """Ends the query for good. Raises CompileError or RemoteError."""
        self._change("DROP QUERY")

    def _read(self) -> dict[str, Any]:
        shown: dict[str, Any] = self._session.get(f"/v1/queries/{quote(self.name, safe='')}").json()
        return shown

    def _change(self, verb: str) -> None:
        name = self.name.replace("`", "``")
        self._session.run(f"{verb} `{name}`")


class RemoteSession:
    """A connection to a server. Use it in a `with` statement, or close it."""

    def __init__(self, url: str, token: str, authority: str | None = None) -> None:
        trust = ssl.create_default_context(cafile=authority)
        headers = {"Authorization": f"Bearer {token}"}
        self._client = httpx.Client(base_url=url, headers=headers, timeout=_SECONDS, verify=trust)
        self._started: list[RemoteQuery] = []
        try:
            self.role: str = self.get("/v1/session").json()["role"]
        except BaseException:
            self._client.close()
            raise

    def __repr__(self) -> str:
        return f"<RemoteSession {self._client.base_url} as {self.role}>"

    def submit(self, sql: str, name: str = "<sql>") -> list[RemoteQuery]:
        """Runs a script. Returns its queries, which go on without this session.

        Raises:
            CompileError: a statement is refused. The statements before it have been run.
            RemoteError: a query cannot be started, or the server does not answer.
        """
        return [query for answer in self.run(sql, name) for query in answer.queries]

    def sql(self, sql: str, name: str = "<sql>") -> Rows:
        """The rows that a statement answers. A script gives the rows of its last statement.

        A SELECT is computed here, over the rows of the tables as they are now.

        Raises:
            CompileError: a statement is refused; or a SELECT needs Spark, or a table with 100,000 rows or more.
            RemoteError: as `submit`.
        """
        source = Source(name, sql)
        if _may_be_read(source):
            return read_remote(source, self.get("/v1/relations").json()["relations"], self)
        return self.run(sql, name)[-1].rows

    def run(self, sql: str, name: str = "<sql>") -> list[RemoteAnswer]:
        """Runs a script. Returns what each of its statements answers. Raises as `submit` does."""
        response = self._send("POST", "/v1/statements", json={"sql": sql}, source=Source(name, sql))
        answers = [
            RemoteAnswer(
                answer["tag"],
                Rows(read_table(answer["columns"], answer["types"], answer["rows"])),
                tuple(answer["notices"]),
                tuple(RemoteQuery(self, query) for query in answer["queries"]),
            )
            for answer in response.json()["answers"]
        ]
        self._started += [query for answer in answers for query in answer.queries]
        return answers

    def check(self, sql: str) -> list[dict[str, Any]]:
        """What is wrong with a script, as `penstock check --format json` has it. Runs nothing. Raises RemoteError."""
        findings: list[dict[str, Any]] = self._send("POST", "/v1/check", json={"sql": sql}).json()["findings"]
        return findings

    def tables(self) -> list[str]:
        """The names of all tables. Raises RemoteError."""
        relations = self.get("/v1/relations").json()["relations"]
        return [relation["shown"] for relation in relations if relation["kind"] == "TABLE"]

    def table(self, name: str, *, limit: int | None = None, order: str | None = None, **filters: Any) -> Rows:
        """The rows of a table as they are now.

        Args:
            name: the table, or a stream whose newest rows are kept.
            limit: the most rows to get. By default as many as the server gives.
            order: columns with commas between them, `-` before one that descends. By default the primary key.
            filters: values that columns have to equal, or lists of them.

        Raises:
            RemoteError: there is no such table or column, or the server does not answer.
        """
        asked = {"format": "arrow", "limit": 100_000 if limit is None else limit, "order": order, **filters}
        given = {column: value for column, value in asked.items() if value is not None}
        content = self.get(f"/v1/tables/{quote(name, safe='')}", given).content
        return Rows(pa.ipc.open_stream(content).read_all())

    def take_errors(self) -> list[Diagnostic]:
        """Why queries that this session has started are held. Each reason is given once, unless `await_done` raised it.

        Raises RemoteError if the server does not answer.
        """
        waiting = {query.name: query for query in self._started if not query.is_told and not self._client.is_closed}
        if not waiting:
            return []
        errors = []
        for row in self.get("/v1/queries").json()["queries"]:
            error = _read_status(row).error
            if row["name"] in waiting and error is not None:
                waiting[row["name"]].is_told = True
                errors.append(Diagnostic(error.code, f"{row['name']}: {error.message}"))
        return errors

    def queries(self) -> list[RemoteQuery]:
        """All queries of the server. Raises RemoteError."""
        return [RemoteQuery(self, query["name"]) for query in self.get("/v1/queries").json()["queries"]]

    def get(self, path: str, parameters: dict[str, Any] | None = None) -> httpx.Response:
        """The response to a GET. Raises RemoteError."""
        return self._send("GET", path, params=parameters)

    def close(self) -> None:
        """Ends the connection. Queries go on.

        Raises RemoteError when queries that this session has started are held, and `await_done` has not raised that.
        While another exception is on its way, that one goes on, with a note.
        """
        self._close(sys.exc_info()[1])

    def __enter__(self) -> RemoteSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close(error)

    def _close(self, error: BaseException | None) -> None:
        failure = None
        try:
            failed = self.take_errors()
            if failed:
                failure = RemoteError("; ".join(f"{each.code}: {each.message}" for each in failed))
                failure.code = failed[0].code
        except RemoteError as problem:
            failure = problem
        finally:
            self._client.close()
        report_errors(failure, error)

    def _send(self, method: str, path: str, source: Source | None = None, **options: Any) -> httpx.Response:
        try:
            response = self._client.request(method, path, **options)
        except httpx.HTTPError as error:
            raise RemoteError(f"the server at {self._client.base_url} does not answer: {error}") from None
        if response.is_success:
            return response
        problem = _read_problem(response)
        code = problem.get("code")
        if source is not None and code is not None and not code.startswith("R"):
            raise CompileError(_read_finding(each, source) for each in problem["errors"])
        message = problem.get("message") or f"the server answers {response.status_code}"
        raise RemoteError(message, status=response.status_code, code=code, hint=problem.get("hint"))


def _may_be_read(source: Source) -> bool:
    """Whether the text is a SELECT over tables. What cannot be read here is left to the server."""
    try:
        return is_read(source)
    except CompileError:
        return False


def _read_problem(response: httpx.Response) -> dict[str, Any]:
    """The problem of a response, empty if something between here and the server answers."""
    if "json" not in response.headers.get("Content-Type", ""):
        return {}
    problem: dict[str, Any] = response.json()
    return problem


def _read_finding(error: dict[str, Any], source: Source) -> Diagnostic:
    """An error of a statement as a finding about the text. Its place is the word at the position."""
    labels: tuple[Label, ...] = ()
    if error["position"] is not None:
        start = error["position"] - 1
        word = re.compile(r"\w+|").match(source.text, start)
        labels = (Label(Span(source, start, word.end() if word else start)),)
    return Diagnostic(error["code"], error["message"], labels, error["detail"], error["hint"])


def _read_status(row: dict[str, Any]) -> QueryStatus:
    status = row["status"] or {}
    inputs = status.get("inputs") or []
    watermark = status.get("watermark")
    return QueryStatus(
        name=row["name"],
        state=row["state"],
        rows=sum(each.get("in") or 0 for each in inputs),
        late=sum(each.get("late") or 0 for each in inputs),
        rejected=sum(each.get("rejected") or 0 for each in inputs),
        out=status.get("out") or 0,
        state_rows=status.get("state_rows") or 0,
        watermark=None if watermark is None else datetime.fromisoformat(watermark),
        lag_seconds=status.get("lag_seconds"),
        code=row["code"],
        message=row["message"],
        details=row,
    )
