"""Latest -> the newest upsert of each key, from an aggregation whose state is the table."""

from __future__ import annotations

from penstock.codegen.program import View
from penstock.codegen.sql.printing import print_sql
from penstock.codegen.sql.row_forms import DELETED, ORDER, group_by_key, key_value, own_key
from penstock.codegen.sql.trees import alias, call, column, number, row_columns, select, struct_of
from penstock.planner.plan import Expression, Latest, Node


def latest_views(node: Latest, name: str, source: str) -> tuple[View, View]:
    """Views `<name>_newest`, which has the newest upsert of each key as a struct, and `<name>` with its columns."""
    key = key_value(map(column, node.shape.key))
    newest = alias(call("MAX_BY", upsert_struct(node), column(ORDER)), "_newest")
    table = View(f"{name}_newest", print_sql(group_by_key([newest, count_arrivals()], source, key)))
    items = row_columns(node.schema, lambda field: column("_newest", field))
    own = [*own_key(key), column(ORDER), alias(column("_newest", DELETED), DELETED)]
    return table, View(name, print_sql(select([*items, *own], table.name)))


def upsert_struct(node: Node) -> Expression:
    """An upsert as one value: its columns as c0, c1 …, and whether it is a tombstone."""
    fields = ((f"c{place}", column(each.name)) for place, each in enumerate(node.schema))
    return struct_of([*fields, (DELETED, column(DELETED))])


def count_arrivals() -> Expression:
    """The number of upserts that have come for a key. It orders the results of the key."""
    return alias(call("COUNT", number(1)), ORDER)
