"""How rows of tables travel through the views of a query, and how a query sends what became of them.

Beside the columns of a table its views have columns of their own:

- A **record** has `_order`, a value that is greatest in the newest record of a key, and `_deleted`, whether there is no
  row of that key (any more). Its other columns but the key then mean nothing.
- A **result**, what an operator with state makes of a key in a micro-batch in which anything came for it, is a record
  with `_key`, the operator's own key. Its `_order` is how often anything has come for the key: from one micro-batch to
  the next it grows, and it is the same when a micro-batch is replayed.
- A **move** is a row that comes into the table (`_sign` 1) or leaves it (`_sign` -1). Where it matters, it has the
  `_order` of the moves of its key, too.

Between two queries, and at the end of the last, go **changes**: the rows before and after. They are made of results, or
of moves, by one more aggregation, which keeps the last two of each key.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from penstock.codegen.program import DELETE, INSERT, UPDATE, View
from penstock.codegen.sql.ordering import comparable, holds_map
from penstock.codegen.sql.printing import print_sql
from penstock.codegen.sql.trees import (
    call,
    cast,
    column,
    columns,
    either,
    is_null,
    named,
    number,
    only_if,
    select,
    struct,
    struct_of,
    text,
)
from penstock.planner.plan import Column, Expression, Filter, Named, Project
from penstock.planner.types import BIGINT, Struct

ORDER, DELETED, KEY, SIGN = "_order", "_deleted", "_key", "_sign"
RECORD, RESULT, MOVE, ORDERED_MOVE = (ORDER, DELETED), (KEY, ORDER, DELETED), (SIGN,), (SIGN, ORDER)
BEFORE, AFTER, VERSION = "_before", "_after", "_version"
OPERATION = "_operation"
"""What the column is called that says what a row does, where the sink does not call it otherwise."""


def filter_view(node: Filter, name: str, source: str, own: tuple[str, ...]) -> View:
    """Records that do not pass take the row of their key out of the table; of moves only those that pass are."""
    if DELETED not in own:
        kept = select([*columns(node.schema), *map(column, own)], source)
        return View(name, print_sql(kept.where(node.condition, copy=False)))
    passes = call("COALESCE", node.condition, exp.Boolean(this=False))
    # In this order: what a deleted row holds must not be looked at.
    deleted = either(column(DELETED), exp.Boolean(this=True), exp.Not(this=passes))
    marks = [column(each) for each in own if each != DELETED]
    return View(name, print_sql(select([*columns(node.schema), *marks, named(deleted, DELETED)], source)))


def project_view(node: Project, name: str, source: str, own: tuple[str, ...]) -> View:
    """The items; of a deleted row those that are the key, and no others need be known."""

    def value(item: Named) -> Expression:
        if DELETED not in own or isinstance(item.value, exp.Column) or item.name in node.shape.key:
            return item.value
        return only_if(exp.Not(this=column(DELETED)), item.value)

    items = [named(value(item), item.name) for item in node.items]
    return View(name, print_sql(select([*items, *map(column, own)], source)))


def key_struct(keys: Iterable[tuple[str, Expression]]) -> Expression | None:
    """The key of an operator as one value, None if all rows are of one key."""
    fields = list(keys)
    return struct_of(fields) if fields else None


def grouped(items: Iterable[Expression], source: str, key: Expression | None) -> exp.Select:
    """SELECT the key, the items GROUP BY the key."""
    if key is None:
        return select(items, source)
    return select([named(key, KEY), *items], source).group_by(key.copy(), copy=False)


def own_key(key: object) -> list[Expression]:
    """The column of the key in a view over `grouped`, if there is one."""
    return [] if key is None else [column(KEY)]


def changes_views(schema: tuple[Column, ...], name: str, source: str, own: tuple[str, ...]) -> tuple[View, ...]:
    """Results -> changes: the rows before and after, and the order of the change. What stays as it was is left out."""
    row = struct_of((each.name, column(each.name)) for each in schema)
    kept = struct(row=only_if(exp.Not(this=column(DELETED)), row), version=column(ORDER))
    last = named(call("MAX_BY", kept, column(ORDER), number(2)), "_last")
    rows = View(f"{name}_last", print_sql(grouped([last], source, column(KEY) if KEY in own else None)))
    before = exp.Dot(this=call("GET", column("_last"), number(1)), expression=exp.Identifier(this="row", quoted=True))
    newest = call("GET", column("_last"), number(0))
    items = [
        named(before, BEFORE),
        named(exp.Dot(this=newest, expression=exp.Identifier(this="row", quoted=True)), AFTER),
        named(exp.Dot(this=newest.copy(), expression=exp.Identifier(this="version", quoted=True)), VERSION),
    ]
    pairs = View(f"{name}_pairs", print_sql(select(items, rows.name)))
    return rows, pairs, _changed(schema, name, pairs.name)


def changes_of_moves_views(
    schema: tuple[Column, ...], name: str, source: str, key: Iterable[str], clock: str
) -> tuple[View, ...]:
    """Moves -> changes. In a micro-batch at most one row of a key leaves, and at most one comes.

    The number of the micro-batch, of which the view `clock` tells, is the order of the change.
    """
    row = struct_of((each.name, column(each.name)) for each in schema)
    batch = exp.Subquery(this=select([column("batch")], clock))
    own = key_struct((each, column(each)) for each in key)
    keys = [] if own is None else [named(own, KEY)]
    numbered = View(
        f"{name}_rows", print_sql(select([*keys, named(row, "_row"), column(SIGN), named(batch, VERSION)], source))
    )
    items = []
    for sign, side in ((-1, BEFORE), (1, AFTER)):
        when = only_if(exp.EQ(this=column(SIGN), expression=number(sign)), column(VERSION))
        items += [named(call("MAX_BY", column("_row"), when), side), named(call("MAX", when.copy()), f"{side}_batch")]
    rows = View(f"{name}_last", print_sql(grouped(items, numbered.name, column(KEY) if keys else None)))
    version = call("GREATEST", *(column(f"{side}_batch") for side in (BEFORE, AFTER)))
    sides = [
        named(only_if(exp.EQ(this=column(f"{side}_batch"), expression=version.copy()), column(side)), side)
        for side in (BEFORE, AFTER)
    ]
    pairs = View(f"{name}_pairs", print_sql(select([*sides, named(version, VERSION)], rows.name)))
    return numbered, rows, pairs, _changed(schema, name, pairs.name)


def _changed(schema: tuple[Column, ...], name: str, pairs: str) -> View:
    """The changes in which the row does not stay as it was."""
    same = exp.NullSafeEQ(this=_compared(BEFORE, schema), expression=_compared(AFTER, schema))
    changed = select(map(column, (BEFORE, AFTER, VERSION)), pairs).where(exp.Not(this=same), copy=False)
    return View(name, print_sql(changed))


def _compared(row: str, schema: tuple[Column, ...]) -> Expression:
    """A row in a form that Spark can compare."""
    if not any(holds_map(each.type) for each in schema):
        return column(row)

    def value(each: Column) -> Expression:
        value = column(row, each.name)
        return comparable(value, each.type) if holds_map(each.type) else value

    return only_if(exp.Not(this=is_null(column(row))), struct_of((each.name, value(each)) for each in schema))


def sent_view(schema: tuple[Column, ...], name: str, source: str, operation: str) -> View:
    """Changes -> rows and what each does: a deleted one is sent as it was."""
    is_deleted = is_null(column(AFTER))
    ifs = [
        exp.If(this=is_null(column(BEFORE)), true=text(INSERT)),
        exp.If(this=is_deleted.copy(), true=text(DELETE)),
    ]
    items = [named(_there(each.name), each.name) for each in schema]
    return View(name, print_sql(select([*items, named(exp.Case(ifs=ifs, default=text(UPDATE)), operation)], source)))


def _there(name: str) -> Expression:
    """A column of the row after, or of the row before if there is none after."""
    return either(is_null(column(AFTER)), column(BEFORE, name), column(AFTER, name))


def stored_changes(schema: tuple[Column, ...]) -> tuple[tuple[str, str], ...]:
    """The columns of an intermediate changelog, as Spark writes their types."""
    row = str(Struct(tuple((each.name, each.type) for each in schema)))
    return (BEFORE, row), (AFTER, row), (VERSION, str(BIGINT))


def records_view(schema: tuple[Column, ...], name: str, source: str) -> View:
    """Changes -> records: the row after, or that there is none."""
    items = [named(_there(each.name), each.name) for each in schema]
    return View(
        name, print_sql(select([*items, named(column(VERSION), ORDER), named(is_null(column(AFTER)), DELETED)], source))
    )


def moves_views(schema: tuple[Column, ...], name: str, source: str, own: tuple[str, ...]) -> tuple[View, View]:
    """Changes -> moves, maybe ordered ones: the row before leaves, the row after comes."""

    def move(sign: int, row: str) -> Expression:
        fields = {"sign": cast(number(sign), BIGINT), "row": column(row)}
        if ORDER in own:
            doubled = exp.Mul(this=column(VERSION), expression=number(2))
            fields["order"] = exp.Add(this=doubled, expression=number(1)) if sign > 0 else doubled
        return struct(**fields)

    pair = call("ARRAY", move(-1, BEFORE), move(1, AFTER))
    both = View(f"{name}_moves", print_sql(select([named(call("EXPLODE", pair), "_move")], source)))
    items = [named(column("_move", "row", each.name), each.name) for each in schema]
    marks = [named(column("_move", each.removeprefix("_")), each) for each in own]
    tree = select([*items, *marks], both.name)
    return both, View(name, print_sql(tree.where(exp.Not(this=is_null(column("_move", "row"))), copy=False)))
