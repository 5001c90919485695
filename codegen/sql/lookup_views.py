"""TableLookup -> buckets in which Python workers keep the newest rows of the table, and a DuckDB join.

Aggregations of Spark cannot do this, because they would also keep the rows of the stream. So the keys are spread over
some buckets. Spark's state of a bucket is a table of upserts, which is written again when one of them changes. Views:

* `<name>_sides`: the rows of the stream and the upserts, each as a struct beside a NULL, with their keys;
* `<name>_rows`, `<name>_tables`: these in tables, one for each bucket;
* `<name>_pairs`: DuckDB's join of the rows with the upserts, as pairs of structs;
* `<name>`: the columns of the pairs; NULL on the right where the rest of the condition does not hold.

Upserts of a windowed table say `until` which watermark they are kept. All arriving rows say what it is `now`.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.codegen.cut_queries import is_intermediate
from penstock.codegen.program import AnyView, LookupView, View
from penstock.codegen.sql.clock import read_watermark
from penstock.codegen.sql.gathered import rows_view, tables_view
from penstock.codegen.sql.ordering import comparable
from penstock.codegen.sql.printing import print_duckdb, print_sql
from penstock.codegen.sql.row_forms import DELETED, ORDER
from penstock.codegen.sql.trees import (
    alias,
    both,
    call,
    cast,
    column,
    column_of,
    either,
    is_null,
    only_if,
    pair_columns,
    row_struct,
    rows_where,
    select,
    shift_time,
    struct,
    text,
)
from penstock.planner.connectors import connector_of
from penstock.planner.plan import Expression, ForeignKeyJoin, JoinType, Node, Origin, Scan, TableLookup, WTable
from penstock.planner.plan.substitute import substitute
from penstock.planner.plan.walk import walk
from penstock.planner.types import TIMESTAMP

NO_TIME = alias(cast(text("1970-01-01 00:00:00"), TIMESTAMP), "time")
"""The column `time` where no row of a bucket has one."""


def lookup_views(
    node: TableLookup, name: str, stream: str, upserts: str, buckets: int, clock: str
) -> tuple[AnyView, ...]:
    """The views; the last one has the node's schema. Keys are spread over so many `buckets`.

    The view `clock` knows the watermark, if upserts are kept for a time.
    """
    keys = [f"k{place}" for place in range(len(node.equalities))]
    sides = View(f"{name}_sides", print_sql(_sides(node, keys, stream, upserts)))
    values = {each: column(each) for each in ("is_left", *keys, "order", "deleted")}
    if node.kept is not None:
        values |= {"until": column("until"), "now": read_watermark(clock)}
    fields = (*values.items(), *((each, column(each)) for each in ("left", "right")))
    rows = rows_view(name, sides.name, "time", [*map(column, keys)], fields, buckets=buckets)
    tables = tables_view(name, rows)
    pairs = LookupView(
        name=f"{name}_pairs",
        source=tables.name,
        newest=print_duckdb(_newest(node, keys)),
        sql=print_duckdb(_pairs(node, keys)),
        given=tuple(values),
        kept=("left",),
        picked=(("right", "right"),),
        schema=print_sql(select([alias(column("row", each), each) for each in ("left", "right")], rows.name)),
    )
    return sides, rows, tables, pairs, View(name, print_sql(select_joined(node, node.stream, node.table, pairs.name)))


def _sides(node: TableLookup, keys: list[str], stream: str, upserts: str) -> Expression:
    """Columns `time`, `is_left`, `k0`, `k1` …, `order`, `deleted`, of windowed tables `until`, `left`, `right`."""

    def one(*, is_left: bool) -> Expression:
        values = (equality[0 if is_left else 1] for equality in node.equalities)
        items = [
            NO_TIME.copy(),
            alias(exp.Boolean(this=is_left), "is_left"),
            *(alias(value, key) for value, key in zip(values, keys, strict=True)),
            alias(exp.Null() if is_left else order_of(node.table), "order"),
            alias(exp.Boolean(this=False) if is_left else column(DELETED), "deleted"),
            *([] if node.kept is None else [alias(exp.Null() if is_left else until(node.table, node.kept), "until")]),
            alias(row_struct(node.stream.schema) if is_left else exp.Null(), "left"),
            alias(exp.Null() if is_left else row_struct(node.table.schema), "right"),
        ]
        return select(items, stream if is_left else upserts)

    return exp.Union(this=one(is_left=True), expression=one(is_left=False), distinct=False)


def until(table: Node, kept: int) -> Expression:
    """The watermark that lets a window go, which is `kept` milliseconds behind its end."""
    assert isinstance(table.shape, WTable)
    return shift_time(column(table.shape.end), kept)


def order_of(table: Node) -> Expression:
    """The order of an upsert as a value that DuckDB compares as Spark does."""
    origin = origin_of(table)
    if is_intermediate(origin) or origin.newest is None:
        return column(ORDER)
    type_ = next(each.type for each in origin.columns if each.name == origin.newest)
    places = {each: column(ORDER, each) for each, _ in connector_of(origin.connector).record_place.order}
    return struct(sequence=comparable(column(ORDER, "sequence"), type_), **places)


def origin_of(table: Node) -> Origin:
    """Where a table is read; there is no operator with state between."""
    return next(each.origin for each in walk(table) if isinstance(each, Scan))


def _newest(node: TableLookup, keys: list[str]) -> Expression:
    """DuckDB's SELECT: the place of the newest upsert of each key, of windows that are kept."""
    newest = call("ARG_MAX", column("place"), column("order"))
    tree = select([alias(newest, "place")], "rows").where(exp.Not(this=column("is_left")), copy=False)
    if node.kept is not None:
        now = exp.Subquery(this=select([call("MAX", column("now"))], "rows"))
        tree = tree.where(exp.GTE(this=column("until"), expression=now), copy=False)
    return tree.group_by(*map(column, keys), copy=False)


