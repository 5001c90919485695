"""Over -> panes, as Spark runs no OVER on a stream: a window aggregation that holds the rows, and DuckDB over each.

With frames that reach b back and f forward, hopping windows [k·p - b, (k+1)·p + f) hold all rows that the frames of the
rows of the pane [k·p, (k+1)·p) can need. When the watermark passes a window's end, no more of them can come, and the
rows of its pane come out, each with the functions over its frames. Three views:

* `<name>_panes`: per window and partition the rows, each with the values that the functions take of it;
* `<name>_framed`: the rows of the panes, with what DuckDB's OVER answers;
* `<name>`: the input's columns and the functions' values under their names.
"""

from __future__ import annotations

from sqlglot import exp

from penstock.codegen.program import PaneView, Step, View
from penstock.codegen.sql.frames import Panes, framed_value
from penstock.codegen.sql.ordering import sorted_rows
from penstock.codegen.sql.printing import print_duckdb, print_sql
from penstock.codegen.sql.trees import (
    beside_time,
    call,
    column,
    duration,
    named,
    number,
    select,
    shifted,
    struct_of,
)
from penstock.planner.plan import Expression, Over
from penstock.planner.plan.over import ORDERED

_MICROSECONDS = 1000


def over_views(node: Over, name: str, source: str) -> tuple[Step, ...]:
    """The three views; the last one has the node's schema."""
    panes = Panes(node.input.schema, node.time)
    values = [named(framed_value(each, panes), each.aggregate.name) for each in node.aggregates]
    inputs = [named(column(kept), each.name) for kept, each in zip(panes.kept, node.input.schema, strict=True)]
    gathered = View(f"{name}_panes", print_sql(_gathered(node, panes, source)))
    framed = PaneView(
        name=f"{name}_framed",
        source=gathered.name,
        sql=print_duckdb(_answers(node, panes)),
        given=tuple(panes.given),
        kept=panes.kept,
        picked=tuple(panes.picked.items()),
        schema=print_sql(select(panes.schema_of(_in_first), gathered.name)),
    )
    return gathered, framed, View(name, print_sql(select([*inputs, *values], framed.name)))


def _gathered(node: Over, panes: Panes, source: str) -> Expression:
    """Columns `begin`, where the pane begins, and `pane`: an array of the rows in reach."""
    length = node.back + node.pane + node.forward
    lengths = [duration(length), duration(node.pane)]
    offset = -node.back % node.pane
    window = call("WINDOW", column(node.time), *lengths, *([duration(offset)] if offset else []))
    rows = call("COLLECT_LIST", struct_of(panes.held.items()))
    if any(each.aggregate.function in ORDERED for each in node.aggregates):
        types = (each.type for each in node.input.schema)
        rows = sorted_rows(rows, zip(panes.kept, types, strict=True), panes.hold(column(node.time)))
    keys = (beside_time(key, node.input.schema) for key in node.partition_by)
    begin = shifted(exp.Dot(this=window.copy(), expression=exp.to_identifier("start")), node.back)
    return select([named(begin, "begin"), named(rows, "pane")], source).group_by(window.copy(), *keys, copy=False)


def _answers(node: Over, panes: Panes) -> Expression:
    """DuckDB's SELECT: the place of each row of the pane itself, and the answers."""
    time, begin = panes.clock(), column("begin")
    answers = (named(tree, name) for name, (tree, _) in panes.answers.items())
    end = exp.Add(this=begin, expression=number(node.pane * _MICROSECONDS))
    own = exp.And(this=exp.GTE(this=time, expression=begin.copy()), expression=exp.LT(this=time.copy(), expression=end))
    query = select([column("place"), *answers], "rows")
    query.set("windows", panes.windows())
    query.set("qualify", exp.Qualify(this=own))
    return query


def _in_first(field: str) -> Expression:
    """A field of the first row of a pane."""
    first = exp.Bracket(this=column("pane"), expressions=[number(0)])
    return exp.Dot(this=first, expression=exp.Identifier(this=field, quoted=True))
