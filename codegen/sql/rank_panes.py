"""Ranked -> views that gather the rows of a pane or of one event time, and a view of DuckDB that ranks them."""

from __future__ import annotations

from sqlglot import exp

from penstock.codegen.program import AnyView, PaneView, View
from penstock.codegen.sql.frame_calls import Panes
from penstock.codegen.sql.gathered import panes_view, rows_view, tables_view
from penstock.codegen.sql.printing import print_duckdb, print_sql
from penstock.codegen.sql.trees import alias, call, cast, column, duration, moment, row_columns, select
from penstock.planner.plan import Expression, Ranked
from penstock.planner.plan.rank import Ranking
from penstock.planner.types import INT


def rank_views(node: Ranked, name: str, source: str) -> tuple[AnyView, ...]:
    """The three views of `gathered.py`, `<name>_places` with the ranks that DuckDB computes, and `<name>`."""
    panes = Panes(node.input, node.time)
    order = None
    if node.is_ordered:
        order = print_duckdb(panes.in_order(node.partition_by, by_time=False))
    else:
        panes.partition_by(node.partition_by)
    ranks = [panes.answer(cast(_lower_ranking(ranking, panes), INT), INT) for ranking in node.rankings]
    answers = (alias(tree, answer) for answer, (tree, _) in panes.answers.items())
    sql = print_duckdb(select([column("place"), *answers], "rows"))
    rows = rows_view(name, source, node.time, node.partition_by, panes.held.items())
    if node.pane is None:
        tables, window = tables_view(name, rows, None), moment(column("time"))
    else:
        tables = tables_view(name, rows, node.pane, cuts=(0,))
        window = call("WINDOW", column("time"), duration(node.pane))
    begin = exp.Dot(this=window.copy(), expression=exp.to_identifier("start"))
    gathered = panes_view(name, tables.name, window, begin)
    places = PaneView(
        name=f"{name}_places",
        source=gathered.name,
        order=order,
        sql=sql,
        given=tuple(panes.given),
        kept=panes.kept,
        picked=(),
        schema=print_sql(select(panes.schema_of(lambda field: column("row", field)), rows.name)),
    )
    inputs = row_columns(node.input.schema, column)
    placed = (alias(rank, each.name) for rank, each in zip(ranks, node.rankings, strict=True))
    return rows, tables, gathered, places, View(name, print_sql(select([*inputs, *placed], places.name)))


def _lower_ranking(ranking: Ranking, panes: Panes) -> Expression:
    order = [
        exp.Ordered(this=panes.give(each.value), desc=each.descending, nulls_first=each.nulls_first)
        for each in ranking.order_by
    ]
    if ranking.numbers_equal_rows:
        order.append(exp.Ordered(this=column("place"), desc=False, nulls_first=True))
    partition = [each.copy() for each in panes.partition]
    return exp.Window(
        this=call(ranking.function), partition_by=partition, order=exp.Order(expressions=order), over="OVER"
    )
