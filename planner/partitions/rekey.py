"""Sides of joins to re-key -> queries in which they are, and the SQL that says the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from penstock.diagnostics import Span
from penstock.planner.explain.expressions import expression_text
from penstock.planner.partitions.agree import RekeyFix
from penstock.planner.partitions.build import JOINED, PartitionGraph
from penstock.planner.plan import Expression, Filter, KStream, Node, Project, Rekey, RunningQuery
from penstock.planner.plan.walk import fold_plan

_LAST_NAME = re.compile(r"""(`(?:[^`]|``)+`|"(?:[^"]|"")+"|\w+)$""")


def rekey_sides(
    queries: Iterable[RunningQuery], fixes: Iterable[RekeyFix], script: PartitionGraph
) -> list[RunningQuery]:
    """The queries with the sides re-keyed, wherever their joins are read."""
    wanted = {(script.joins[each.join].span, each.side): each.keys for each in fixes}

    def rekey_inputs(node: Node, below: tuple[Node, ...]) -> Node:
        if isinstance(node, JOINED):
            keys = [wanted.get((node.span, side)) for side in range(len(below))]
            below = tuple(each if by is None else rekey(each, by) for each, by in zip(below, keys, strict=True))
        return node.with_inputs(below)

    return [replace(query, root=fold_plan(query.root, rekey_inputs)) for query in queries]


def rekey(node: Node, keys: tuple[Expression, ...], into: int | None = None, span: Span | None = None) -> Rekey:
    """The rows of a stream, partitioned by `keys`. Without a `span` it is SET auto_repartition that asks for it."""
    assert isinstance(node.shape, KStream)
    names = tuple(each.name for each in keys if isinstance(each, exp.Column))
    shape = replace(node.shape, key=names if len(names) == len(keys) else ())
    place = node.span if span is None else span
    return Rekey(schema=node.schema, shape=shape, span=place, input=node, keys=keys, into=into, inserted=span is None)


def with_partitions(queries: Iterable[RunningQuery], counts: Mapping[Span, int]) -> list[RunningQuery]:
    """The queries with the number of state partitions of the joins at these places."""

    def set_partitions(node: Node, below: tuple[Node, ...]) -> Node:
        node = node.with_inputs(below)
        return replace(node, partitions=counts.get(node.span)) if isinstance(node, JOINED) else node

    return [replace(query, root=fold_plan(query.root, set_partitions)) for query in queries]


@dataclass(frozen=True, slots=True)
class TextEdit:
    """What makes a subquery with PARTITION BY of a side of a join, at its place in the text; None where nothing can."""

    span: Span
    around: tuple[str, str] | None


def make_edit(fix: RekeyFix, script: PartitionGraph) -> TextEdit:
    """The subquery has the name of the relation. A side that is a join has none."""
    side, keys = side_node(fix, script), [key_text(each) for each in fix.keys]
    below = side
    while isinstance(below, Filter):
        below = below.input  # by a condition of ON or WHERE, which stays where it is
    name = _LAST_NAME.search(side.span.text)
    if not isinstance(below, Project) or name is None or None in keys:
        return TextEdit(side.span, None)
    return TextEdit(side.span, ("(SELECT STREAM * FROM ", f" PARTITION BY {', '.join(map(str, keys))}) AS {name[0]}"))


def apply_edits(statement: Span, edits: Iterable[TextEdit]) -> str | None:
    """The statement with the edits that are in it, of which one may be in another; None where one cannot be made."""
    places: list[tuple[int, str]] = []
    for each in edits:
        if is_inside(each.span, statement):
            if each.around is None:
                return None
            places += zip((each.span.start, each.span.end), each.around, strict=True)
    written = statement.text
    for place, text in sorted(places, reverse=True):
        at = place - statement.start
        written = f"{written[:at]}{text}{written[at:]}"
    return written


def key_text(key: Expression) -> str | None:
    """The key as it is written; None for what is nowhere written."""
    span = key.meta.get("span")
    if isinstance(key, exp.Cast) and key.this.meta.get("span") == span:
        inner = key_text(key.this)  # a cast that nobody wrote has the place of what it casts
        return inner and f"CAST({inner} AS {expression_text(key.to)})"
    return span.text if isinstance(span, Span) else None


def side_node(fix: RekeyFix, script: PartitionGraph) -> Node:
    return script.joins[fix.join].inputs[fix.side]


def is_inside(span: Span, whole: Span) -> bool:
    return span.source is whole.source and whole.start <= span.start and span.end <= whole.end
