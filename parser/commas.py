"""Commas of a list that are one too many or one too few -> what the list looks like with the right ones."""

from __future__ import annotations

from penstock.diagnostics import Diagnostic, Span
from penstock.grammar import NAME, NUMBER, PREFERRED, RESERVED, STRING, Token
from penstock.parser.stops import Stop

_COMMA = "COMMA"
_CLOSING = frozenset({_COMMA, "RPAR", "RSQB", "MORETHAN"})
_LISTS = ("SELECT", "BY", "SET")
_OTHERS = ("FROM", "JOIN", "WHERE", "ON", "HAVING", "QUALIFY", "LIMIT", "EMIT")


def explain_spare_comma(found: Diagnostic, stop: Stop) -> Diagnostic | None:
    """A comma behind the last item of a list, in front of the first one, or behind another comma.

    A word such as ORDER is taken for a name behind it, so that the grammar may stop one token later.
    """
    for place in range(min(stop.index, len(stop.tokens) - 1), max(stop.index - 3, 0), -1):
        if stop.tokens[place].type != _COMMA:
            continue
        behind = stop.tokens[place + 1] if place + 1 < len(stop.tokens) else None
        if behind is not None and behind.type not in _CLOSING and behind.word not in stop.language.keywords:
            continue
        if not stop.goes_on(stop.with_tokens(place, place + 1)):
            continue
        first = place - 2 if stop.tokens[place - 1].type == _COMMA and place > 1 else place - 1
        if stop.is_hidden(first, place):
            return found.with_hint("leave out the comma behind the last one of a list")
        before = stop.find_span(first, place)
        following = stop.tokens[place + 1] if place + 1 < len(stop.tokens) else None
        after = "" if following is None or following.type == STRING else stop.show(following)
        after = f" {after}" if following is not None and following.type == NAME else after
        whole = Span(stop.source, before.start, stop.tokens[place].end)
        return found.with_sql(before.text, whole, before="leave out the comma: ", after=after)
    return None


def explain_missing_comma(found: Diagnostic, stop: Stop) -> Diagnostic | None:
    """No comma between two items of a list."""
    if stop.index >= len(stop.tokens):
        return None
    for place in (stop.index, stop.index - 1):
        token = stop.tokens[place]
        if token.type not in (NAME, STRING, NUMBER) or token.word in _NO_ITEMS or not _is_list(stop, place):
            continue
        end = stop.tokens[place - 1].end
        if stop.is_complete(stop.with_tokens(place, place, Token(_COMMA, ",", end, end))):
            if stop.is_hidden(place - 1, place + 1):
                return found.with_hint("a comma stands between two of a list")
            at = Span(stop.source, end, end)
            before, after = stop.find_span(place - 1, place).text, stop.find_span(place, place + 1).text
            return found.with_sql(",", at, before=f"a comma is missing: {before}", after=f" {after}")
    return None


def _is_list(stop: Stop, place: int) -> bool:
    """Whether a token is in the list of a SELECT, a GROUP BY or an ORDER BY, or in a list in parentheses."""
    depth = 0
    for each in range(place - 1, 0, -1):
        token = stop.tokens[each]
        depth += (token.type == "RPAR") - (token.type == "LPAR")
        if depth < 0 or (depth == 0 and token.word in _LISTS):
            return True
        if depth == 0 and token.word in _OTHERS:
            return False
    return stop.tokens[0].word in _LISTS


_NO_ITEMS = RESERVED | PREFERRED
