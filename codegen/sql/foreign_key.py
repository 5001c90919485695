"""ForeignKeyJoin -> buckets of references, in which Python workers keep the rows of both sides, and a DuckDB join.

A bucket has the left rows that refer to some keys, and the newest upserts of these keys. In a micro-batch left rows are
deleted from a bucket and inserted into one, maybe another, and right rows change. Each left row that is affected is
deleted from the result beside its former right row, and inserted beside its present one. Views:

* `<name>_sides`: left rows, deletes included, and the upserts of the right side, each as a struct beside a NULL;
* `<name>_rows`, `<name>_tables`: these in tables, one for each bucket;
* `<name>_pairs`: deltas of left rows, each beside the right row that it refers to;
* `<name>`: deltas of the joined rows.

Windows say `until` which watermark they are kept. All arriving rows say what the watermark is `now`. A dropped window
of the left side retracts nothing: windowed tables have no deltas, only inserted rows. Left rows that arrive later do
not find a dropped window of the right side. Left rows from before show it until they change, and it is kept for them.
So every deleted row equals the row that was inserted.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.codegen.cut_queries import is_intermediate
from penstock.codegen.program import AnyView, LookupView, View
from penstock.codegen.sql.clock import read_watermark
from penstock.codegen.sql.gathered import rows_view, tables_view
from penstock.codegen.sql.lookup_views import NO_TIME, order_of, origin_of, select_joined, until
from penstock.codegen.sql.printing import print_duckdb, print_sql
from penstock.codegen.sql.row_forms import DELETED, DELTA, ORDER
from penstock.codegen.sql.trees import (
    alias,
    both,
    call,
    cast,
    column,
    column_of,
    null,
    number,
    row_struct,
    rows_where,
    select,
    table,
)
from penstock.planner.plan import Expression, ForeignKeyJoin, JoinType, KStream, Node, WTable
from penstock.planner.types import BIGINT

_LEAVES = exp.LT(this=column(DELTA), expression=number(0))


def foreign_key_views(
    node: ForeignKeyJoin, name: str, lefts: str, rights: str, buckets: int, clock: str
) -> tuple[AnyView, ...]:
    """The views. The last one has the node's schema and, for tables without windows, DELTA_ROW.

    References are spread over `buckets`. The view `clock` has the watermark, which windows need.
    """
    references = [f"k{place}" for place in range(len(node.equalities))]
    assert not isinstance(node.left.shape, KStream)
    key = [column(each) for each in node.left.shape.identity] or [exp.Boolean(this=True)]
    identity = [f"i{place}" for place in range(len(key))]
    sides = View(f"{name}_sides", print_sql(_sides(node, references, key, lefts, rights)))
    values = {each: column(each) for each in ("is_left", *references, *identity, "version", "order", "deleted")}
    if node.kept is not None:
        values |= {"until": column("until"), "now": read_watermark(clock)}
    fields = (*values.items(), *((each, column(each)) for each in ("left", "right")))
    rows = rows_view(name, sides.name, "time", [*map(column, references)], fields, buckets=buckets)
    tables = tables_view(name, rows)
    shown = [alias(column("row", each), each) for each in ("left", "right")]
    pairs = LookupView(
        name=f"{name}_pairs",
        source=tables.name,
        newest=print_duckdb(_newest(node, references, identity)),
        sql=print_duckdb(_pairs(node, references, identity)),
        given=tuple(values),
        kept=("left",),
        picked=(("right", "right"),),
        schema=print_sql(select([*shown, alias(null(BIGINT), DELTA)], rows.name)),
    )
    beside = () if isinstance(node.shape, WTable) else (DELTA,)
    return (
        sides,
        rows,
        tables,
        pairs,
        View(name, print_sql(select_joined(node, node.left, node.right, pairs.name, beside))),
    )


def _sides(
    node: ForeignKeyJoin, references: Sequence[str], key: Sequence[Expression], lefts: str, rights: str
) -> Expression:
    """Columns `time`, `is_left`, the reference, the left row's key, `version`, `order`, `deleted`, `left`, `right`.

    With windows `until`, too.
    """
    left = [
        NO_TIME,
        alias(exp.Boolean(this=True), "is_left"),
        *(alias(one, name) for (one, _), name in zip(node.equalities, references, strict=True)),
        *(alias(part, f"i{place}") for place, part in enumerate(key)),
        alias(column(ORDER), "version"),
        alias(exp.Null(), "order"),
        alias(_is_deleted(node.left), "deleted"),
        *_until(node.left, node.kept),
        alias(row_struct(node.left.schema), "left"),
        alias(exp.Null(), "right"),
    ]
    right = [
        NO_TIME.copy(),
        alias(exp.Boolean(this=False), "is_left"),
        *(alias(other, name) for (_, other), name in zip(node.equalities, references, strict=True)),
        *(alias(exp.Null(), f"i{place}") for place in range(len(key))),
        alias(exp.Null(), "version"),
        alias(order_of(node.right), "order"),
        alias(_is_deleted(node.right), "deleted"),
        *_until(node.right, node.kept),
        alias(exp.Null(), "left"),
        alias(row_struct(node.right.schema), "right"),
    ]
    return exp.Union(this=select(left, lefts), expression=select(right, rights), distinct=False)


def _is_deleted(table: Node) -> Expression:
    """Deltas are read from an intermediate changelog, because the left side may read it, too."""
    has_deltas = is_intermediate(origin_of(table)) and not isinstance(table.shape, WTable)
    return _LEAVES.copy() if has_deltas else column(DELETED)


def _until(side: Node, kept: int | None) -> list[Expression]:
    if kept is None:
        return []
    return [alias(until(side, kept) if isinstance(side.shape, WTable) else exp.Null(), "until")]


def _newest(node: ForeignKeyJoin, references: Sequence[str], identity: Sequence[str]) -> Expression:
    """DuckDB's SELECT: the places of the left rows that are in the bucket, and of the newest upsert of each key.

    Windows are there only while they are kept.
    """
    is_left = column("is_left")
    now = exp.Subquery(this=select([call("MAX", column("now"))], "rows"))
    last = [alias(call("ARG_MAX", column(each), column("version")), each) for each in ("place", "deleted")]
    kept = exp.GTE(this=column("until"), expression=now) if isinstance(node.left.shape, WTable) else None
    lefts = select(last, "rows").where(_all(is_left, kept), copy=False).group_by(*map(column, identity), copy=False)
    there = exp.Select(expressions=[column("place")]).from_(_select_as(lefts, "l"), copy=False)
    there = there.where(exp.Not(this=column("deleted")), copy=False)
    newest = alias(call("ARG_MAX", column("place"), column("order")), "place")
    rights = select([newest], "rows").where(exp.Not(this=is_left.copy()), copy=False)
    upserts: Expression = rights.group_by(*map(column, references), copy=False)
    if isinstance(node.right.shape, WTable):
        upserts = _is_kept_or_shown(upserts, there, references, now)
    return exp.Union(this=there, expression=upserts, distinct=False)


def _is_kept_or_shown(upserts: Expression, lefts: Expression, references: Sequence[str], now: Expression) -> Expression:
    """The upserts that are kept, or that a left row shows because it came while they were."""

    def among(places: Expression, alias: str, *names: str) -> exp.Subquery:
        shown = [column_of("o", each) for each in ("place", *references, *names)]
        tree = exp.Select(expressions=shown).from_(_rows("o"), copy=False)
        same = exp.EQ(this=column_of("o", "place"), expression=column_of("p", "place"))
        tree.append("joins", exp.Join(this=_select_as(places.copy(), "p"), on=same))
        return _select_as(tree, alias)

    place = exp.Select(expressions=[column_of("r", "place")]).from_(among(upserts, "r", "until"), copy=False)
    in_time = exp.LTE(this=column_of("l", "now"), expression=column_of("r", "until"))
    equal = (exp.EQ(this=column_of("l", each), expression=column_of("r", each)) for each in references)
    shown = place.copy()
    shown.append("joins", exp.Join(this=among(lefts, "l", "now"), on=_all(in_time, *equal)))
    kept = place.where(exp.GTE(this=column_of("r", "until"), expression=now), copy=False)
    return exp.Union(this=kept, expression=shown, distinct=True)


def _rows(alias: str) -> exp.Table:
    return exp.Table(
        this=exp.Identifier(this="rows", quoted=True),
        alias=exp.TableAlias(this=exp.Identifier(this=alias, quoted=True)),
    )


def _pairs(node: ForeignKeyJoin, references: Sequence[str], identity: Sequence[str]) -> Expression:
    """DuckDB's SELECT. For each delta: the places of the left and the right row, and whether it inserts or deletes."""
    is_left, is_right = column("is_left"), exp.Not(this=column("is_left"))
    there = exp.Not(this=column("deleted"))
    touched = _select_touched_keys(references, identity)
    same = both(*(exp.NullSafeEQ(this=column_of("l", each), expression=column_of("t", each)) for each in identity))
    equal = both(
        exp.EQ(this=column_of("l", "delta"), expression=column_of("r", "delta")),
        *(exp.EQ(this=column_of("l", each), expression=column_of("r", each)) for each in references),
    )
    if isinstance(node.right.shape, WTable):
        # So it is for both signs: what leaves is what has come.
        met = call("GREATEST", column_of("l", "now"), column_of("r", "now"))
        equal = both(equal, exp.GTE(this=column_of("r", "until"), expression=met))
    deltas = not isinstance(node.left.shape, WTable)
    shown = [
        alias(column_of("l", "place"), "place"),
        alias(column_of("r", "place"), "right"),
        alias(cast(column_of("l", "delta"), BIGINT), DELTA),
    ]
    lefts = _before_and_after(is_left, there, deltas=deltas)
    tree = exp.Select(expressions=shown).from_(_select_as(lefts, "l"), copy=False)
    tree.append("joins", exp.Join(this=_select_as(touched, "t"), on=same))
    side = {"side": "LEFT"} if node.type in (JoinType.LEFT, JoinType.FULL) else {}
    rights = _before_and_after(is_right, there.copy(), deltas=deltas)
    tree.append("joins", exp.Join(this=_select_as(rights, "r"), on=equal, **side))
    if node.type in (JoinType.RIGHT, JoinType.FULL):
        alone = _find_unreferred(references, lefts.copy(), rights.copy())
        return exp.Union(this=tree, expression=alone, distinct=False)
    return tree


