"""`json -> 'a'`, `json ->> 'a'` and `json:a` of other systems -> GET_JSON_OBJECT with the same path."""

from __future__ import annotations

import re

from penstock.diagnostics import Diagnostic, Span
from penstock.grammar import NAME, NUMBER, STRING
from penstock.parser.stops import Stop
from penstock.parser.unparse_scalars import string_text

_STEP = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def explain_json_path(found: Diagnostic, stop: Stop) -> Diagnostic | None:
    """The finding with the call that reads the field; None where the grammar stops at no such sign."""
    first = _find_sign(stop)
    if first is None or first == 0 or stop.tokens[first - 1].type != NAME:
        return None
    begin = first - 1
    while begin > 1 and stop.tokens[begin - 1].type == "DOT" and stop.tokens[begin - 2].type == NAME:
        begin -= 2
    path, end = "", first
    while (step := _read_step(stop, end)) is not None:
        text, end = step
        path += text
    if not path or stop.is_hidden(begin, end):
        return None
    value = Span(stop.source, stop.tokens[begin].start, stop.tokens[first - 1].end)
    written = f"GET_JSON_OBJECT({value.text}, {string_text('$' + path)})"
    name = stop.tokens[first - 1]._replace(word=None)
    return (
        found.with_sql(written, stop.find_span(begin, end))
        if stop.goes_on(stop.with_tokens(begin, end, name))
        else None
    )


def _find_sign(stop: Stop) -> int | None:
    """The first of the signs, at or in front of the token at which the grammar stops."""
    for place in range(max(stop.index - 2, 0), min(stop.index + 1, len(stop.tokens))):
        if stop.tokens[place].type in ("ARROW", "COLON"):
            return place
    return None


def _read_step(stop: Stop, place: int) -> tuple[str, int] | None:
    """A step of a path, and the token behind it; None where there is none."""
    signs = [token.type for token in stop.tokens[place : place + 2]]
    end = place + 2 if signs == ["ARROW", "MORETHAN"] else place + 1
    if end >= len(stop.tokens) or not signs or signs[0] not in ("ARROW", "COLON", "DOT"):
        return None
    token = stop.tokens[end]
    if signs[0] == "ARROW" and token.type == NUMBER and token.value.isdecimal():
        return f"[{token.value}]", end + 1
    if token.type != (STRING if signs[0] == "ARROW" else NAME):
        return None
    return (f".{token.value}" if _STEP.fullmatch(token.value) else f"['{token.value}']"), end + 1
