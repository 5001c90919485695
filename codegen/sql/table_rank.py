"""TableRanked -> buckets of partitions, in which Python workers keep the rows of the table, and DuckDB's ranks.

In a micro-batch rows leave a bucket and come into one, maybe another. All rows of the partitions that are touched are
ranked before and after. What differs is deleted and inserted. Views:

* `<name>_sides`: the partition of each delta, the row's key, what it is sorted by, and the row as a struct;
* `<name>_rows`, `<name>_tables`: these in tables, one for each bucket;
* `<name>_places`: deltas of rows with their places, or the rows of each key before and after with theirs;
* `<name>`: these with the columns of the node.

A bucket knows the row before and the row after of a key that is always in the same partition. Else it has deltas.
A windowed table has its upserts read. A window is dropped as a whole, and that retracts nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from penstock.codegen.program import AnyView, LookupView, View
from penstock.codegen.sql.clock import read_batch, read_watermark
from penstock.codegen.sql.gathered import rows_view, tables_view
from penstock.codegen.sql.lookup_views import NO_TIME
from penstock.codegen.sql.ordering import comparable, make_zero_positive
from penstock.codegen.sql.printing import print_duckdb, print_sql
from penstock.codegen.sql.row_forms import AFTER, BEFORE, DELETED, DELTA, ORDER, VERSION
from penstock.codegen.sql.trees import (
    alias,
    both,
    call,
    cast,
    column,
    column_of,
    filter_rows,
    is_null,
    null,
    number,
    only_if,
    row_columns,
    row_struct,
    select,
    struct_of,
)
from penstock.planner import find_type
from penstock.planner.plan import Expression, KStream, TableRanked, WTable
from penstock.planner.types import BIGINT, INT

_LEAVES = exp.LT(this=column(DELTA), expression=number(0))


@dataclass(frozen=True, slots=True)
class _Answer:
    """DuckDB's SELECT over the rows of a bucket, and Spark's view over what it gives.

    `kept`, `picked` and `schema` as in LookupView; `items` are the columns of the view.
    """

    sql: Expression
    kept: tuple[str, ...]
    picked: tuple[str, ...]
    schema: list[Expression]
    items: list[Expression]


def table_rank_views(node: TableRanked, name: str, source: str, buckets: int, clock: str) -> tuple[AnyView, ...]:
    """The views. The last one has CHANGE_ROW, or the node's schema and DELTA_ROW.

    Partitions are spread over so many `buckets`. The view `clock` has the watermark, and the number of the micro-batch.
    """
    below = node.input
    assert not isinstance(below.shape, KStream)
    keys = {f"k{place}": _compare(value, node) for place, value in enumerate(node.partition_by)}
    identity = {f"i{place}": _compare(column(each), node) for place, each in enumerate(below.shape.identity)}
    identity = identity or {"i0": exp.Boolean(this=True)}
    orders = [each.value for ranking in node.rankings for each in ranking.order_by]
    sorted_by = {f"s{place}": value for place, value in enumerate(dict.fromkeys(orders))}
    values = {
        **keys,
        **identity,
        **sorted_by,
        "version": column(ORDER),
        "deleted": column(DELETED) if isinstance(below.shape, WTable) else _LEAVES,
    }
    if node.end is not None:
        values |= {"until": column(node.end), "now": read_watermark(clock)}
    held = [NO_TIME.copy(), *(alias(value, each) for each, value in values.items())]
    sides = View(f"{name}_sides", print_sql(select([*held, alias(row_struct(below.schema), "row")], source)))
    fields = ((each, column(each)) for each in (*values, "row"))
    rows = rows_view(name, sides.name, "time", [*map(column, keys)], fields, buckets=buckets)
    tables = tables_view(name, rows)
    names = {value: each for each, value in sorted_by.items()}
    ranked = _rank_both_sides(node, [*keys], [*identity], names)
    answer = _answer_changes(node, ranked, [*identity], clock) if node.is_by_key else _answer_deltas(node, ranked)
    places = LookupView(
        name=f"{name}_places",
        source=tables.name,
        newest=print_duckdb(_newest([*identity], is_kept_for_time=node.end is not None)),
        sql=print_duckdb(answer.sql),
        given=tuple(values),
        kept=answer.kept,
        picked=tuple((each, "row") for each in answer.picked),
        schema=print_sql(select(answer.schema, rows.name)),
    )
    return sides, rows, tables, places, View(name, print_sql(select(answer.items, places.name)))


def _compare(value: Expression, node: TableRanked) -> Expression:
    """The value as DuckDB compares it."""
    type_ = find_type(value, node.input)
    assert type_ is not None, "nothing is partitioned by a bare NULL"
    return comparable(make_zero_positive(value, type_), type_)


def _newest(identity: Iterable[str], *, is_kept_for_time: bool) -> Expression:
    """DuckDB's SELECT: the places of the rows in the bucket. A row of a window has to be one that the watermark lets
    stay.

    A row is not late, so all rows of a partition stay if one has just arrived.
    """
    last = [alias(call("ARG_MAX", column(each), column("version")), each) for each in ("place", "deleted")]
    rows = select(last, "rows").group_by(*map(column, identity), copy=False)
    if is_kept_for_time:
        now = exp.Subquery(this=select([call("MAX", column("now"))], "rows"))
        rows = rows.where(exp.GTE(this=column("until"), expression=now), copy=False)
    there = exp.Select(expressions=[column("place")]).from_(_as(rows, "l"), copy=False)
    return there.where(exp.Not(this=column("deleted")), copy=False)


def _rank_both_sides(
    node: TableRanked, keys: list[str], identity: list[str], names: dict[Expression, str]
) -> exp.Subquery:
    """DuckDB's SELECT: the rows of partitions for which rows have arrived, before (`delta` -1) and after (1)."""
    touched = select(map(column, keys), "rows").where(exp.Not(this=column("known")), copy=False)
    same = both(*(exp.NullSafeEQ(this=column_of("r", each), expression=column_of("t", each)) for each in keys))

    def ranked(mark: str, delta: int) -> Expression:
        ranks = [_rank(node, place, keys, identity, names) for place, _ in enumerate(node.rankings)]
        own = [column_of("r", each) for each in identity if node.is_by_key]
        shown = [column_of("r", "place"), *own, *ranks, alias(number(delta), "delta")]
        there = select([exp.Star()], "rows").where(column(mark), copy=False)
        tree = exp.Select(expressions=shown).from_(_as(there, "r"), copy=False)
        if same is not None:
            tree.append("joins", exp.Join(this=_as(touched.copy(), "t"), kind="SEMI", on=same.copy()))
        if node.most is not None:
            first = exp.LTE(this=column("r0"), expression=number(node.most))
            tree.set("qualify", exp.Qualify(this=first))
        return tree

    return _as(exp.Union(this=ranked("known", -1), expression=ranked("newest", 1), distinct=False), "d")


