"""Answers of the engine -> statements of PostgreSQL that answer the same, by the functions of functions.sql."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from penstock.diagnostics import show_lines
from penstock.server.engine_protocol import Refusal, RefusedError, StatementAnswer

_SQLSTATE = 5


def select_text(columns: Sequence[str], value: str) -> str:
    """A SELECT of the rows of an answer. `value`: the answer as an expression."""
    items = ", ".join(f"r ->> {place} AS {_quoted_name(name)}" for place, name in enumerate(columns))
    return f"SELECT {items} FROM penstock.answer({value}) AS r"


def call_text(value: str) -> str:
    """A statement that answers with no rows. `value`: the answer as an expression."""
    return f"CALL penstock.finish({value})"


def answer_text(columns: Sequence[str], value: str) -> str:
    """The statement for an answer with these columns."""
    return select_text(columns, value) if columns else call_text(value)


def constant(answer: bytes) -> str:
    """An answer as a constant of SQL. It means the same whatever the session has set."""
    text = answer.decode().replace("$", r"\u0024")
    return f"$penstock${text}$penstock$::pg_catalog.jsonb"


def pack_answer(answer: StatementAnswer) -> bytes:
    """The answer as penstock.answer and penstock.finish take it."""
    return _to_json({"notices": _show_notices(answer), "rows": answer.rows})


def pack_lines(answer: StatementAnswer) -> bytes:
    """The answer as penstock.run takes it: a text for each row.

    Several columns are joined by tabs below a line of their names. A statement without rows answers with its tag.
    """
    if not answer.columns:
        lines = [answer.tag]
    else:
        rows = [answer.columns, *answer.rows] if len(answer.columns) > 1 else answer.rows
        lines = ["\t".join(value or "" for value in row) for row in rows]
    return _to_json({"notices": _show_notices(answer), "lines": lines})


def pack_refusal(error: RefusedError) -> bytes:
    """The first refusal as an answer, the others among its details."""
    first, *others = error.refusals
    details = [first.detail] if first.detail else []
    details += [_message(each) for each in others]
    return _to_json(
        {
            "sqlstate": sqlstate_of(first),
            "message": _message(first),
            "detail": "\n".join(details),
            "hint": show_lines(first.hint or ""),
        }
    )


def sqlstate_of(refusal: Refusal) -> str:
    """Its SQLSTATE, or the SQLSTATE of an internal error if it is not one."""
    state = refusal.sqlstate
    good = len(state) == _SQLSTATE and state.isascii() and state.isalnum() and state == state.upper()
    return state if good and not state.startswith("00") else "XX000"


def _show_notices(answer: StatementAnswer) -> list[str]:
    """The notices as psql may print them, which shows texts of a server as they are."""
    return [show_lines(each) for each in answer.notices]


def _message(refusal: Refusal) -> str:
    return f"{refusal.code}: {refusal.message}" if refusal.code else refusal.message


def _to_json(value: dict[str, Any]) -> bytes:
    """The value in ASCII, with all that PostgreSQL can store."""
    text = json.dumps(value, separators=(",", ":")).replace(r"\u0000", "")
    if r"\ud" in text:  # perhaps half a character
        text = json.dumps(json.loads(_without_halves(json.dumps(value, ensure_ascii=False)).replace(r"\u0000", "")))
    return text.encode()


def _without_halves(text: str) -> str:
    """With a question mark in the place of half a character of UTF-16, which no database stores."""
    return text.encode("utf-8", "replace").decode()


def _quoted_name(name: str) -> str:
    """A column's name as an identifier in ASCII."""
    name = _without_halves(name).replace("\x00", "").replace('"', '""')
    if name.isascii():
        return f'"{name}"'
    escaped = name.replace("\\", r"\\")
    return 'U&"' + "".join(each if each.isascii() else rf"\+{ord(each):06x}" for each in escaped) + '"'
