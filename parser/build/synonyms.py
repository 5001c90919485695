"""Calls of functions that other systems have -> expressions of the dialect that compute the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from sqlglot import exp

from penstock.diagnostics.source import Span
from penstock.parser.build.base import span_of
from penstock.parser.build.percentiles import PERCENTILES, expand_percentile
from penstock.parser.build.standard import enclose, repeat
from penstock.parser.build.units import BUILT
from penstock.parser.synonyms import SYNONYMS

Read = Callable[[str], exp.Expression]


def expand_call(call: exp.Expression, read: Read) -> exp.Expression:
    """The expression that the call stands for; itself if it is none of another system. `read` parses an expression."""
    if isinstance(call, exp.WithinGroup) or (isinstance(call.this, str) and call.this in PERCENTILES):
        return expand_percentile(call, read)
    if not isinstance(call, exp.Anonymous) or any(isinstance(each, exp.Lambda | exp.Star) for each in call.expressions):
        return call
    key = (str(call.this), len(call.expressions))
    if key in _TEXTS:
        parameters, meaning = _read_entry(key, read)
        return _fill(meaning.copy(), dict(zip(parameters, call.expressions, strict=True)), span_of(call))
    build = BUILT.get(str(call.this))
    return call if build is None else build(call)


_TEXTS = {(text.partition("(")[0], 0 if "()" in text else text.count(",") + 1): (text, to) for text, to in SYNONYMS}


@cache
def _read_entry(key: tuple[str, int], read: Read) -> tuple[list[str], exp.Expression]:
    """The names of the arguments, and what they are put into."""
    text, meaning = _TEXTS[key]
    names = text.partition("(")[2].rstrip(")").split(", ") if key[1] else []
    return names, read(meaning)


def _fill(node: exp.Expression, arguments: dict[str, exp.Expression], span: Span) -> exp.Expression:
    """The expression with its names replaced. All of it that was not written stands for the call."""
    used: set[str] = set()
    for part in list(node.walk()):
        part.meta["span"] = span
    for column in list(node.find_all(exp.Column)):
        value = arguments[column.name]
        value = value if isinstance(column.parent, exp.Anonymous) else enclose(value)
        column.replace(repeat(value) if column.name in used else value)
        used.add(column.name)
    return enclose(node)
