"""Answers of the engine as JSON, as they lie in the log of statements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.server.engine_protocol import Refusal, StatementAnswer


def answer_json(answer: StatementAnswer) -> dict[str, Any]:
    """An answer as the doors read it from the log of statements."""
    return {name: getattr(answer, name) for name in StatementAnswer.__slots__}


def refusal_json(refusals: tuple[Refusal, ...]) -> dict[str, Any]:
    """A refusal as the doors read it from the log of statements."""
    return {"errors": [{name: getattr(each, name) for name in Refusal.__slots__} for each in refusals]}


def read_answer(body: Mapping[str, Any]) -> StatementAnswer | tuple[Refusal, ...]:
    """The inverse of both."""
    if "errors" in body:
        return tuple(Refusal(**each) for each in body["errors"])
    lists = {name: tuple(body[name]) for name in ("columns", "notices", "types", "queries")}
    return StatementAnswer(tag=body["tag"], rows=tuple(tuple(row) for row in body["rows"]), **lists)
