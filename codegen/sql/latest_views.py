"""Latest -> the newest upsert of each key, from an aggregation whose state is the table."""

from __future__ import annotations

from functools import reduce

from sqlglot import exp

from penstock.codegen.program import View
from penstock.codegen.sql.printing import print_sql
from penstock.codegen.sql.row_forms import DELETED, ORDER, group_by_key, key_value, own_key
from penstock.codegen.sql.trees import alias, call, column, number, row_columns, select, struct_of, text
from penstock.planner.plan import Expression, Latest, Node
from penstock.planner.plan.scan import DELETES


def latest_views(node: Latest, name: str, source: str) -> tuple[View, View]:
    """Records -> results."""
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
    """How often anything has come for a key: the order of its results."""
    return alias(call("COUNT", number(1)), ORDER)


def is_delete(operation: Expression) -> Expression:
    """Whether the text is one of DELETES, in letters of any case.

    LOWER costs a second of CPU when Spark calls it first. Few records begin as one that deletes does.
    """
    small = "".join(sorted({letter for word in DELETES for letter in word if letter.isalpha()}))
    begins = sorted({word[0] for word in DELETES} | {word[0].upper() for word in DELETES})
    starts = [call("STARTSWITH", operation.copy(), text(each)) for each in begins]
    same = call("TRANSLATE", operation, text(small.upper()), text(small))
    is_word = exp.In(this=same, expressions=[text(each) for each in DELETES])
    return exp.And(this=exp.Paren(this=reduce(_either, starts)), expression=is_word)


def _either(one: Expression, other: Expression) -> Expression:
    return exp.Or(this=one, expression=other)
