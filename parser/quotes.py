"""Names and texts in the wrong quotes, or in none where they need them -> the same in the right ones."""

from __future__ import annotations

from penstock.diagnostics import Diagnostic
from penstock.grammar import NAME, STRING
from penstock.parser.stops import Stop
from penstock.parser.unparse_scalars import name_text, string_text

_NAMED = frozenset({"AS", "STREAM", "TABLE", "VIEW", "QUERY", "INTO", "JOIN", "UPDATE", "WITH", "EXISTS"})
_BEHIND = frozenset({"COMMA", "RPAR", "DOT", "EQUAL"})
_QUOTES = {'"': "double quotes are around names", "`": "backquotes are around names"}


def explain_keyword(found: Diagnostic, stop: Stop) -> Diagnostic | None:
    """The finding with a word of the language in quotes, where a name is meant."""
    if not 0 < stop.index < len(stop.tokens) or NAME not in stop.expected:
        return None
    word = stop.tokens[stop.index]
    if word.word is None or word.type == STRING or word.word not in stop.language.keywords or not _is_name(stop):
        return None
    quoted = stop.with_tokens(stop.index, stop.index + 1, word._replace(word=None))
    place = stop.find_stop(quoted)
    behind = stop.tokens[min(stop.index + 1, len(stop.tokens) - 1)]
    is_known = stop.tokens[stop.index - 1].word in _NAMED
    if place is not None and not (is_known and place > behind.start):
        return None
    written = name_text(word.value)
    if stop.find_text(place) == word.value:
        return found.with_hint(f"a name that is a word of the language is in quotes wherever it stands: {written}")
    return found.with_sql(written, after=" is a name: words of the language are quoted")


def _is_name(stop: Stop) -> bool:
    """Whether what is around a word tells that it is a name."""
    before = stop.tokens[stop.index - 1]
    if before.word in _NAMED or before.type == "DOT" or stop.index + 1 == len(stop.tokens):
        return True
    after = stop.tokens[stop.index + 1]
    return after.type in _BEHIND or after.word == "FROM" or (before.type in ("LPAR", "COMMA") and after.type == NAME)


def explain_quotes(found: Diagnostic, stop: Stop) -> Diagnostic | None:
    """The finding with a name as a text, where only a text may stand."""
    if stop.index >= len(stop.tokens) or STRING not in stop.expected or NAME in stop.expected:
        return None
    token = stop.tokens[stop.index]
    if token.type != NAME or token.word in stop.language.keywords:
        return None
    text = stop.with_tokens(stop.index, stop.index + 1, token._replace(type=STRING, word=None))
    if not stop.goes_on(text):
        return None
    why = _QUOTES.get(stop.source.text[token.start], "what has no quotes is a name")
    if stop.is_hidden(stop.index, stop.index + 1) or stop.find_text(stop.find_stop(text)) == token.value:
        return found.with_hint(f"texts are in single quotes, as in 'text': {why}")
    return found.with_sql(string_text(token.value), after=f" is a text: {why}")
