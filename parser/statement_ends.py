"""Statements that nothing separates, and SELECTs with two FROMs."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.grammar import NAME, Token
from penstock.parser.stops import Stop

_STARTS = {"CREATE", "INSERT", "SELECT", "SET", "UPDATE", "DELETE", "EXPLAIN", "DROP", "SHOW", "DESCRIBE", "WITH"}
_STARTS_OF_TESTS = {"TEST", "GIVEN", "THEN"}


class MissingEndError(CompileError):
    """Nothing separates a statement from the one behind it, whose tokens are `rest`."""

    def __init__(self, diagnostics: Iterable[Diagnostic], rest: list[Token]) -> None:
        super().__init__(diagnostics)
        self.rest = rest


def find_missing_end(stop: Stop) -> int | None:
    """The token with which the next statement begins; None where none does. A word such as CREATE may be an alias."""
    for place in range(max(stop.index - 2, 1), min(stop.index + 1, len(stop.tokens))):
        if _begins(stop, place) and stop.is_complete(stop.tokens[:place]):
            return place
    return None


def _begins(stop: Stop, place: int) -> bool:
    """Whether a statement may begin at a token. WITH begins one in front of a name and AS."""
    tokens = stop.tokens
    if tokens[0].word in _STARTS_OF_TESTS:  # no script has such a statement
        return tokens[place].word in _STARTS_OF_TESTS
    if tokens[place].word != "WITH":
        return tokens[place].word in _STARTS
    return tokens[place + 1].type == NAME and tokens[place + 2].word == "AS" if place + 2 < len(tokens) else False


def explain_missing_end(found: Diagnostic, stop: Stop, place: int) -> MissingEndError:
    """The finding with the semicolon in front of the token at `place`."""
    end = stop.tokens[place - 1].end
    at = Span(stop.source, end, end)
    word = stop.tokens[place].word
    return MissingEndError(
        [found.with_sql(";", at, before="a `", after=f"` is missing before {word}")], stop.tokens[place:]
    )


def explain_second_from(found: Diagnostic, stop: Stop) -> Diagnostic | None:
    """The finding where a SELECT has a FROM already; None elsewhere."""
    if stop.index >= len(stop.tokens) or stop.tokens[stop.index].word != "FROM":
        return None
    depth = 0
    for place in range(stop.index - 1, -1, -1):
        token = stop.tokens[place]
        depth += (token.type == "RPAR") - (token.type == "LPAR")
        if depth < 0 or (depth == 0 and token.word == "SELECT"):
            return None
        if depth == 0 and token.word == "FROM":
            first = Span(stop.source, token.start, token.end)
            hint = "a SELECT has one FROM: JOIN brings a second relation in, and a ; separates two statements"
            return found.also(first, "the first FROM").with_hint(hint)
    return None
