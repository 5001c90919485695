"""Lengths of time as texts, `'5 minutes'`, where an interval has to stand -> that interval."""

from __future__ import annotations

from penstock.diagnostics import Diagnostic
from penstock.grammar import NAME, STRING, Token
from penstock.parser.ast.intervals import write_interval
from penstock.parser.stops import Stop


def explain_length(found: Diagnostic, stop: Stop) -> Diagnostic | None:
    """The finding with INTERVAL for the text in front of the token at which the grammar stops, or for this one."""
    for place in (stop.index - 1, stop.index):
        if not 0 < place < len(stop.tokens) or stop.tokens[place].type != STRING or stop.is_hidden(place, place + 1):
            continue
        written = write_interval(stop.tokens[place].value)
        if written is not None and stop.goes_on(stop.with_tokens(place, place + 1, *_split(stop.tokens[place]))):
            span = stop.find_span(place, place + 1)
            return found.with_sql(written, span, after=f" instead of {span.text}")
    return None


def _split(text: Token) -> tuple[Token, ...]:
    """The tokens of an interval in the place of a text."""
    words = (("INTERVAL", NAME, "INTERVAL"), ("1", STRING, None), ("SECOND", NAME, "SECOND"))
    return tuple(Token(type_, value, text.start, text.end, word) for value, type_, word in words)