def _find_unreferred(references: Sequence[str], lefts: Expression, rights: Expression) -> Expression:
    """DuckDB's SELECT: deltas of right rows to which no left row refers, of all keys for which rows have come."""
    shown = [
        alias(null(BIGINT), "place"),
        alias(column_of("r", "place"), "right"),
        alias(cast(column_of("r", "delta"), BIGINT), DELTA),
    ]
    touched = select(map(column, references), "rows").where(exp.Not(this=column("known")), copy=False)
    touched.set("distinct", exp.Distinct())
    same = both(*(exp.NullSafeEQ(this=column_of("r", each), expression=column_of("t", each)) for each in references))
    equal = (exp.EQ(this=column_of("l", each), expression=column_of("r", each)) for each in (*references, "delta"))
    tree = exp.Select(expressions=shown).from_(_select_as(rights, "r"), copy=False)
    tree.append("joins", exp.Join(this=_select_as(touched, "t"), on=same))
    tree.append("joins", exp.Join(this=_select_as(lefts, "l"), kind="ANTI", on=both(*equal)))
    return tree


def _select_touched_keys(references: Sequence[str], identity: Sequence[str]) -> Expression:
    """The keys of the left rows that are affected: inserted or deleted rows, and rows whose right row has changed."""
    is_new = exp.Not(this=column("known"))
    own = select(map(column, identity), "rows").where(both(column("is_left"), is_new), copy=False)
    upserts = rows_where(_all(exp.Not(this=column("is_left")), is_new.copy()), "n")
    equal = both(*(exp.EQ(this=column_of("o", each), expression=column_of("n", each)) for each in references))
    others = exp.Select(expressions=[alias(column_of("o", each), each) for each in identity])
    others = others.from_(rows_where(column("is_left"), "o"), copy=False)
    others.append("joins", exp.Join(this=upserts, on=equal))
    return exp.Union(this=own, expression=others, distinct=True)


def _before_and_after(which: Expression, there: Expression, *, deltas: bool) -> Expression:
    """One side's rows in the bucket: the rows before as deletes and the rows now as inserts, or the latter alone."""

    def one(delta: int, mark: str) -> Expression:
        tree = exp.Select(expressions=[exp.Star(), alias(number(delta), "delta")]).from_(table("rows"), copy=False)
        return tree.where(_all(which.copy(), there.copy(), column(mark)), copy=False)

    after = one(1, "newest")
    return exp.Union(this=one(-1, "known"), expression=after, distinct=False) if deltas else after


def _all(*conditions: Expression | None) -> Expression:
    result = both(*conditions)
    assert result is not None
    return result


def _select_as(query: Expression, alias: str) -> exp.Subquery:
    return exp.Subquery(this=query, alias=exp.TableAlias(this=exp.Identifier(this=alias, quoted=True)))
