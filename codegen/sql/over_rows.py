"""OverRows -> rows in buckets, of which Python workers remember the last ones of each partition, and DuckDB over these.

Panes can not do this: the row that is n rows back may be from any time. So the partitions are spread over some buckets,
and Spark's state of a bucket is two tables: the last rows of each of its partitions, and the rows that the watermark
has not passed. Three views:

* `<name>_bucketed`: each row's bucket, its time, and the row with the values that the functions take of it;
* `<name>_framed`: the rows behind the watermark, with what DuckDB's OVER answers;
* `<name>`: the input's columns and the functions' values under their names.
"""

from __future__ import annotations

from sqlglot import exp

from penstock.codegen.program import BucketView, Step, View
from penstock.codegen.sql.frames import Panes, framed_value
from penstock.codegen.sql.ordering import comparable
from penstock.codegen.sql.printing import print_duckdb, print_sql
from penstock.codegen.sql.trees import (
    call,
    column,
    named,
    null,
    number,
    select,
    struct_of,
)
from penstock.planner.plan import Expression, OverRows
from penstock.planner.types import BINARY


def over_rows_views(node: OverRows, name: str, source: str, buckets: int) -> tuple[Step, ...]:
    """The three views; the last one has the node's schema. Partitions are spread over so many `buckets`."""
    panes = Panes(node.input.schema, node.time)
    values = [named(framed_value(each, panes), each.aggregate.name) for each in node.aggregates]
    inputs = [named(column(kept), each.name) for kept, each in zip(panes.kept, node.input.schema, strict=True)]
    order = _in_order(node, panes)
    bucketed = View(f"{name}_bucketed", print_sql(_bucketed(node, panes, source, buckets)))
    framed = BucketView(
        name=f"{name}_framed",
        source=bucketed.name,
        order=print_duckdb(order),
        sql=print_duckdb(_answers(panes)),
        time=panes.hold(column(node.time)),
        back=node.back,
        given=tuple(panes.given),
        kept=panes.kept,
        picked=tuple(panes.picked.items()),
        packed=print_sql(select([column("bucket"), column("time"), named(null(BINARY), "rows")], bucketed.name)),
        schema=print_sql(select(panes.schema_of(lambda name: column("row", name)), bucketed.name)),
    )
    return bucketed, framed, View(name, print_sql(select([*inputs, *values], framed.name)))


def _bucketed(node: OverRows, panes: Panes, source: str, buckets: int) -> Expression:
    bucket = call("PMOD", call("HASH", *node.partition_by), number(buckets)) if node.partition_by else number(0)
    row = struct_of(panes.held.items())
    return select([named(bucket, "bucket"), named(column(node.time), "time"), named(row, "row")], source)


def _in_order(node: OverRows, panes: Panes) -> Expression:
    """DuckDB's SELECT: the rows' places, pane by pane, by time, and those of one time by all columns."""
    keys = [panes.give(key) for key in node.partition_by]
    numbered = exp.Window(this=call("DENSE_RANK"), order=_order(keys), over="OVER") if keys else number(0)
    values = (comparable(column(each.name), each.type) for each in node.input.schema)
    order = [column("pane"), panes.clock(), *map(panes.give, values)]
    return select([column("place"), named(numbered, "pane")], "rows").order_by(*_order(order).expressions, copy=False)


def _order(values: list[Expression]) -> exp.Order:
    return exp.Order(expressions=[exp.Ordered(this=each, nulls_first=True) for each in values])


def _answers(panes: Panes) -> Expression:
    """DuckDB's SELECT: the place of each row that is new behind the watermark, and the answers."""
    answers = (named(tree, name) for name, (tree, _) in panes.answers.items())
    query = select([column("place"), *answers], "rows")
    query.set("windows", panes.windows())
    query.set("qualify", exp.Qualify(this=column("new")))
    return query
