"""Routes that take statements: running them, checking them, listing the statements that were sent."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, field_validator

from penstock.diagnostics import Source
from penstock.server.engine_protocol import Refusal, RefusedError, Statement, StatementAnswer
from penstock.server.http.answer_room import AnswerRoom
from penstock.server.http.problems import Problem
from penstock.server.http.services import LoginOf, Services, ServicesOf
from penstock.server.http.words import list_words
from penstock.server.planning.script_parts import ScriptPart
from penstock.values import to_json

router = APIRouter()

CHECKED_BYTES = 1 << 16
"""The most bytes of a text that is checked while it is typed."""
_MAX_NUMBER = (1 << 63) - 1
_STATUS = {"42501": 403, "53": 503, "57014": 504, "57P03": 503, "54": 413}
"""The status of HTTP for an SQLSTATE or its class. All others are 422."""


class Script(BaseModel):
    """One statement or several."""

    model_config = ConfigDict(extra="forbid")

    sql: str

    @field_validator("sql")
    @classmethod
    def check_characters(cls, sql: str) -> str:
        """Refuses characters that PostgreSQL has not."""
        if "\0" in sql or any("\ud800" <= character <= "\udfff" for character in sql):
            raise ValueError("NUL and single surrogates are no characters of a text")
        return sql


class Answer(BaseModel):
    """What a statement answers. Values are texts, or null."""

    tag: str
    columns: list[str]
    types: list[str]
    """Types of PostgreSQL, one for each column. Empty if all are texts."""
    rows: list[list[str | None]]
    notices: list[str]
    queries: list[str]
    """The queries that the statement has started."""


class Answers(BaseModel):
    """The answers of a script, in the order of its statements."""

    answers: list[Answer]


class Findings(BaseModel):
    """What `penstock check --format json` prints. `paste`: the SQL of a hint, and the place of what it replaces."""

    findings: list[dict[str, Any]]


class Formatted(BaseModel):
    """A script in the canonical layout. `sql` is null if it cannot be parsed, as `findings` say."""

    sql: str | None
    findings: list[dict[str, Any]]


@router.post("/v1/statements")
async def run_statements(script: Script, request: Request, login: LoginOf, services: ServicesOf) -> Answers:
    """Runs a statement, or the statements of a script until one is refused. A client that goes away withdraws them.

    PostgreSQL answers a SELECT over tables as they are now, with the first rows if there are many.
    """
    limit = services.limits.statement_bytes
    if len(script.sql.encode()) > limit:
        raise Problem(413, f"the statement is longer than {limit:,} bytes", sqlstate="54000")
    answers: list[Answer] = []
    room = AnswerRoom(services.limits.answer_rows, services.limits.select_bytes)
    for part in await services.checker.split(login.role, script.sql):
        try:
            answer = await _run_while_connected(request, services, _carry_out(services, login.role, part, room))
        except RefusedError as refused:
            services.metrics.statements.labels("http", "refused").inc()
            raise _explain(refused.refusals, script.sql, part, answers) from None
        services.metrics.statements.labels("http", "done").inc()
        if len(answer.rows) > services.limits.answer_rows:
            raise Problem(413, f"the answer has more than {services.limits.answer_rows:,} rows", sqlstate="54000")
        answers.append(_show(answer if part.is_read else room.cut(answer)))
    return Answers(answers=answers)


@router.post("/v1/check")
async def check_script(script: Script, login: LoginOf, services: ServicesOf) -> Findings:
    """What is wrong with a script over the relations that there are, and what it is warned about. Runs nothing."""
    _require_short(script)
    definitions = await services.catalog.list_definitions(login.role)
    found = await services.checker.check(login.role, script.sql, definitions)
    return Findings(findings=[dict(finding) for finding in found])


@router.post("/v1/format")
async def format_script(script: Script, login: LoginOf, services: ServicesOf) -> Formatted:
    """The script as `penstock fmt` lays it out. Runs nothing."""
    _require_short(script)
    result = await services.checker.format(login.role, script.sql)
    if isinstance(result, str):
        return Formatted(sql=result, findings=[])
    return Formatted(sql=None, findings=[dict(finding) for finding in result])


@router.get("/v1/words")
async def show_words(_: LoginOf) -> dict[str, Any]:
    """The keywords, types and functions of Penstock's SQL, for editors."""
    return list_words()


@router.get("/v1/statements")
async def list_statements(
    login: LoginOf,
    services: ServicesOf,
    limit: Annotated[int, Query(ge=1, le=1000, description="The most statements to get.")] = 100,
    before: Annotated[int, Query(ge=1, le=_MAX_NUMBER, description="Statements with smaller numbers.")] = _MAX_NUMBER,
) -> dict[str, Any]:
    """The statements that were sent, the newest first. An owner gets the statements of all, others get their own."""
    rows = await services.catalog.list_statements(login.role, before, limit)
    for row in rows:
        row["text"] = Source("<sql>", row["text"]).shown
    following = rows[-1]["id"] if len(rows) == limit else None
    return {"statements": to_json(rows), "next": following}


def _require_short(script: Script) -> None:
    if len(script.sql.encode()) > CHECKED_BYTES:
        raise Problem(413, f"the text is longer than {CHECKED_BYTES:,} bytes")


def _carry_out(
    services: Services, role: str, part: ScriptPart, room: AnswerRoom
) -> Coroutine[Any, Any, StatementAnswer]:
    """PostgreSQL answers what only reads its tables or is about views of `reports`, and the engine all else."""
    if part.is_foreign:
        return services.reads.run(role, part.text, room, changes=part.is_report)
    return services.engine.run(Statement(part.settings + part.text, role, "http"))


async def _run_while_connected(
    request: Request, services: Services, work: Coroutine[Any, Any, StatementAnswer]
) -> StatementAnswer:
    running = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_await_disconnect(request))
    try:
        await asyncio.wait((running, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            services.metrics.statements.labels("http", "withdrawn").inc()
            raise Problem(499, "the client has gone")
        return running.result()
    finally:
        for task in (running, leaving):
            task.cancel()
        await asyncio.gather(running, leaving, return_exceptions=True)


async def _await_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _show(answer: StatementAnswer) -> Answer:
    return Answer(
        tag=answer.tag,
        columns=list(answer.columns),
        types=list(answer.types),
        rows=[list(row) for row in answer.rows],
        notices=list(answer.notices),
        queries=list(answer.queries),
    )


def _explain(refusals: tuple[Refusal, ...], script: str, part: ScriptPart, answers: list[Answer]) -> Problem:
    """The first refusal as a problem, with places in the whole script, and with what was answered before it."""
    source = Source("<sql>", script)
    errors = []
    for refusal in refusals:
        settings = "" if part.is_foreign else part.settings
        place = 0 if refusal.position is None else refusal.position - len(settings)
        position = min(part.start + place, len(script) + 1) if place > 0 else None
        line, column = (None, None) if position is None else source.position(position - 1)
        errors.append({**asdict(refusal), "position": position, "line": line, "column": column})
    first = errors[0]
    state = refusals[0].sqlstate
    status = _STATUS.get(state) or _STATUS.get(state[:2], 422)
    members = {name: value for name, value in first.items() if name != "message"}
    done = [answer.model_dump() for answer in answers]
    return Problem(status, refusals[0].message, **members, errors=errors, answers=done)
