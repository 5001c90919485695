"""Functions and texts of Spark that mean something else in Penstock."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from penstock.translate.foreign_statement import Foreign
from penstock.translate.meanings import shared
from penstock.translate.meanings.call import Change, Rule, tell

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|.)", re.DOTALL)
_ESCAPED = {"0": "\0", "b": "\b", "t": "\t", "n": "\n", "r": "\r", "Z": "\x1a", "%": "\\%", "_": "\\_"}

RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("COLLECT_LIST", "COLLECT_SET", "ARRAY_AGG", "LISTAGG", "STRING_AGG"), shared.tell_order),
    "MODE": tell("MODE gives the first of several values that are there equally often; in Spark any of them"),
}


def edit_text(statement: Foreign, place: int) -> Iterator[Change]:
    """For a text of Spark: what to write, and what to tell.

    Double quotes are around texts there, a backslash begins an escape, and r'…' has none.
    """
    token = statement.tokens[place]
    if token.type == "STRING" and statement.text[token.start] in "rR":
        yield place + 1, (statement.text[token.start + 1 : token.end],), ""
        return
    is_double = statement.text[token.start] == '"'
    if not is_double and not (token.type == "STRING" and "\\" in token.value):
        return
    value = _ESCAPE.sub(_unescape, token.value)
    told = (
        'texts are in single quotes: "…" is a name' if is_double else "a backslash in a text is a backslash, no escape"
    )
    yield place + 1, (shared.quote(value),), told


def _unescape(match: re.Match[str]) -> str:
    escape = match[1]
    if len(escape) in (5, 9):
        code = int(escape[1:], 16)
        return chr(code) if code < 0x110000 else match[0]
    return chr(int(escape, 8)) if len(escape) == 3 else _ESCAPED.get(escape, escape)
