"""How rows change a table that others own -> what the runtime does with the rows of each micro-batch.

An update that reads the row as it is cannot be computed while the rows stream: it needs the row from the database. So
the runtime groups the rows of a micro-batch by key and adds the present row of each key. Spark folds the updates of a
key into that row, one after the other. The updates mean in the fold what they mean anywhere else. Where an update adds
to the row, and does nothing else with it, most rows need no fold.
"""

from __future__ import annotations

from sqlglot import exp

from penstock.codegen.sql.printing import print_sql
from penstock.codegen.sql.row_forms import ORDER
from penstock.codegen.sql.trees import (
    alias,
    call,
    column,
    either,
    function,
    is_null,
    null,
    number,
    select,
    struct_of,
)
from penstock.codegen.table_change import TableChange
from penstock.planner.plan import DeleteRows, Expression, PutRows, RunningQuery, UpdateRows
from penstock.planner.plan.substitute import substitute
from penstock.planner.plan.walk import arrives_in_order

GROUP, CURRENT, UPDATES, ROW = "_group", "_current", "_updates", "_row"
"""The columns of the view that the fold reads, and the column that it computes."""


def lower_change(query: RunningQuery, operation: str | None) -> TableChange | None:
    """The change of a table by the rows of a query. `operation`: its column that says what a row does, if any."""
    change = query.change
    if change is None:
        return None
    table = tuple((each.name, str(each.type), each.nullable) for each in change.table.columns)
    order = None
    if isinstance(change, PutRows | UpdateRows):
        order = ORDER if is_ordered_by_arrival(query) else change.order
    match change:
        case PutRows():
            return TableChange("put", table, change.table.key, order, operation)
        case DeleteRows():
            return TableChange("delete", table, change.table.key)
        case UpdateRows():
            return TableChange(
                "update",
                table,
                change.table.key,
                order,
                assigned=tuple(each.name for each in change.assignments),
                inserted=None if change.default is None else tuple(each.name for each in change.default),
                current=tuple(each.name for _, each in change.current),
                fold=print_fold(change, f"{query.name}{UPDATES}") if change.current else None,
                sums=change.sums,
            )


def is_ordered_by_arrival(query: RunningQuery) -> bool:
    """Whether the rows of the query carry the places of their records, because the last one of a key counts."""
    change = query.change
    return isinstance(change, PutRows | UpdateRows) and change.order is None and arrives_in_order(query.root)


def print_fold(change: UpdateRows, source: str) -> str:
    """The SELECT that folds the updates of each key, in order, into the row of the key.

    The view `source` has a number `_group` and the struct `_current`, NULL for a key without a row. `_updates` is
    an array of structs with the columns of the query.
    """
    values = {each.name: each for each in change.assignments}
    default = {each.name: each for each in change.default or ()}
    known = {column.name: column.type for _, column in change.current}
    types = {**{name: each.type for name, each in {**default, **values}.items()}, **known}
    used = [
        each.name for named in (*change.assignments, *default.values()) for each in named.value.find_all(exp.Column)
    ]

    def over(row: str, update: Expression) -> dict[str, Expression]:
        """What the columns of the expressions stand for in the fold."""
        own = {name: column(row, each.name) for name, each in change.current}
        return {
            each: exp.Dot(this=update.copy(), expression=exp.Identifier(this=each, quoted=True)) for each in used
        } | own

    def begin(name: str) -> Expression:
        present = column(CURRENT, name) if name in known else null(types[name])
        if name not in default:
            return present
        first = over(ROW, call("ELEMENT_AT", column(UPDATES), number(1)))
        return either(is_null(column(CURRENT)), substitute(default[name].value, first), present)

    def step(row: str, update: str) -> Expression:
        given = over(row, column(update))
        return struct_of(
            (name, substitute(values[name].value, given) if name in values else column(row, name)) for name in types
        )

    start = struct_of((name, begin(name)) for name in types)
    folded = call("AGGREGATE", column(UPDATES), start, function(ROW, "_update", body=step))
    return print_sql(select([column(GROUP), alias(folded, ROW)], source))
