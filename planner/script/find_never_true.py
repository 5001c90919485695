"""Warnings of conditions that are true for no row: comparisons with NULL, and invalid paths of JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from penstock.diagnostics import Diagnostic, Span
from penstock.diagnostics.codes.expression_types import T030, T031
from penstock.planner.plan import Expression, RunningQuery, UpdateRows
from penstock.planner.plan.walk import walk

_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like, exp.ILike, exp.RegexpLike, exp.Between)
_PATH = re.compile(r"\$(\.[^.\[]+|\['[^'?]+'\]|\[(\d+|\*)\])*")
_PATHS = ("GET_JSON_OBJECT",)


def find_never_true(query: RunningQuery) -> Iterator[Diagnostic]:
    """T030 and T031, once for each place in the script."""
    found: set[Span] = set()
    for expression in list_expressions(query):
        for node in expression.walk():
            warning = explain_path(node) if isinstance(node, exp.Anonymous) else explain_comparison(node)
            if warning is not None and warning.labels[0].span not in found:
                found.add(warning.labels[0].span)
                yield warning


def list_expressions(query: RunningQuery) -> Iterator[Expression]:
    """All scalar expressions of a query, also expressions that change rows of a table."""
    for node in walk(query.root):
        yield from node.expressions
    if isinstance(query.change, UpdateRows):
        yield from (each.value for each in (*query.change.assignments, *(query.change.default or ())))


def explain_comparison(node: exp.Expr) -> Diagnostic | None:
    """What is wrong with a comparison with NULL, None if it is none."""
    span: Span | None = node.meta.get("span")
    if isinstance(node, exp.Case) and node.this is not None:
        branch = next((each for each in node.args["ifs"] if is_null(each.this)), None)
        place = None if branch is None else branch.this.meta.get("span") or span
        if place is None:
            return None
        found = T030.at(place, "", condition="WHEN NULL").because("CASE compares by equality.")
        return found.with_hint(f"CASE WHEN {write(node.this)} IS NULL THEN …")
    if span is None:
        return None
    if isinstance(node, exp.In):
        values = node.expressions
        is_denied = isinstance(node.parent, exp.Not)
        if not values or not (any if is_denied else all)(map(is_null, values)):
            return None
        place = node.parent.meta.get("span") or span if is_denied and node.parent is not None else span
        left = write(node.this)
        others = [write(each) for each in values if not is_null(each)]
        if not is_denied:
            hint = f"{left} IS NULL"
        else:
            hint = f"{left} IS NOT NULL AND {left} NOT IN ({', '.join(others)})" if others else f"{left} IS NOT NULL"
        return T030.at(place, "", condition=shorten(place.text)).because(_REASON).with_sql(hint)
    if not isinstance(node, _COMPARED):
        return None
    sides = [each for each in node.iter_expressions() if not isinstance(each, exp.DataType)]
    if not any(map(is_null, sides)):
        return None
    found = T030.at(span, "", condition=shorten(span.text)).because(_REASON)
    other = next((each for each in sides if not is_null(each)), None)
    if isinstance(node, exp.EQ | exp.NEQ) and other is not None:
        return found.with_sql(f"{write(other)} IS {'NOT ' * isinstance(node, exp.NEQ)}NULL")
    return found


def explain_path(call: exp.Anonymous) -> Diagnostic | None:
    """What is wrong with the path in a call, None if nothing is."""
    name = str(call.this).upper()
    if name not in _PATHS or len(call.expressions) < 2:
        return None
    path = call.expressions[1]
    span = path.meta.get("span") or call.meta.get("span")
    if not isinstance(path, exp.Literal) or span is None or _PATH.fullmatch(path.name):
        return None
    better = next((each for each in (f"$.{path.name}", f"${path.name}") if _PATH.fullmatch(each)), "$.name")
    found = T031.at(span, "", function=name, path=shorten(path.name)).because("A path begins with $, the whole text.")
    quoted = better.replace("'", "''")
    return found.with_sql(f"'{quoted}'")


_REASON = "A comparison with NULL is NULL."


def is_null(value: exp.Expr) -> bool:
    """Whether a value is written as NULL, in any type."""
    while isinstance(value, exp.Cast | exp.Paren):
        value = value.this
    return isinstance(value, exp.Null)


def write(value: exp.Expr) -> str:
    """The value as it stands in the script."""
    span: Span | None = value.meta.get("span")
    return value.sql("spark") if span is None else span.text


def shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:59] + "…"
