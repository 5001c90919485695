"""Round brackets around the types in a type, `ARRAY(STRING)` -> `ARRAY<STRING>`."""

from __future__ import annotations

from penstock.diagnostics import Diagnostic
from penstock.grammar import Token
from penstock.parser.stops import Stop

_TYPES = frozenset({"ARRAY", "MAP", "STRUCT"})
_REACH = 40
"""How many tokens before the stop a type may begin."""


def explain_type_brackets(found: Diagnostic, stop: Stop) -> Diagnostic | None:
    """The finding with angle brackets for the round ones behind ARRAY, MAP or STRUCT."""
    for place in range(min(stop.index, len(stop.tokens) - 1) - 1, max(stop.index - _REACH, 0), -1):
        if stop.tokens[place].word not in _TYPES or stop.tokens[place + 1].type != "LPAR":
            continue
        end = _find_closing(stop.tokens, place + 1)
        if end is None or stop.is_hidden(place, end):
            return None
        inside = stop.tokens[place + 2 : end - 1]
        instead = [_as_sign(stop.tokens[place + 1], "LESSTHAN", "<"), *inside]
        instead.append(_as_sign(stop.tokens[end - 1], "MORETHAN", ">"))
        if stop.goes_on(stop.with_tokens(place + 1, end, *instead)):
            word = stop.tokens[place].value
            within = stop.find_span(place + 2, end - 1).text if inside else ""
            return found.with_sql(f"{word}<{within}>", stop.find_span(place, end))
    return None


def _find_closing(tokens: list[Token], first: int) -> int | None:
    """The token behind the bracket that closes the one at `first`."""
    depth = 0
    for place in range(first, len(tokens)):
        depth += (tokens[place].type == "LPAR") - (tokens[place].type == "RPAR")
        if depth == 0:
            return place + 1
    return None


def _as_sign(token: Token, type_: str, sign: str) -> Token:
    return Token(type_, sign, token.start, token.end)
