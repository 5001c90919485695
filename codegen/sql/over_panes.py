"""Over -> panes, as Spark runs no OVER on a stream: a window aggregation that holds the rows, and DuckDB over each.

Frames may reach b back and f forward. Then hopping windows [k·p - b, (k+1)·p + f) hold all rows that frames of the pane
[k·p, (k+1)·p) can need. When the watermark passes a window's end, no more of them can come, and the rows of its pane
come out, each with the functions over its frames. Views:

* `<name>_rows`, `<name>_tables`, `<name>_panes`: the rows, with the values that the functions take of them, in panes;
* `<name>_framed`: the rows of the panes, with what DuckDB's OVER answers;
* `<name>`: the input's columns and the functions' values under their names.
"""

from __future__ import annotations

from sqlglot import exp

from penstock.codegen.program import AnyView, PaneView, View
from penstock.codegen.sql.frame_calls import Panes, lower_frame
from penstock.codegen.sql.gathered import panes_view, rows_view, tables_view
from penstock.codegen.sql.printing import print_duckdb, print_sql
from penstock.codegen.sql.trees import alias, call, column, duration, number, row_columns, select, shift_time
from penstock.planner.plan import Expression, Over

_MICROSECONDS = 1000


def over_views(node: Over, name: str, source: str) -> tuple[AnyView, ...]:
    """The views; the last one has the node's schema."""
    panes = Panes(node.input, node.time)
    framed, order = lower_frames(node, panes)
    values = [alias(value, each.aggregate.name) for value, each in zip(framed, node.aggregates, strict=True)]
    inputs = row_columns(node.input.schema, column)
    sql = print_duckdb(_answers(node, panes))
    rows = rows_view(name, source, node.time, node.partition_by, panes.held.items())
    tables = tables_view(name, rows, node.pane, (-node.back, node.forward))
    gathered = _gather_panes(node, name, tables.name)
    answered = PaneView(
        name=f"{name}_framed",
        source=gathered.name,
        order=None if order is None else print_duckdb(order),
        sql=sql,
        given=tuple(panes.given),
        kept=panes.kept,
        picked=tuple(panes.picked.items()),
        schema=print_sql(select(panes.schema_of(lambda field: column("row", field)), rows.name)),
    )
    return rows, tables, gathered, answered, View(name, print_sql(select([*inputs, *values], answered.name)))


def lower_frames(node: Over, panes: Panes) -> tuple[list[Expression], Expression | None]:
    """The functions' values over what `panes` has after this, and the order of its rows, if that matters."""
    values = [lower_frame(each, panes) for each in node.aggregates]
    if node.is_ordered:
        return values, panes.in_order(node.partition_by)
    panes.partition_by(node.partition_by)
    return values, None


def _gather_panes(node: Over, name: str, tables: str) -> View:
    lengths = [duration(node.back + node.pane + node.forward), duration(node.pane)]
    offset = -node.back % node.pane
    window = call("WINDOW", column("time"), *lengths, *([duration(offset)] if offset else []))
    start = exp.Dot(this=window.copy(), expression=exp.to_identifier("start"))
    return panes_view(name, tables, window, shift_time(start, node.back))


def _answers(node: Over, panes: Panes) -> Expression:
    """DuckDB's SELECT: the place of each row of the pane itself, and the answers."""
    time, begin = panes.clock(), column("begin")
    answers = (alias(tree, name) for name, (tree, _) in panes.answers.items())
    end = exp.Add(this=begin, expression=number(node.pane * _MICROSECONDS))
    own = exp.And(this=exp.GTE(this=time, expression=begin.copy()), expression=exp.LT(this=time.copy(), expression=end))
    query = select([column("place"), *answers], "rows")
    query.set("windows", panes.windows())
    query.set("qualify", exp.Qualify(this=own))
    return query
