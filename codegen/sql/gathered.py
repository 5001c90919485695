"""Rows -> tables of rows, and the tables of each pane. Operators over panes and lookups share this.

Spark's state holds tables of rows, and each micro-batch adds its own tables. A pane may fill over many micro-batches,
but a table is written only once. Partitions are spread over a few buckets, and DuckDB separates the partitions of
one bucket. Views:

* `<name>_rows`: each row's bucket and time, and the row as a struct;
* `<name>_tables`: these rows packed into tables; the rows of a table are in the same panes;
* `<name>_panes`: for each pane and bucket its tables, once the watermark has passed the end of the pane.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from penstock.codegen.program import PackedView, View
from penstock.codegen.sql.printing import print_sql
from penstock.codegen.sql.trees import alias, call, column, null, number, select, struct_of
from penstock.planner.physical.estimates import PANE_BUCKETS
from penstock.planner.plan import Expression
from penstock.planner.types import BINARY

_MS_IN_MICROSECONDS = 1_000


def rows_view(
    name: str,
    source: str,
    time: str,
    keys: Sequence[Expression],
    fields: Iterable[tuple[str, Expression]],
    beside: Sequence[str] = (),
    buckets: int = PANE_BUCKETS,
) -> View:
    """Columns `bucket`, the columns `beside`, `time`, and `row`, a struct. Rows with equal keys are in one bucket."""
    bucket = call("PMOD", call("HASH", *keys), number(buckets)) if keys else number(0)
    items = [
        alias(bucket, "bucket"),
        *map(column, beside),
        alias(column(time), "time"),
        alias(struct_of(fields), "row"),
    ]
    return View(f"{name}_rows", print_sql(select(items, source)))


def tables_view(
    name: str, rows: View, length: int | None = 1, cuts: Iterable[int] = (), beside: Sequence[str] = ()
) -> PackedView:
    """Packs the rows of a micro-batch into tables. Times are in milliseconds.

    A new table begins at each of `cuts`, and again after every `length`. Without a length, each time has its own table.
    Without cuts, a table has all rows of a bucket that agree in `beside`.
    """
    items = [*map(column, ("bucket", *beside, "time")), alias(null(BINARY), "rows")]
    unit, places = (1, {0}) if length is None else (length * _MS_IN_MICROSECONDS, {cut % length for cut in cuts})
    return PackedView(
        name=f"{name}_tables",
        source=rows.name,
        length=unit,
        cuts=tuple(place * _MS_IN_MICROSECONDS for place in sorted(places)),
        schema=print_sql(select(items, rows.name)),
    )


def panes_view(name: str, source: str, pane: Expression, begin: Expression, own: Expression | None = None) -> View:
    """Columns `begin`, `bucket`, and `tables`, an array.

    Tables are grouped by `pane`. `own` is the condition that a table belongs to its pane, None if all do.
    """
    tree = select(
        [alias(begin, "begin"), column("bucket"), alias(call("COLLECT_LIST", column("rows")), "tables")], source
    )
    if own is not None:
        tree = tree.where(own, copy=False)
    tree = tree.group_by(pane, column("bucket"), call("XXHASH64", column("rows")), copy=False)
    tree.set("distribute", exp.Distribute(expressions=[column("begin"), column("bucket")]))
    return View(f"{name}_panes", print_sql(tree))