def _pairs(node: TableLookup, keys: list[str]) -> Expression:
    """DuckDB's SELECT: the place of each row of the stream, and the place of the upsert that it refers to."""
    there = both(column("newest"), exp.Not(this=column("deleted")))
    assert there is not None
    equal = both(*(exp.EQ(this=column_of("l", key), expression=column_of("r", key)) for key in keys))
    places = [alias(column_of("l", "place"), "place"), alias(column_of("r", "place"), "right")]
    tree = exp.Select(expressions=places).from_(rows_where(column("is_left"), "l"), copy=False)
    side = {"side": "LEFT"} if node.type is JoinType.LEFT else {}
    tree.append("joins", exp.Join(this=rows_where(there, "r"), on=equal, **side))
    return tree


def select_joined(
    node: TableLookup | ForeignKeyJoin, left: Node, right: Node, pairs: str, beside: Sequence[str] = ()
) -> Expression:
    """SELECT the node's columns, and the columns `beside`, out of the pairs for which the rest of the condition
    holds.
    """
    parts = pair_columns(left.schema, right.schema)
    is_alone = is_null(column("right"))
    holds = None
    if node.condition is not None:
        holds = call("COALESCE", substitute(node.condition, parts), exp.Boolean(this=False))
        holds = either(is_alone, exp.Boolean(this=False), holds)
    if holds is None or node.type is not JoinType.LEFT:
        tree = select([*(alias(parts[each.name], each.name) for each in node.schema), *map(column, beside)], pairs)
        keeps_left = node.type in (JoinType.LEFT, JoinType.FULL)
        return tree if keeps_left else tree.where(holds or exp.Not(this=is_alone), copy=False)
    own = {each.name for each in left.schema}
    items = [
        alias(parts[each.name] if each.name in own else only_if(holds.copy(), parts[each.name]), each.name)
        for each in node.schema
    ]
    return select([*items, *map(column, beside)], pairs)
