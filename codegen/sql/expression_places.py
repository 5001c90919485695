"""Which part of a printed text comes from which part of the script.

A tree is laid out twice: for Spark, and on one line with a mark around each node that has a place in the script. Only
their blanks and the marks tell the two texts apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from sqlglot import exp

from penstock.codegen.program import Place, Printed, RowFault
from penstock.diagnostics.source import Span
from penstock.planner.functions import NULL_FORMS, find_function
from penstock.planner.plan import Expression

# A marked node is printed as a call of such a function, with `_END` as its last argument. No script has these.
_BEGIN, _END = "\x01", "\x02"
_MARK = re.compile(rf"{_BEGIN}(\d+)\(|,{_END}\)")
# Marks make a tree higher, and sqlglot recurses. What is deeper is at the place of what is around it.
_DEEPEST = 60


@dataclass(frozen=True, slots=True)
class Sign:
    """How an operator is called in places, and what it may fail with for a row."""

    text: str
    raises: tuple[RowFault, ...]


_SIGNS: dict[type[exp.Expression], Sign] = {
    exp.Add: Sign("+", (RowFault.ARITHMETIC, RowFault.TIME_RANGE)),
    exp.Sub: Sign("-", (RowFault.ARITHMETIC, RowFault.TIME_RANGE)),
    exp.Neg: Sign("-x", (RowFault.OVERFLOW,)),
    exp.Mul: Sign("*", (RowFault.ARITHMETIC,)),
    exp.Div: Sign("/", (RowFault.ARITHMETIC, RowFault.ZERO_DIVISOR)),
    exp.IntDiv: Sign("DIV", (RowFault.ZERO_DIVISOR,)),
    exp.Mod: Sign("%", (RowFault.ZERO_DIVISOR,)),
    exp.Bracket: Sign("[]", (RowFault.INDEX,)),
    exp.Like: Sign("LIKE", (RowFault.LIKE_PATTERN,)),
    exp.ILike: Sign("ILIKE", (RowFault.LIKE_PATTERN,)),
    exp.RegexpLike: Sign("RLIKE", (RowFault.PATTERN,)),
}
_NULL_FORMS = {**NULL_FORMS, exp.Bracket: "GET"}
_MARKED = (*_SIGNS, exp.Anonymous, exp.Cast)

_printed: ContextVar[list[Printed] | None] = ContextVar("_printed", default=None)


@contextmanager
def record_places() -> Iterator[list[Printed]]:
    """Gives the list to which each text that is printed inside is added, if it has places in the script."""
    texts: list[Printed] = []
    token = _printed.set(texts)
    try:
        yield texts
    finally:
        _printed.reset(token)


def record(tree: Expression, sql: str, lay_out: Callable[[Expression], str]) -> None:
    """Notes the places in `sql`, which `tree` was printed as, if somebody wants to know them. The tree is marked."""
    texts = _printed.get()
    if texts is None or _BEGIN in sql:
        return
    nodes: list[Expression] = [node for node in tree.walk() if isinstance(node, exp.Expression) and _is_marked(node)]
    if not nodes:
        return
    root = exp.Paren(this=tree)  # a node without a parent cannot be replaced
    for number, node in enumerate(nodes):
        mark = exp.Anonymous(this=f"{_BEGIN}{number}")
        node.replace(mark)
        mark.set("expressions", [node, exp.Var(this=_END)])
    places = tuple(_places(nodes, _without_blanks(lay_out(root.this))))
    texts.append(Printed(sql, places))


def _is_marked(node: Expression) -> bool:
    return isinstance(node, _MARKED) and "span" in node.meta and node.depth < _DEEPEST


def _places(nodes: list[Expression], marked: str) -> Iterator[Place]:
    open_marks: list[tuple[int, int]] = []
    position = length = 0
    for mark in _MARK.finditer(marked):
        length += mark.start() - position
        position = mark.end()
        if mark[1]:
            open_marks.append((int(mark[1]), length))
        else:
            number, start = open_marks.pop()
            node = nodes[number]
            yield _place(node, start, length)


def _place(node: Expression, start: int, end: int) -> Place:
    span: Span = node.meta["span"]
    if isinstance(node, exp.Anonymous):
        name = str(node.this).upper()
        function = find_function(name)
        if function is None:
            return Place(start, end, name, span)
        null_form = f"TRY_{name}" if function.tried else None
        return Place(start, end, name, span, (), function.raises, function.spark_name, null_form, function.tried)
    if isinstance(node, exp.Cast):
        name, since = f"CAST AS {node.to.sql('spark')}", node.meta.get("since")
        return (
            Place(start, end, f"TRY_{name}", span, since=since)
            if isinstance(node, exp.TryCast)
            else Place(start, end, name, span, null_form="TRY_CAST", since=since)
        )
    sign = _SIGNS[type(node)]
    return Place(start, end, sign.text, span, _operands(node), sign.raises, null_form=_NULL_FORMS.get(type(node)))


def _operands(node: Expression) -> tuple[Span, ...]:
    """The places of an operator's operands, where all are known. Operands that have marks are inside these."""
    parts = [part.expressions[0] if str(part.name).startswith(_BEGIN) else part for part in node.iter_expressions()]
    spans: list[Span] = [part.meta["span"] for part in parts if "span" in part.meta]
    return tuple(spans) if len(spans) == len(parts) else ()


def _without_blanks(text: str) -> str:
    return re.sub(r"\s", "", text)
