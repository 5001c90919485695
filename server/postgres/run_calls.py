"""Calls of `penstock.run('…')` in a statement of PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.server.postgres.tokens import Lexeme, Part

# A call in another statement, such as EXPLAIN or CREATE VIEW, would run although it is not executed.
_EXECUTED = {"select", "with", "(", "insert", "declare", "copy"}
_TEXT_TYPES = (["text"], ["varchar"], ["character", "varying"])
_LONGEST_CAST = 5
"""Tokens of a cast to one of these types, and of the bracket behind it."""


@dataclass(frozen=True, slots=True)
class RunCall:
    """One call. Its argument takes the characters `start` to `end` of the message."""

    start: int
    end: int
    statement: str | None
    """None if a parameter gives the statement."""
    parameter: int
    """The number of that parameter, or 0."""
    body: int | None
    """The place of the statement's first character in the message, if it is written there character by character."""


def find_run_calls(tokens: Sequence[Lexeme], text: str) -> tuple[RunCall, ...]:
    """The calls of a statement of `text` whose argument is a constant or a parameter, in their order."""
    first = tokens[0].text
    if first not in _EXECUTED and not (first == "create" and _creates_table(tokens)):
        return ()
    found = (_read_call(tokens, at, text) for at in range(len(tokens) - 5))
    return tuple(call for call in found if call is not None)


def _creates_table(tokens: Sequence[Lexeme]) -> bool:
    return any(token.is_word("table") for token in tokens[1:4])


def _read_call(tokens: Sequence[Lexeme], at: int, text: str) -> RunCall | None:
    if [token.text for token in tokens[at : at + 4]] != ["penstock", ".", "run", "("]:
        return None
    if not (tokens[at].is_name and tokens[at + 2].is_name):
        return None
    argument, *rest = tokens[at + 4 : at + 5 + _LONGEST_CAST]
    close = next((place for place, token in enumerate(rest) if token.is_sign(")")), None)
    if close is None or not _is_cast_to_text(rest[:close]):
        return None
    end = rest[close].start
    match argument.part:
        case Part.STRING:
            body = text.find(argument.text, argument.start, argument.end)
            return RunCall(argument.start, end, argument.text, 0, None if body < 0 else body)
        case Part.PARAMETER:
            return RunCall(argument.start, end, None, int(argument.text), None)
        case _:
            return None


def _is_cast_to_text(tokens: Sequence[Lexeme]) -> bool:
    """Whether the tokens are nothing, or `::text` and the like."""
    texts = [token.text for token in tokens]
    return texts == [] or (texts[:2] == [":", ":"] and texts[2:] in _TEXT_TYPES)
