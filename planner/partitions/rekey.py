"""Re-keys sides of joins: in the plans of queries, and as edits of the script's text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import Span
from penstock.planner.partitions.agree import RekeyFix
from penstock.planner.partitions.build import JOINED, PartitionGraph
from penstock.planner.plan import Expression, Filter, KStream, Node, Project, Rekey, RunningQuery
from penstock.planner.plan.texts import expression_text
from penstock.planner.plan.walk import fold_plan

_LAST_NAME = re.compile(r"""(`(?:[^`]|``)+`|"(?:[^"]|"")+"|\w+)$""")


def rekey_sides(
    queries: Iterable[RunningQuery], fixes: Iterable[RekeyFix], script: PartitionGraph
) -> list[RunningQuery]:
    """Re-keys the sides in each query that contains their joins."""
    wanted = {(script.joins[each.join].span, each.side): each.keys for each in fixes}

    def rekey_inputs(node: Node, below: tuple[Node, ...]) -> Node:
        if isinstance(node, JOINED):
            sides = [wanted.get((node.span, side)) for side in range(len(below))]
            below = tuple(each if keys is None else rekey(each, keys) for each, keys in zip(below, sides, strict=True))
        return node.with_inputs(below)

    return [replace(query, root=fold_plan(query.root, rekey_inputs)) for query in queries]


def rekey(node: Node, keys: tuple[Expression, ...], into: int | None = None, span: Span | None = None) -> Rekey:
    """The rows of a stream, partitioned by `keys`. Without a `span`, the planner inserts it."""
    assert isinstance(node.shape, KStream)
    names = tuple(each.name for each in keys if isinstance(each, exp.Column))
    shape = replace(node.shape, key=names if len(names) == len(keys) else ())
    place = node.span if span is None else span
    return Rekey(schema=node.schema, shape=shape, span=place, input=node, keys=keys, into=into, inserted=span is None)


def with_partitions(queries: Iterable[RunningQuery], counts: Mapping[Span, int]) -> list[RunningQuery]:
    """Sets the number of state partitions of the joins at these places."""

    def set_partitions(node: Node, below: tuple[Node, ...]) -> Node:
        node = node.with_inputs(below)
        return replace(node, partitions=counts.get(node.span)) if isinstance(node, JOINED) else node

    return [replace(query, root=fold_plan(query.root, set_partitions)) for query in queries]


class TextEdit(msgspec.Struct, frozen=True):
    """An edit that makes a side of a join a subquery with PARTITION BY."""

    span: Span
    around: tuple[str, str] | None
    """The text before and after the side, None if the edit cannot be written."""


def make_edit(fix: RekeyFix, script: PartitionGraph) -> TextEdit:
    """The edit that re-keys a side. The subquery takes the name of the relation; a join has no name to take."""
    side, keys = find_side_node(fix, script), [print_key(each) for each in fix.keys]
    below = side
    while isinstance(below, Filter):
        below = below.input  # a condition of ON or WHERE stays where it is written
    name = _LAST_NAME.search(side.span.text)
    if not isinstance(below, Project) or name is None or None in keys:
        return TextEdit(side.span, None)
    return TextEdit(side.span, ("(SELECT STREAM * FROM ", f" PARTITION BY {', '.join(map(str, keys))}) AS {name[0]}"))


def apply_edits(statement: Span, edits: Iterable[TextEdit]) -> str | None:
    """The text of the statement after the edits inside it, which may be nested. None if one cannot be written."""
    insertions: list[tuple[int, str]] = []
    for each in edits:
        if is_inside(each.span, statement):
            if each.around is None:
                return None
            insertions += zip((each.span.start, each.span.end), each.around, strict=True)
    text_after = statement.text
    for place, text in sorted(insertions, reverse=True):
        at = place - statement.start
        text_after = f"{text_after[:at]}{text}{text_after[at:]}"
    return text_after


def print_key(key: Expression) -> str | None:
    """The key as the script writes it, None if it is not in the script."""
    span = key.meta.get("span")
    if isinstance(key, exp.Cast) and key.this.meta.get("span") == span:
        inner = print_key(key.this)  # an implicit cast has the place of its operand
        return inner and f"CAST({inner} AS {expression_text(key.to)})"
    return span.text if isinstance(span, Span) else None


def find_side_node(fix: RekeyFix, script: PartitionGraph) -> Node:
    return script.joins[fix.join].inputs[fix.side]


def is_inside(span: Span, whole: Span) -> bool:
    return span.source is whole.source and whole.start <= span.start and span.end <= whole.end
