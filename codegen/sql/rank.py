"""Ranked -> the rows of one event time gathered once the watermark has passed it, and DuckDB's ranking functions."""

from __future__ import annotations

from sqlglot import exp

from penstock.codegen.program import PaneView, Step, View
from penstock.codegen.sql.ordering import holds_map, sorted_rows
from penstock.codegen.sql.printing import print_duckdb, print_sql
from penstock.codegen.sql.trees import beside_time, call, cast, column, named, null, number, select, struct_of
from penstock.planner.plan import Expression, Ranked
from penstock.planner.plan.rank import Ranking
from penstock.planner.types import INT


def ranked_views(node: Ranked, name: str, source: str) -> tuple[Step, ...]:
    """Views `<name>_gathered`, `<name>_places` and `<name>`, which has the node's schema."""
    sorted_by = list(dict.fromkeys(sorting.value for ranking in node.rankings for sorting in ranking.order_by))
    rows = [(f"c{place}", column(each.name)) for place, each in enumerate(node.input.schema)]
    values = [(f"v{place}", value) for place, value in enumerate(sorted_by)]
    gathered = View(f"{name}_gathered", print_sql(_gathered(node, rows, values, source)))
    kept = tuple(field for field, _ in rows)
    places = PaneView(
        name=f"{name}_places",
        source=gathered.name,
        sql=print_duckdb(_places(node, sorted_by)),
        given=tuple(field for field, _ in values),
        kept=kept,
        picked=(),
        schema=print_sql(_schema(node, kept, gathered.name)),
    )
    items = [named(column(field), each.name) for field, each in zip(kept, node.input.schema, strict=True)]
    ranks = [named(column(f"r{place}"), each.name) for place, each in enumerate(node.rankings)]
    return gathered, places, View(name, print_sql(select([*items, *ranks], places.name)))


def _gathered(
    node: Ranked, rows: list[tuple[str, Expression]], values: list[tuple[str, Expression]], source: str
) -> Expression:
    """Columns `begin`, the event time, and `pane`: an array of the rows, in the order of their columns if numbered."""
    pane = call("COLLECT_LIST", struct_of([*rows, *values]))
    if any(ranking.function == "ROW_NUMBER" for ranking in node.rankings):
        types = [each.type for each in node.input.schema]
        # Spark sorts structs by their fields, of which those of the columns are the first, but none that hold maps.
        if any(holds_map(type_) for type_ in types):
            pane = sorted_rows(pane, [(field, type_) for (field, _), type_ in zip(rows, types, strict=True)])
        else:
            pane = call("ARRAY_SORT", pane)
    tree = select([named(column(node.time), "begin"), named(pane, "pane")], source)
    keys = (beside_time(key, node.input.schema) for key in node.partition_by)
    return tree.group_by(column(node.time), *keys, copy=False)


def _places(node: Ranked, sorted_by: list[Expression]) -> Expression:
    """DuckDB's SELECT: each row's place in the pane, and its places in the orders."""
    ranks = (named(cast(_ranked(ranking, sorted_by), INT), f"r{place}") for place, ranking in enumerate(node.rankings))
    return select([column("place"), *ranks], "rows")


def _ranked(ranking: Ranking, sorted_by: list[Expression]) -> Expression:
    order = [
        exp.Ordered(this=column(f"v{sorted_by.index(each.value)}"), desc=each.descending, nulls_first=each.nulls_first)
        for each in ranking.order_by
    ]
    if ranking.function == "ROW_NUMBER":
        order.append(exp.Ordered(this=column("place"), desc=False, nulls_first=True))
    return exp.Window(
        this=call(ranking.function), partition_by=[column("pane")], order=exp.Order(expressions=order), over="OVER"
    )


def _schema(node: Ranked, kept: tuple[str, ...], gathered: str) -> Expression:
    first = exp.Bracket(this=column("pane"), expressions=[number(0)])
    items = [
        named(exp.Dot(this=first.copy(), expression=exp.Identifier(this=each, quoted=True)), each) for each in kept
    ]
    return select([*items, *(named(null(INT), f"r{place}") for place in range(len(node.rankings)))], gathered)
