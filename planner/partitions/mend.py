"""Sides of joins to re-key -> queries in which they are, and the SQL that says the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from penstock.diagnostics import Span
from penstock.parser import ast
from penstock.planner.expression_text import expression_text
from penstock.planner.partitions.agree import Mending
from penstock.planner.partitions.build import JOINED, Script
from penstock.planner.plan import Expression, KStream, Node, Project, Rekey, RunningQuery
from penstock.planner.plan.walk import folded, inputs, with_inputs

_LAST_NAME = re.compile(r"""(`(?:[^`]|``)+`|"(?:[^"]|"")+"|\w+)$""")


def rekeyed(queries: Iterable[RunningQuery], mendings: Iterable[Mending], script: Script) -> list[RunningQuery]:
    """The queries with the sides re-keyed, wherever their joins are read."""
    wanted = {(script.joins[each.join].span, each.side): each.keys for each in mendings}

    def changed(node: Node, below: tuple[Node, ...]) -> Node:
        if isinstance(node, JOINED):
            keys = [wanted.get((node.span, side)) for side in range(len(below))]
            below = tuple(each if by is None else rekey(each, by) for each, by in zip(below, keys, strict=True))
        return with_inputs(node, below)

    return [replace(query, root=folded(query.root, changed)) for query in queries]


def rekey(node: Node, keys: tuple[Expression, ...], into: int | None = None, span: Span | None = None) -> Rekey:
    """The rows of a stream partitioned by `keys`; without a place of its own, because SET auto_repartition says so."""
    assert isinstance(node.shape, KStream)
    names = tuple(each.name for each in keys if isinstance(each, exp.Column))
    shape = replace(node.shape, key=names if len(names) == len(keys) else ())
    place = node.span if span is None else span
    return Rekey(schema=node.schema, shape=shape, span=place, input=node, keys=keys, into=into, inserted=span is None)


def with_partitions(queries: Iterable[RunningQuery], counts: Mapping[Span, int]) -> list[RunningQuery]:
    """The queries with the number of state partitions of the joins at these places."""

    def changed(node: Node, below: tuple[Node, ...]) -> Node:
        node = with_inputs(node, below)
        return replace(node, partitions=counts.get(node.span)) if isinstance(node, JOINED) else node

    return [replace(query, root=folded(query.root, changed)) for query in queries]


def proposal(mendings: Sequence[Mending], script: Script, statements: Iterable[ast.Statement]) -> str | None:
    """The one statement in which the sides have to be re-keyed, with a PARTITION BY at each; None if that is not so."""
    edits = [(side_span(each, script), relation(each, script)) for each in mendings]
    for statement in statements:
        whole = statement.span
        if all(text is not None and inside(span, whole) for span, text in edits):
            written = whole.text
            for span, text in sorted(edits, key=lambda edit: -edit[0].start):
                start, end = span.start - whole.start, span.end - whole.start
                written = f"{written[:start]}{text}{written[end:]}"
            return written
    return None


def relation(mending: Mending, script: Script) -> str | None:
    """What to write in FROM for the side: a subquery with PARTITION BY, of its name. None where the side is a join."""
    side, keys = side_node(mending, script), [key_text(each) for each in mending.keys]
    name = _LAST_NAME.search(side.span.text)
    if not isinstance(side, Project) or name is None or None in keys:
        return None
    return f"(SELECT STREAM * FROM {side.span.text} PARTITION BY {', '.join(map(str, keys))}) AS {name[0]}"


def key_text(key: Expression) -> str | None:
    """The key as it is written; None for what is nowhere written."""
    span = key.meta.get("span")
    if isinstance(key, exp.Cast) and key.this.meta.get("span") == span:
        inner = key_text(key.this)  # a cast that nobody wrote has the place of what it casts
        return inner and f"CAST({inner} AS {expression_text(key.to)})"
    return span.text if isinstance(span, Span) else None


def side_node(mending: Mending, script: Script) -> Node:
    return inputs(script.joins[mending.join])[mending.side]


def side_span(mending: Mending, script: Script) -> Span:
    return side_node(mending, script).span


def inside(span: Span, whole: Span) -> bool:
    return span.source is whole.source and whole.start <= span.start and span.end <= whole.end
