"""Calls of `penstock.run('…')` in a statement of PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from penstock.server.postgres.tokens import Lexeme, Part

# A call in another statement, such as EXPLAIN or CREATE VIEW, would run although it is not executed.
_EXECUTED = {"select", "with", "(", "insert", "declare", "copy"}
_TEXT_TYPES = (["text"], ["varchar"], ["character", "varying"])


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

    def moved(self, places: int) -> RunCall:
        """The call in a text that has so many more characters in front."""
        body = None if self.body is None else self.body + places
        return replace(self, start=self.start + places, end=self.end + places, body=body)


def find_run_calls(tokens: Sequence[Lexeme], text: str) -> tuple[RunCall, ...]:
    """The calls of a statement of `text` whose argument is a constant or a parameter, in their order."""
    first = tokens[0].text
    if first not in _EXECUTED and not (first == "create" and _creates_table(tokens)):
        return ()
    found = (_read_call(tokens, at, text) for at in range(len(tokens) - 5))
    return tuple(call for call in found if call is not None)


def find_probed(tokens: Sequence[Lexeme], calls: Sequence[RunCall]) -> tuple[int, int] | None:
    """The begin and the end of the query that decides which of its calls are carried out; None if all of them are.

    That is so for `SELECT … FROM penstock.run('…')`. What a cursor does is known when its rows are fetched. A
    statement with more parameters than its calls have is not carried out without their values.
    """
    if tokens[0].is_word("declare") or _is_plain(tokens, calls):
        return None
    given = [call.parameter for call in calls if call.parameter]
    if sum(token.part is Part.PARAMETER for token in tokens) > len(given):
        return None
    if not tokens[0].is_word("copy"):
        return tokens[0].start, tokens[-1].end
    depth = 0
    for token in tokens[1:]:
        depth += token.opens
        if depth == 0:
            return tokens[1].end, token.start
    return None


def _is_plain(tokens: Sequence[Lexeme], calls: Sequence[RunCall]) -> bool:
    """Whether it is `SELECT * FROM penstock.run(…)` or `SELECT line FROM …`, maybe with an alias."""
    before = [token.text for token in tokens if token.end <= calls[0].start]
    if len(calls) > 1 or before not in (
        ["select", item, "from", "penstock", ".", "run", "("] for item in ("*", "line")
    ):
        return False
    after = [token for token in tokens if token.start >= calls[0].end]
    return len(after) == 1 or (len(after) == 3 and after[1].is_word("as") and after[2].is_name)


def _creates_table(tokens: Sequence[Lexeme]) -> bool:
    return any(token.is_word("table") for token in tokens[1:4])


def _read_call(tokens: Sequence[Lexeme], at: int, text: str) -> RunCall | None:
    if [token.text for token in tokens[at : at + 4]] != ["penstock", ".", "run", "("]:
        return None
    if not (tokens[at].is_name and tokens[at + 2].is_name):
        return None
    first = at + 4
    at = first
    while _is_sign(tokens, at, "("):  # pgjdbc puts brackets around what it writes into a statement
        at += 1
    opened = at - first
    if at == len(tokens) or tokens[at].part not in (Part.STRING, Part.PARAMETER):
        return None
    argument = tokens[at]
    for _ in range(opened + 1):
        at = _skip_cast(tokens, at + 1)
        if not _is_sign(tokens, at, ")"):
            return None
    start, end = tokens[first].start, tokens[at].start
    if argument.part is Part.PARAMETER:
        return RunCall(start, end, None, int(argument.text), None)
    body = text.find(argument.text, argument.start, argument.end)
    return RunCall(start, end, argument.text, 0, None if body < 0 else body)


def _is_sign(tokens: Sequence[Lexeme], at: int, sign: str) -> bool:
    return at < len(tokens) and tokens[at].is_sign(sign)


def _skip_cast(tokens: Sequence[Lexeme], at: int) -> int:
    """The place behind `::text` and the like, or the same place if there is none."""
    if not (_is_sign(tokens, at, ":") and _is_sign(tokens, at + 1, ":")):
        return at
    for name in _TEXT_TYPES:
        end = at + 2 + len(name)
        if [token.text for token in tokens[at + 2 : end]] == name:
            return end
    return at
