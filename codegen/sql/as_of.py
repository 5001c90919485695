"""TableLookup FOR SYSTEM_TIME AS OF -> rows and upserts in buckets that wait for the watermark, and DuckDB over these.

When the watermark has passed a row, all upserts that are not after it have arrived. For each key, the last upsert
behind the watermark is remembered. Rows to come cannot ask for an earlier one. Views:

* `<name>_sides`: the rows of the stream and the upserts, each as a struct beside a NULL, with their keys and times; a
  tombstone has no struct;
* `<name>_rows`, `<name>_tables`: these in tables, one for each bucket;
* `<name>_pairs`: the rows behind the watermark, each with the last upsert of its key that is not after it;
* `<name>`: the columns of the pairs; NULL on the right where there is none, or the rest of the condition does not hold.
"""

from __future__ import annotations

from sqlglot import exp

from penstock.codegen.program import AnyView, BucketView, View
from penstock.codegen.sql.gathered import rows_view, tables_view
from penstock.codegen.sql.lookup_views import order_of, select_joined
from penstock.codegen.sql.printing import print_duckdb, print_sql
from penstock.codegen.sql.row_forms import DELETED, ORDER
from penstock.codegen.sql.trees import alias, both, call, column, only_if, row_struct, select
from penstock.planner.plan import Expression, TableLookup

_UPSERT = "is_upsert"


def as_of_views(node: TableLookup, name: str, stream: str, upserts: str, buckets: int) -> tuple[AnyView, ...]:
    """The views; the last one has the node's schema. Keys are spread over so many `buckets`."""
    keys = [f"k{place}" for place in range(len(node.equalities))]
    sides = View(f"{name}_sides", print_sql(_sides(node, keys, stream, upserts)))
    fields = ((each, column(each)) for each in ("time", _UPSERT, *keys, "order", "left", "right"))
    rows = rows_view(name, sides.name, "time", [*map(column, keys)], fields, buckets=buckets)
    tables = tables_view(name, rows)
    shown = [alias(column("row", each), each) for each in ("left", "right")]
    pairs = BucketView(
        name=f"{name}_pairs",
        source=tables.name,
        order=print_duckdb(_order(keys)),
        sql=print_duckdb(_last_records()),
        time="time",
        back=1,
        given=("time", _UPSERT, *keys, "order"),
        kept=("left",),
        picked=(("right", "right"),),
        schema=print_sql(select(shown, rows.name)),
        only=_UPSERT,
    )
    joined = select_joined(node, node.stream, node.table, pairs.name)
    return sides, rows, tables, pairs, View(name, print_sql(joined))


def _sides(node: TableLookup, keys: list[str], stream: str, upserts: str) -> Expression:
    """Columns `time`, `is_upsert`, `k0`, `k1` …, `order`, `left`, `right`."""
    as_of = node.as_of
    assert as_of is not None

    def one(*, is_upsert: bool) -> Expression:
        values = (equality[1 if is_upsert else 0] for equality in node.equalities)
        row = only_if(exp.Not(this=column(DELETED)), row_struct(node.table.schema))
        items = [
            alias(column(ORDER, "sequence") if is_upsert else column(as_of), "time"),
            alias(exp.Boolean(this=is_upsert), _UPSERT),
            *(alias(value, key) for value, key in zip(values, keys, strict=True)),
            alias(order_of(node.table) if is_upsert else exp.Null(), "order"),
            alias(exp.Null() if is_upsert else row_struct(node.stream.schema), "left"),
            alias(row if is_upsert else exp.Null(), "right"),
        ]
        return select(items, upserts if is_upsert else stream)

    return exp.Union(this=one(is_upsert=False), expression=one(is_upsert=True), distinct=False)


def _order(keys: list[str]) -> Expression:
    """DuckDB's SELECT of all places, key by key, by time, upserts before rows, and rows of one time in their order."""
    partition = [exp.Ordered(this=column(each), nulls_first=True) for each in ("pane", *keys)]
    numbered = exp.Window(this=call("DENSE_RANK"), order=exp.Order(expressions=partition), over="OVER")
    last = exp.Ordered(this=column(_UPSERT), desc=True, nulls_first=False)
    behind = [exp.Ordered(this=column(each), nulls_first=True) for each in ("time", "order")]
    query = select([column("place"), alias(numbered, "pane")], "rows")
    in_order = [*(each.copy() for each in partition), behind[0], last, behind[1]]
    return query.order_by(*in_order, copy=False)


def _last_records() -> Expression:
    """DuckDB's SELECT: the place of each row that is new behind the watermark, and the place of its upsert."""
    frame = exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW")
    upsert = call("MAX", only_if(column(_UPSERT), column("place")))
    before = exp.Window(
        this=upsert,
        partition_by=[column("pane")],
        order=exp.Order(expressions=[exp.Ordered(this=column("place"), nulls_first=True)]),
        spec=frame,
        over="OVER",
    )
    query = select([column("place"), alias(before, "right")], "rows")
    wanted = both(column("new"), exp.Not(this=column(_UPSERT)))
    query.set("qualify", exp.Qualify(this=wanted))
    return query
