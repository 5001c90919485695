"""Texts of statements with answers in the place of calls, and errors with places in the text that the user sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock.diagnostics import show_lines
from penstock.server.engine_protocol import Refusal
from penstock.server.postgres.answer_texts import sqlstate_of
from penstock.server.postgres.responses import Fields
from penstock.server.postgres.run_calls import RunCall

_SYNTAX_ERROR = b"42601"


def replace_arguments(text: str, calls: Sequence[RunCall], arguments: Sequence[str]) -> str:
    """The text with other arguments in the calls."""
    parts = []
    done = 0
    for call, argument in zip(calls, arguments, strict=True):
        parts += [text[done : call.start], argument]
        done = call.end
    return "".join([*parts, text[done:]])


def map_position(position: int, calls: Sequence[RunCall], arguments: Sequence[str]) -> int:
    """The place in the text for one in the text with other arguments. Both are counted from 1."""
    longer = 0
    for call, argument in zip(calls, arguments, strict=True):
        start = call.start + longer
        if position <= start:
            break
        if position <= start + len(argument):
            return call.start + 1
        longer += len(argument) - (call.end - call.start)
    return position - longer


def edit_own(position: int | None) -> Callable[[Fields], Fields]:
    """For a statement of Penstock. `position`: what its refusal is about, in the text that the user sent."""

    def edit(fields: Fields) -> Fields:
        kept = _without(fields, "P")
        return _show_refusal(kept, position) if _is_refusal(fields) else kept

    return edit


def edit_calls(position: int | None, calls: Sequence[RunCall], arguments: Sequence[str]) -> Callable[[Fields], Fields]:
    """For a statement that calls penstock.run."""

    def edit(fields: Fields) -> Fields:
        if _is_refusal(fields):
            return _show_refusal(fields, position)
        if "P" not in fields:
            return fields
        return {**fields, "P": str(map_position(int(fields["P"]), calls, arguments)).encode()}

    return edit


def refused_text(refusal: Refusal) -> str:
    """A text that no PostgreSQL accepts. Its syntax error is replaced, and it explains itself in the server's log."""
    return f"refused by penstock serve: {refusal.message}"


def edit_refused(refusal: Refusal) -> Callable[[Fields], Fields]:
    """Puts the refusal in the place of the syntax error of its text."""

    def edit(fields: Fields) -> Fields:
        if fields.get("C") != _SYNTAX_ERROR:
            return fields
        texts = {"C": sqlstate_of(refusal), "M": refusal.message, "H": show_lines(refusal.hint or "")}
        severity = {name: value for name, value in fields.items() if name in "SV"}
        return _with_position(severity | {name: text.encode() for name, text in texts.items()}, refusal.position)

    return edit


def _is_refusal(fields: Fields) -> bool:
    """Whether functions.sql raised it for the engine."""
    return b"penstock.report(" in fields.get("W", b"")


def _show_refusal(fields: Fields, position: int | None) -> Fields:
    """Without what tells of the functions."""
    return _with_position(_without(fields, "WFLR"), position)


def _with_position(fields: Fields, position: int | None) -> Fields:
    return fields if position is None else {**fields, "P": str(position).encode()}


def _without(fields: Fields, names: str) -> Fields:
    return {name: value for name, value in fields.items() if name not in names}
