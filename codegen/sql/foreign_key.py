"""ForeignKeyJoin -> buckets of references, in which Python workers keep the rows of both sides, and a DuckDB join.

A bucket has the left rows that refer to some keys, and the newest records of these keys. In a micro-batch left rows
leave a bucket and come into one, maybe another, and records change. The left rows to which any of this happens leave
the result as they were, beside what they referred to before, and come into it as they are now. Views:

* `<name>_sides`: left rows, those that leave as deleted ones, and the records, each as a struct beside a NULL;
* `<name>_rows`, `<name>_tables`: these in tables, one for each bucket;
* `<name>_pairs`: moves of left rows, each beside the record that it refers to;
* `<name>`: moves of the joined rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.codegen.program import LookupView, Step, View
from penstock.codegen.sql.changes import DELETED, ORDER, SIGN
from penstock.codegen.sql.gathered import rows_view, tables_view
from penstock.codegen.sql.lookup import NO_TIME, joined, order_of, origin_of, row_of
from penstock.codegen.sql.printing import print_duckdb, print_sql
from penstock.codegen.sql.trees import (
    both,
    call,
    cast,
    column,
    column_of,
    named,
    null,
    number,
    rows_where,
    select,
    table,
)
from penstock.codegen.stages import STAGE
from penstock.planner.plan import Expression, ForeignKeyJoin, JoinType, Node
from penstock.planner.types import BIGINT

_LEAVES = exp.LT(this=column(SIGN), expression=number(0))


def foreign_key_views(node: ForeignKeyJoin, name: str, lefts: str, rights: str, buckets: int) -> tuple[Step, ...]:
    """The views; the last one has the node's schema and MOVE. References are spread over so many `buckets`."""
    references = [f"k{place}" for place in range(len(node.equalities))]
    key = [column(each) for each in node.shape.key] or [exp.Boolean(this=True)]
    identity = [f"i{place}" for place in range(len(key))]
    sides = View(f"{name}_sides", print_sql(_sides(node, references, key, lefts, rights)))
    facts = ("is_left", *references, *identity, "version", "order", "deleted")
    fields = ((each, column(each)) for each in (*facts, "left", "right"))
    rows = rows_view(name, sides.name, "time", [*map(column, references)], fields, buckets=buckets)
    tables = tables_view(name, rows)
    shown = [named(column("row", each), each) for each in ("left", "right")]
    pairs = LookupView(
        name=f"{name}_pairs",
        source=tables.name,
        newest=print_duckdb(_newest(references, identity)),
        sql=print_duckdb(_pairs(node, references, identity)),
        given=facts,
        kept=("left",),
        picked=(("right", "right"),),
        schema=print_sql(select([*shown, named(null(BIGINT), SIGN)], rows.name)),
    )
    return sides, rows, tables, pairs, View(name, print_sql(joined(node, node.left, node.right, pairs.name, (SIGN,))))


def _sides(
    node: ForeignKeyJoin, references: Sequence[str], key: Sequence[Expression], lefts: str, rights: str
) -> Expression:
    """Columns `time`, `is_left`, the reference, the left row's key, `version`, `order`, `deleted`, `left`, `right`."""
    left = [
        NO_TIME,
        named(exp.Boolean(this=True), "is_left"),
        *(named(one, name) for (one, _), name in zip(node.equalities, references, strict=True)),
        *(named(part, f"i{place}") for place, part in enumerate(key)),
        named(column(ORDER), "version"),
        named(exp.Null(), "order"),
        named(_LEAVES, "deleted"),
        named(row_of(node.left), "left"),
        named(exp.Null(), "right"),
    ]
    right = [
        NO_TIME.copy(),
        named(exp.Boolean(this=False), "is_left"),
        *(named(other, name) for (_, other), name in zip(node.equalities, references, strict=True)),
        *(named(exp.Null(), f"i{place}") for place in range(len(key))),
        named(exp.Null(), "version"),
        named(order_of(node.right), "order"),
        named(_deleted(node.right), "deleted"),
        named(exp.Null(), "left"),
        named(row_of(node.right), "right"),
    ]
    return exp.Union(this=select(left, lefts), expression=select(right, rights), distinct=False)


