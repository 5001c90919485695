"""An engine without Spark: it plans statements, and keeps the schema `penstock` as the engine does."""

from __future__ import annotations

import asyncio
from typing import Any

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from penstock.compilation import compile
from penstock.diagnostics import CompileError, Diagnostic, Source
from penstock.parser import ast, parse
from penstock.planner import Catalog
from penstock.server.engine_protocol import Refusal, RefusedError, Statement, StatementAnswer
from penstock.server.running.live_script import names_in

PLAN = {
    "nodes": [
        {"id": "scan", "label": "Scan orders", "detail": "files, json", "bound": "keeps nothing"},
        {"id": "group", "label": "GroupAggregate product", "detail": "SUM(price)", "bound": "one row for each product"},
        {"id": "sink", "label": "Write totals", "detail": "postgres", "bound": "keeps nothing"},
    ],
    "edges": [["scan", "group"], ["group", "sink"]],
}
STATUS = {
    "batch": 7,
    "out": 40,
    "input_rate": 12.5,
    "output_rate": 3.0,
    "watermark": "2025-01-01T10:00:00Z",
    "newest": "2025-01-01T10:00:10Z",
    "lag_seconds": 10.0,
    "state_rows": 3,
    "state_bytes": 4096,
    "inputs": [{"name": "orders", "in": 100, "rejected": 2, "late": 3, "filtered": 5, "used": 90}],
    "tables": [
        {"name": "totals", "puts": 40, "updates": 0, "deletes": 1, "rejected": 0, "batches": 8, "retries": 0},
    ],
    "reasons": [{"cause": "not_final", "text": "The watermark has not passed a window.", "numbers": {"behind": 10}}],
}


class FakeEngine:
    """Answers `SLEEP` after some time, texts in `answers` as they say, and all else as the planner takes it."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.reset()

    def reset(self) -> None:
        """Forgets all."""
        self.answers: dict[str, StatementAnswer] = {}
        self.statements: list[Statement] = []
        self.withdrawn: list[str] = []
        self.catalog = Catalog()

    def relations(self) -> frozenset[str]:
        return frozenset(name.lower() for name in self.catalog.names())

    async def run(self, statement: Statement) -> StatementAnswer:
        self.statements.append(statement)
        try:
            answer = await self._answer(statement)
        except RefusedError as refused:
            errors = [{"code": each.code, "message": each.message} for each in refused.refusals]
            await self._log(statement, "refused", {"errors": errors})
            raise
        except asyncio.CancelledError:
            self.withdrawn.append(statement.text)
            raise
        await self._log(statement, "done", {"tag": answer.tag})
        return answer

    async def _answer(self, statement: Statement) -> StatementAnswer:
        if statement.text in self.answers:
            return self.answers[statement.text]
        if statement.text == "SLEEP":
            await asyncio.sleep(30)
        if statement.author == "rita":
            raise RefusedError((Refusal("C001", "42501", "permission denied to submit statements"),))
        try:
            *_, parsed = parse(Source("<sql>", statement.text))
            match parsed:
                case ast.Pause():
                    return await self._change(parsed.name.text, "PAUSE QUERY", "PAUSED")
                case ast.Resume():
                    return await self._change(parsed.name.text, "RESUME QUERY", "RUNNING")
                case ast.Drop():
                    return await self._change(parsed.name.text, "DROP QUERY", None)
            compilation = compile(statement.text, self.catalog)
        except CompileError as error:
            raise RefusedError(tuple(map(refuse, error.diagnostics))) from None
        self.catalog = compilation.catalog
        queries = [query.name for query in compilation.queries]
        notices = tuple(each.message for each in compilation.diagnostics)
        match parsed:
            case ast.Create() | ast.CreateAs() | ast.CreateView():
                kind = "VIEW" if isinstance(parsed, ast.CreateView) else parsed.kind.value
                await self._keep(parsed.name.text, kind, statement, queries)
                declared = isinstance(parsed, ast.Create)
                await self._note_lineage(parsed.name.text, queries, sorted(names_in(parsed)), is_declared=declared)
                return StatementAnswer(f"CREATE {kind}", notices=notices, queries=tuple(queries))
            case _:
                raise RefusedError((Refusal("B001", "0A000", f"{type(parsed).__name__} is not supported"),))

    async def _keep(self, name: str, kind: str, statement: Statement, queries: list[str]) -> None:
        await self._execute(
            "INSERT INTO penstock.relation (name, shown, kind, definition, author, columns, version)"
            " VALUES (lower(%s), %s, %s, %s, %s, '[]', 1)",
            *(name, name, kind, statement.text, statement.author),
        )
        for query in queries:
            await self._execute(
                "INSERT INTO penstock.query (name, relation, definition, author, state, plan, status)"
                " VALUES (%s, %s, %s, %s, 'RUNNING', %s, %s)",
                *(query, name, statement.text, statement.author, Jsonb(PLAN), Jsonb(STATUS)),
            )

    async def _note_lineage(self, name: str, queries: list[str], reads: list[str], *, is_declared: bool) -> None:
        await self._execute(
            "INSERT INTO penstock.lineage (relation, query, is_declared, connector, reads)"
            " VALUES (lower(%s), %s, %s, %s, %s)",
            *(name, queries[0] if queries else None, is_declared, "files" if is_declared else None, reads),
        )

    async def _change(self, name: str, tag: str, state: str | None) -> StatementAnswer:
        if state is None:
            await self._execute("DELETE FROM penstock.query WHERE name = %s", name)
            await self._execute("DELETE FROM penstock.relation WHERE name = lower(%s)", name)
            await self._execute("DELETE FROM penstock.lineage WHERE query = %s", name)
        else:
            await self._execute("UPDATE penstock.query SET state = %s WHERE name = %s", state, name)
        return StatementAnswer(tag)

    async def _log(self, statement: Statement, state: str, answer: dict[str, Any]) -> None:
        await self._execute(
            "INSERT INTO penstock.statement (text, author, door, state, answer, submitted, started, finished)"
            " VALUES (%s, %s, %s, %s, %s, now(), now(), now())",
            *(statement.text, statement.author, statement.door, state, Jsonb(answer)),
        )

    async def _execute(self, sql: str, *parameters: Any) -> None:
        async with await AsyncConnection.connect(self._url, autocommit=True) as connection:
            await connection.execute(sql, parameters)


def refuse(finding: Diagnostic) -> Refusal:
    """A finding as the engine hands it out."""
    state = "42601" if finding.code.startswith("S") else "42P01" if finding.code == "K012" else "42000"
    position = finding.labels[0].span.start + 1 if finding.labels else None
    return Refusal(finding.code, state, finding.message, finding.detail, finding.hint, position)