def _answer_deltas(node: TableRanked, ranked: exp.Subquery) -> _Answer:
    """The deltas of rows with their places. Rows that stay where they are have none."""
    ranks = [f"r{place}" for place, _ in enumerate(node.rankings)]
    shown = [column("place"), *map(column, ranks)]
    total = call("SUM", column("delta"))
    tree = exp.Select(expressions=[*shown, alias(cast(total, BIGINT), DELTA)]).from_(ranked, copy=False)
    tree = tree.group_by(*(each.copy() for each in shown), copy=False)
    tree = tree.having(exp.NEQ(this=total.copy(), expression=number(0)), copy=False)
    schema = [
        alias(column("row", "row"), "row"),
        *(alias(null(INT), each) for each in ranks),
        alias(null(BIGINT), DELTA),
    ]
    placed = (alias(column(each), ranking.name) for each, ranking in zip(ranks, node.rankings, strict=True))
    items = [*row_columns(node.input.schema, lambda each: column("row", each)), *placed, column(DELTA)]
    return _Answer(tree, ("row",), (), schema, items)


def _answer_changes(node: TableRanked, ranked: exp.Subquery, identity: list[str], clock: str) -> _Answer:
    """The rows of each key before and after, with their places. A change has the order of its micro-batch."""
    ranks = [f"r{place}" for place, _ in enumerate(node.rankings)]
    given, schema, items = [alias(call("MAX", column("place")), "place")], list[Expression](), list[Expression]()
    row = column("row", "row")
    may_be_missing = only_if(is_null(row.copy()), row)  # has the same type, and is nullable
    for side, delta in ((BEFORE, -1), (AFTER, 1)):
        names = {"place": side, **{each: f"{side}_{each}" for each in ranks}}
        for each, name in names.items():
            is_of_side = exp.EQ(this=column("delta"), expression=number(delta))
            given.append(alias(filter_rows(call("MAX", column(each)), is_of_side), name))
            schema.append(alias(may_be_missing.copy() if each == "place" else null(INT), name))
        fields = (column(side, f"c{place}") for place, _ in enumerate(node.input.schema))
        places = (column(names[each]) for each in ranks)
        placed = struct_of((f"c{place}", value) for place, value in enumerate([*fields, *places]))
        items.append(alias(only_if(exp.Not(this=is_null(column(side))), placed), side))
    tree = exp.Select(expressions=given).from_(ranked, copy=False).group_by(*map(column, identity), copy=False)
    return _Answer(tree, (), (BEFORE, AFTER), schema, [*items, alias(read_batch(clock), VERSION)])


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
