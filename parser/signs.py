"""Signs that only look like signs of the language, such as curly quotes and long dashes -> the right ones."""

from __future__ import annotations

import re
from collections.abc import Iterable
from unicodedata import normalize

from penstock.diagnostics import Diagnostic, Source, Span
from penstock.diagnostics.codes import syntax
from penstock.grammar import Fault, Token
from penstock.parser.unparse_scalars import string_text

# Quotes that word processors and keyboards make of straight ones.
_CURLY = "\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a\u00b4\u2032\u2033"
_TEXT = re.compile(rf"[{_CURLY}]([^{_CURLY}'`\"\n]*+)[{_CURLY}'`\"]")
_CLOSED = re.compile(rf"'([^{_CURLY}'\n]*+)[{_CURLY}]")
_SIGNS = frozenset("&!^:,.=-<([>%+)]/*~|;")
_ALIKE = {
    **dict.fromkeys("\u2013\u2014\u2212", "-"),
    "\u2265": ">=",
    "\u2264": "<=",
    "\u2260": "<>",
    "\u00d7": "*",
    "\u00f7": "/",
}


def find_lookalikes(source: Source, tokens: Iterable[Token]) -> list[Diagnostic]:
    """A finding for each of such signs, with what to write, up to the first character that is something else."""
    found: list[Diagnostic] = []
    behind = 0
    for token in tokens:
        if not isinstance(token.type, Fault) or token.start < behind:
            continue
        each = _explain_sign(source, token) if token.type is Fault.UNKNOWN_CHARACTER else None
        if each is None:
            break
        found.append(each)
        behind = token.end if each.paste is None else each.paste.span.end
    return found


def explain_closing(found: Diagnostic) -> Diagnostic | None:
    """The finding about a text that is never closed, with a straight quote where it has a curly one; None elsewhere."""
    span = found.labels[0].span
    text = _CLOSED.match(span.source.text, span.start)
    if text is None or span.source.shown[text.start() : text.end()] != text[0]:
        return None
    at = Span(span.source, text.start(), text.end())
    return found.with_sql(string_text(text[1]), at, after=" has two straight quotes")


def _explain_sign(source: Source, token: Token) -> Diagnostic | None:
    found = syntax.S006.at(Span(source, token.start, token.end), character=repr(token.value))
    if token.value in _CURLY:
        return _explain_quote(found, source, token)
    folded = normalize("NFKC", token.value)
    sign = _ALIKE.get(token.value, folded if folded in _SIGNS and not token.value.isascii() else None)
    return None if sign is None else found.with_sql(sign, before="the sign of the language is ")


def _explain_quote(found: Diagnostic, source: Source, token: Token) -> Diagnostic:
    """The finding with the text in straight quotes."""
    text = _TEXT.match(source.text, token.start)
    if text is None or source.shown[text.start() : text.end()] != text[0]:
        return found.with_hint("texts are in straight quotes: 'text'")
    at = Span(source, text.start(), text.end())
    return found.with_sql(string_text(text[1]), at, after=" has the straight quotes of a text")
