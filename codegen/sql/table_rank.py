"""TableRanked -> buckets of partitions, in which Python workers keep the rows of the table, and DuckDB's ranks.

In a micro-batch rows leave a bucket and come into one, maybe another. All rows of the partitions that are touched are
ranked before and after. What differs is deleted and inserted. Views:

* `<name>_sides`: the partition of each delta, the row's key, what it is sorted by, and the row as a struct;
* `<name>_rows`, `<name>_tables`: these in tables, one for each bucket;
* `<name>_places`: deltas of rows with their places;
* `<name>`: the columns of the rows and their places.
"""

from __future__ import annotations

from sqlglot import exp

from penstock.codegen.program import AnyView, LookupView, View
from penstock.codegen.sql.changes import DELTA, ORDER
from penstock.codegen.sql.gathered import rows_view, tables_view
from penstock.codegen.sql.lookup import NO_TIME
from penstock.codegen.sql.ordering import comparable, make_zero_positive
from penstock.codegen.sql.printing import print_duckdb, print_sql
from penstock.codegen.sql.trees import (
    alias,
    both,
    call,
    cast,
    column,
    column_of,
    null,
    number,
    row_columns,
    row_struct,
    select,
)
from penstock.planner import find_type
from penstock.planner.plan import Expression, KStream, TableRanked
from penstock.planner.types import BIGINT, INT


def table_rank_views(node: TableRanked, name: str, source: str, buckets: int) -> tuple[AnyView, ...]:
    """The views. The last one has the node's schema and DELTA_ROW. Partitions are spread over so many `buckets`."""
    below = node.input
    assert not isinstance(below.shape, KStream)
    keys = {f"k{place}": _compare(value, node) for place, value in enumerate(node.partition_by)}
    identity = {f"i{place}": _compare(column(each), node) for place, each in enumerate(below.shape.identity)}
    orders = [each.value for ranking in node.rankings for each in ranking.order_by]
    sorted_by = {f"s{place}": value for place, value in enumerate(dict.fromkeys(orders))}
    values = {
        **keys,
        **(identity or {"i0": exp.Boolean(this=True)}),
        **sorted_by,
        "version": column(ORDER),
        "deleted": exp.LT(this=column(DELTA), expression=number(0)),
    }
    items = [NO_TIME.copy(), *(alias(value, each) for each, value in values.items())]
    sides = View(f"{name}_sides", print_sql(select([*items, alias(row_struct(below.schema), "row")], source)))
    fields = ((each, column(each)) for each in (*values, "row"))
    rows = rows_view(name, sides.name, "time", [*map(column, keys)], fields, buckets=buckets)
    tables = tables_view(name, rows)
    names = {value: each for each, value in sorted_by.items()}
    ranks = [each.name for each in node.rankings]
    places = LookupView(
        name=f"{name}_places",
        source=tables.name,
        newest=print_duckdb(_newest([each for each in values if each.startswith("i")])),
        sql=print_duckdb(_changed(node, [*keys], [*identity], names)),
        given=tuple(values),
        kept=("row",),
        picked=(),
        schema=print_sql(
            select(
                [
                    alias(column("row", "row"), "row"),
                    *(alias(null(INT), f"r{place}") for place, _ in enumerate(ranks)),
                    alias(null(BIGINT), DELTA),
                ],
                rows.name,
            )
        ),
    )
    shown = row_columns(below.schema, lambda each: column("row", each))
    placed = [alias(column(f"r{place}"), each) for place, each in enumerate(ranks)]
    return sides, rows, tables, places, View(name, print_sql(select([*shown, *placed, column(DELTA)], places.name)))


def _compare(value: Expression, node: TableRanked) -> Expression:
    """The value as DuckDB compares it."""
    type_ = find_type(value, node.input)
    assert type_ is not None, "nothing is partitioned by a bare NULL"
    return comparable(make_zero_positive(value, type_), type_)


def _newest(identity: list[str]) -> Expression:
    """DuckDB's SELECT: the places of the rows that are in the bucket."""
    last = [alias(call("ARG_MAX", column(each), column("version")), each) for each in ("place", "deleted")]
    rows = select(last, "rows").group_by(*map(column, identity), copy=False)
    there = exp.Select(expressions=[column("place")]).from_(_as(rows, "l"), copy=False)
    return there.where(exp.Not(this=column("deleted")), copy=False)


def _changed(node: TableRanked, keys: list[str], identity: list[str], names: dict[Expression, str]) -> Expression:
    """DuckDB's SELECT: the deltas of rows with their places, of the partitions for which rows have arrived."""
    touched = select(map(column, keys), "rows").where(exp.Not(this=column("known")), copy=False)
    same = both(*(exp.NullSafeEQ(this=column_of("r", each), expression=column_of("t", each)) for each in keys))

    def ranked(mark: str, delta: int) -> Expression:
        ranks = [_rank(node, place, keys, identity, names) for place, _ in enumerate(node.rankings)]
        shown = [column_of("r", "place"), *ranks, alias(number(delta), "delta")]
        there = select([exp.Star()], "rows").where(column(mark), copy=False)
        tree = exp.Select(expressions=shown).from_(_as(there, "r"), copy=False)
        if same is not None:
            tree.append("joins", exp.Join(this=_as(touched.copy(), "t"), kind="SEMI", on=same.copy()))
        if node.most is not None:
            first = exp.LTE(this=column("r0"), expression=number(node.most))
            tree.set("qualify", exp.Qualify(this=first))
        return tree

    before_and_after = exp.Union(this=ranked("known", -1), expression=ranked("newest", 1), distinct=False)
    shown = [column("place"), *(column(f"r{place}") for place, _ in enumerate(node.rankings))]
    total = call("SUM", column("delta"))
    tree = exp.Select(expressions=[*shown, alias(cast(total, BIGINT), DELTA)]).from_(
        _as(before_and_after, "d"), copy=False
    )
    tree = tree.group_by(*(each.copy() for each in shown), copy=False)
    return tree.having(exp.NEQ(this=total.copy(), expression=number(0)), copy=False)


def _rank(
    node: TableRanked, place: int, keys: list[str], identity: list[str], names: dict[Expression, str]
) -> Expression:
    """One ranking. Rows that are equal in its order are numbered in the order of their keys."""
    ranking = node.rankings[place]
    order = [
        exp.Ordered(this=column_of("r", names[each.value]), desc=each.descending, nulls_first=each.nulls_first)
        for each in ranking.order_by
    ]
    if ranking.numbers_equal_rows:
        order += [exp.Ordered(this=column_of("r", each), desc=False, nulls_first=True) for each in identity]
    partition = [column_of("r", each) for each in keys]
    function = exp.Window(
        this=call(ranking.function), partition_by=partition, order=exp.Order(expressions=order), over="OVER"
    )
    return alias(cast(function, INT), f"r{place}")


def _as(query: Expression, name: str) -> exp.Subquery:
    return exp.Subquery(this=query, alias=exp.TableAlias(this=exp.Identifier(this=name, quoted=True)))
