"""OverRows -> rows in buckets, in which Python workers remember the last rows of each partition, and DuckDB over these.

Panes cannot do this, because the row that is n rows back may be from any time. So the partitions are spread over some
buckets. Spark's state of a bucket is two tables: the last rows of each of its partitions, and the rows that the
watermark has not passed yet. Four views:

* `<name>_rows`: each row's bucket, its time, and the row with the arguments of the functions;
* `<name>_tables`: these in tables, one for each bucket;
* `<name>_framed`: the rows behind the watermark, with what DuckDB's OVER answers;
* `<name>`: the input's columns and the functions' values under their names.
"""

from __future__ import annotations

from sqlglot import exp

from penstock.codegen.program import AnyView, BucketView, View
from penstock.codegen.sql.frame_calls import Panes, lower_frame
from penstock.codegen.sql.gathered import rows_view, tables_view
from penstock.codegen.sql.printing import print_duckdb, print_sql
from penstock.codegen.sql.trees import alias, column, row_columns, select
from penstock.planner.plan import Expression, OverRows


def over_rows_views(node: OverRows, name: str, source: str, buckets: int) -> tuple[AnyView, ...]:
    """The four views; the last one has the node's schema. Partitions are spread over so many `buckets`."""
    panes = Panes(node.input, node.time)
    values = [alias(lower_frame(each, panes), each.aggregate.name) for each in node.aggregates]
    inputs = row_columns(node.input.schema, column)
    order = panes.in_order(node.partition_by)
    rows = rows_view(name, source, node.time, node.partition_by, panes.held.items(), buckets=buckets)
    tables = tables_view(name, rows)
    framed = BucketView(
        name=f"{name}_framed",
        source=tables.name,
        order=print_duckdb(order),
        sql=print_duckdb(_answers(panes)),
        time=panes.hold(column(node.time)),
        back=node.back,
        given=tuple(panes.given),
        kept=panes.kept,
        picked=tuple(panes.picked.items()),
        schema=print_sql(select(panes.schema_of(lambda name: column("row", name)), rows.name)),
    )
    return rows, tables, framed, View(name, print_sql(select([*inputs, *values], framed.name)))


def _answers(panes: Panes) -> Expression:
    """DuckDB's SELECT: the place of each row that is new behind the watermark, and the answers."""
    answers = (alias(tree, name) for name, (tree, _) in panes.answers.items())
    query = select([column("place"), *answers], "rows")
    query.set("windows", panes.windows())
    query.set("qualify", exp.Qualify(this=column("new")))
    return query
