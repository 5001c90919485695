"""WATERMARK as other systems or hasty hands write it -> `WATERMARK FOR time AS time - INTERVAL '10' SECOND`."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.diagnostics import Diagnostic
from penstock.grammar import NAME, Token
from penstock.parser.stops import Stop
from penstock.parser.unparse_scalars import name_text

_REACH = 6
_WORDS = frozenset({"FOR", "ON", "OF", "AS", "DELAY", "WATERMARK", "IS", "BY", "WITH"})
_USUAL = "INTERVAL '10' SECOND"
_SHAPE = f"WATERMARK FOR time AS time - {_USUAL}"


def explain_watermark(found: Diagnostic, stop: Stop) -> Diagnostic | None:
    """The finding with the watermark as it has to be; None where the grammar stops at no watermark."""
    first = next(
        (
            place
            for place in range(min(stop.index, len(stop.tokens) - 1), max(stop.index - _REACH, 0), -1)
            if stop.tokens[place].word == "WATERMARK"
        ),
        None,
    )
    if first is None or stop.tokens[0].word != "CREATE":
        return None
    if stop.tokens[first - 1].type not in ("COMMA", "LPAR"):
        return found.with_hint(f"a watermark is an item of the list of columns, behind a comma: {_SHAPE}")
    end = _find_end(stop.tokens, first)
    names = [token for token in stop.tokens[first + 1 : end] if token.type == NAME and token.word not in _WORDS]
    if not names or stop.is_hidden(first, end):
        return found.with_hint(_SHAPE)
    time = name_text(names[0].value)
    delay = next((place for place in range(first, end) if stop.tokens[place].word == "INTERVAL"), end)
    last = end - 1 if stop.tokens[first + 1].type == "LPAR" and stop.tokens[end - 1].type == "RPAR" else end
    length = stop.find_span(delay, last).text if delay < last else _USUAL
    written = f"WATERMARK FOR {time} AS {time} - {length}"
    tokens = stop.language.lexer.tokens(written)
    place = stop.tokens[first].start
    instead = [token._replace(start=place, end=place) for token in tokens]
    if not stop.goes_on(stop.with_tokens(first, end, *instead)):
        return found.with_hint(_SHAPE)
    return found.with_sql(written, stop.find_span(first, end))


def _find_end(tokens: Sequence[Token], first: int) -> int:
    """The token behind the item of a list of columns that begins at `first`."""
    depth = 0
    for place in range(first, len(tokens)):
        token = tokens[place]
        if depth == 0 and token.type in ("COMMA", "RPAR"):
            return place
        depth += (token.type == "LPAR") - (token.type == "RPAR")
    return len(tokens)
