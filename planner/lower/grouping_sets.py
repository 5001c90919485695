"""ROLLUP, CUBE and GROUPING SETS in GROUP BY -> the sets of keys that they stand for, and GROUPING over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TypeAlias

from sqlglot import exp

from penstock.diagnostics import CompileError, Span
from penstock.diagnostics.codes.event_time import W017
from penstock.diagnostics.codes.limits import L002
from penstock.planner.plan import Column, GroupingSets, KTable, Named, Node, make_column
from penstock.planner.plan.reserved import choose_unused_name
from penstock.planner.scalars.literals import bare
from penstock.planner.types import BIGINT

KeySet: TypeAlias = frozenset[int]
"""The keys of one grouping set, by their places among all keys."""

# Each row is processed once per set.
MOST_SETS = 256


def is_grouping_sets(expression: exp.Expression) -> bool:
    """Whether a GROUP BY expression stands for several sets of keys."""
    calls = ("ROLLUP", "CUBE")
    is_call = isinstance(expression, exp.Anonymous) and str(expression.this).upper() in calls
    return is_call or isinstance(expression, exp.GroupingSets)


def is_grouping_call(node: exp.Expression) -> bool:
    """Whether the node is GROUPING(key) or GROUPING_ID([keys])."""
    return isinstance(node, exp.Anonymous) and str(node.this).upper() in ("GROUPING", "GROUPING_ID")


def list_key_sets(expression: exp.Expression, place: Callable[[exp.Expression], int]) -> list[KeySet]:
    """The sets that one expression of GROUP BY stands for; `place` gives the place of a key."""
    if isinstance(expression, exp.GroupingSets):
        return [keys for each in expression.expressions for keys in _combine_members(each.expressions, place)]
    if not is_grouping_sets(expression):
        return [frozenset([place(expression)])]
    keys = [place(bare(each)) for each in expression.expressions]
    lengths = range(len(keys), -1, -1)
    if str(expression.this).upper() == "ROLLUP":
        return [frozenset(keys[:length]) for length in lengths]
    _check_count(2 ** len(keys), expression.meta["span"])
    return [frozenset(chosen) for length in lengths for chosen in combinations(keys, length)]


def _combine_members(keys: Sequence[exp.Expression], place: Callable[[exp.Expression], int]) -> list[KeySet]:
    bare_keys = [bare(key) for key in keys]
    if len(bare_keys) == 1:
        return list_key_sets(bare_keys[0], place)
    return [frozenset(place(key) for key in bare_keys)]


def combine_sets(parts: Sequence[Sequence[KeySet]], span: Span) -> list[KeySet]:
    """All keys of one set of each part together, for every choice of sets. Raises CompileError for equal ones."""
    sets: list[KeySet] = [frozenset()]
    for part in parts:
        _check_count(len(sets) * len(part), span)
        sets = [one | other for one in sets for other in part]
    if len(set(sets)) < len(sets):
        hint = "leave one of them out: both would give the same rows, with the same GROUPING_ID()"
        raise CompileError([W017.at(span, "").with_hint(hint)])
    return sets


def _check_count(count: int, span: Span) -> None:
    if count > MOST_SETS:
        found = L002.at(span, "", count=count, what="grouping sets", limit=MOST_SETS)
        raise CompileError([found.with_hint("name the sets that you need with GROUPING SETS")])


def compute_grouping_id(keys: KeySet, count: int) -> int:
    """A bit for each of the `count` keys, the first one highest: 1 where the set does not have it."""
    return sum(1 << (count - 1 - place) for place in range(count) if place not in keys)


def compute_grouping_value(call: exp.Expression, places: Sequence[int], count: int, id_: str) -> exp.Expression:
    """GROUPING or GROUPING_ID of the keys at `places`, or of all keys if there are no places.

    Reads the column `id_`.
    """

    def bit(place: int) -> exp.Expression:
        reference = exp.column(id_, quoted=True)
        reference.meta["grouped"] = True
        shifted = exp.IntDiv(this=reference, expression=exp.Literal.number(1 << (count - 1 - place)))
        return exp.Mod(this=exp.Paren(this=shifted), expression=exp.Literal.number(2))

    if str(call.this).upper() == "GROUPING":
        value: exp.Expression = exp.Cast(this=bit(places[0]), to=exp.DataType.build("TINYINT", dialect="spark"))
    else:
        weights = [1 << power for power in reversed(range(len(places)))]
        terms = [
            exp.Mul(this=bit(place), expression=exp.Literal.number(weight))
            for place, weight in zip(places, weights, strict=True)
        ]
        value = terms[0]
        for term in terms[1:]:
            value = exp.Add(this=value, expression=term)
    for node in value.walk():
        node.meta["span"] = call.meta["span"]
    return value


def expand_grouping_sets(
    node: Node, keys: Sequence[Named], sets: Sequence[KeySet], id_: str
) -> tuple[Node, list[Named]]:
    """The rows once per set, with the keys that the set has, and these and the set's id as keys over them.

    If `node` is a table, it sends changes.
    """
    taken = [column.name for column in node.schema]
    inner = [Named(choose_unused_name(f"_key{i}", taken), key.value, key.type) for i, key in enumerate(keys, 1)]
    inner_id = choose_unused_name("_grouping_id", taken)
    shape = KTable((*node.shape.key, inner_id)) if isinstance(node.shape, KTable) else node.shape
    added = [Column(inner_id, BIGINT, nullable=False), *(Column(key.name, key.type) for key in inner)]
    exploded = GroupingSets(
        schema=(*node.schema, *added),
        shape=shape,
        span=node.span,
        input=node,
        keys=tuple(inner),
        ids=tuple(compute_grouping_id(each, len(keys)) for each in sets),
        id_column=inner_id,
    )
    outer = [Named(key.name, make_column(each.name), key.type) for key, each in zip(keys, inner, strict=True)]
    return exploded, [*outer, Named(id_, make_column(inner_id), BIGINT)]