def _deleted(table: Node) -> Expression:
    """Of an intermediate changelog moves are read, because it may be that of the left side, too."""
    return _LEAVES.copy() if origin_of(table).connector == STAGE else column(DELETED)


def _newest(references: Sequence[str], identity: Sequence[str]) -> Expression:
    """DuckDB's SELECT: the places of the left rows that are in the bucket, and of the newest record of each key."""
    is_left = column("is_left")
    last = [named(call("ARG_MAX", column(each), column("version")), each) for each in ("place", "deleted")]
    lefts = select(last, "rows").where(is_left, copy=False).group_by(*map(column, identity), copy=False)
    there = exp.Select(expressions=[column("place")]).from_(_aliased(lefts, "l"), copy=False)
    there = there.where(exp.Not(this=column("deleted")), copy=False)
    newest = named(call("ARG_MAX", column("place"), column("order")), "place")
    rights = select([newest], "rows").where(exp.Not(this=is_left.copy()), copy=False)
    return exp.Union(this=there, expression=rights.group_by(*map(column, references), copy=False), distinct=False)


def _pairs(node: ForeignKeyJoin, references: Sequence[str], identity: Sequence[str]) -> Expression:
    """DuckDB's SELECT: of each move the place of the left row, that of its record, and the sign."""
    is_left, is_right = column("is_left"), exp.Not(this=column("is_left"))
    there = exp.Not(this=column("deleted"))
    touched = _touched(references, identity)
    same = both(*(exp.NullSafeEQ(this=column_of("l", each), expression=column_of("t", each)) for each in identity))
    equal = both(
        exp.EQ(this=column_of("l", "sign"), expression=column_of("r", "sign")),
        *(exp.EQ(this=column_of("l", each), expression=column_of("r", each)) for each in references),
    )
    shown = [
        named(column_of("l", "place"), "place"),
        named(column_of("r", "place"), "right"),
        named(cast(column_of("l", "sign"), BIGINT), SIGN),
    ]
    tree = exp.Select(expressions=shown).from_(_aliased(_before_and_after(is_left, there), "l"), copy=False)
    tree.append("joins", exp.Join(this=_aliased(touched, "t"), on=same))
    side = {"side": "LEFT"} if node.type is JoinType.LEFT else {}
    rights = _before_and_after(is_right, there.copy())
    tree.append("joins", exp.Join(this=_aliased(rights, "r"), on=equal, **side))
    return tree


def _touched(references: Sequence[str], identity: Sequence[str]) -> Expression:
    """The keys of the left rows to which something happens: those that have come or left, or whose record has."""
    is_new = exp.Not(this=column("known"))
    own = select(map(column, identity), "rows").where(both(column("is_left"), is_new), copy=False)
    records = rows_where(_all(exp.Not(this=column("is_left")), is_new.copy()), "n")
    equal = both(*(exp.EQ(this=column_of("o", each), expression=column_of("n", each)) for each in references))
    others = exp.Select(expressions=[named(column_of("o", each), each) for each in identity])
    others = others.from_(rows_where(column("is_left"), "o"), copy=False)
    others.append("joins", exp.Join(this=records, on=equal))
    return exp.Union(this=own, expression=others, distinct=True)


def _before_and_after(which: Expression, there: Expression) -> Expression:
    """The rows of one side that were in the bucket before, with sign -1, and those that are now, with 1."""

    def one(sign: int, mark: str) -> Expression:
        tree = exp.Select(expressions=[exp.Star(), named(number(sign), "sign")]).from_(table("rows"), copy=False)
        return tree.where(_all(which.copy(), there.copy(), column(mark)), copy=False)

    return exp.Union(this=one(-1, "known"), expression=one(1, "newest"), distinct=False)


def _all(*conditions: Expression) -> Expression:
    result = both(*conditions)
    assert result is not None
    return result


def _aliased(query: Expression, alias: str) -> exp.Subquery:
    return exp.Subquery(this=query, alias=exp.TableAlias(this=exp.Identifier(this=alias, quoted=True)))
