"""RemoteLookup -> the keys of each row, and what Python workers find for these in a database.

* `<name>_keys`: the rows of the stream as `c0`, `c1` …, and the values of the keys as `k0`, `k1` …;
* `<name>_found`: these rows, and the columns of the table beside them as `p0`, `p1` …; `a0` says whether
  the table has any row, if that is asked for;
* `<name>`: the same columns under their own names. Spark's `mapInArrow` takes no names with points in them.
"""

from __future__ import annotations

from penstock.codegen.program import AnyView, RemoteView, View
from penstock.codegen.sql.printing import print_sql
from penstock.codegen.sql.trees import alias, column, null, select
from penstock.planner.plan import JoinType, RemoteLookup
from penstock.planner.types import BOOLEAN


def remote_views(node: RemoteLookup, name: str, source: str, own: tuple[str, ...]) -> tuple[AnyView, ...]:
    """The views; the last one has the node's schema, and the columns that the source has of its `own`."""
    passed = [*(each.name for each in node.input.schema), *own]
    rows = [f"c{place}" for place in range(len(passed))]
    keys = {each.column: f"k{place}" for place, each in enumerate(node.keys)}
    found = [f"p{place}" for place in range(len(node.columns))]
    items = [alias(column(old), new) for old, new in zip(passed, rows, strict=True)]
    items += [alias(each.value, keys[each.column]) for each in node.keys]
    asked = View(f"{name}_keys", print_sql(select(items, source)))
    types = {each.name: each.type for each in node.origin.columns}
    nulls = [alias(null(types[each.column]), new) for each, new in zip(node.columns, found, strict=True)]
    any_row = None if node.any_row is None else "a0"
    nulls += [] if any_row is None else [alias(null(BOOLEAN), any_row)]
    origin = node.origin
    answered = RemoteView(
        name=f"{name}_found",
        source=asked.name,
        table=origin.name,
        connector=origin.connector,
        options=origin.options,
        columns=tuple((each.name, str(each.type), each.nullable) for each in origin.columns),
        key=tuple((each, keys[each]) for each in origin.key),
        picked=tuple((new, each.column) for each, new in zip(node.columns, found, strict=True)),
        outer=node.type is JoinType.LEFT,
        schema=print_sql(select([*map(column, rows), *nulls], asked.name)),
        any_row=any_row,
        span=node.span,
    )
    names = dict(zip(passed, rows, strict=True)) | {
        each.name: new for each, new in zip(node.columns, found, strict=True)
    }
    if node.any_row is not None and any_row is not None:
        names[node.any_row] = any_row
    shown = [alias(column(names[each]), each) for each in (*(c.name for c in node.schema), *own)]
    return asked, answered, View(name, print_sql(select(shown, answered.name)))
