"""The forms in which the views of a query hold rows of tables, and the changes that a query sends.

Beside the columns of a table its views have columns of their own:

- An **upsert** has `_order`, which is greatest in the newest upsert of a key, and `_deleted`. A deleted upsert is a
  tombstone: only its key columns mean anything.
- A **key result** is what a stateful operator computes for one key in one micro-batch. It is an upsert that has the
  operator's own key as `_key`. Its `_order` counts the rows that have arrived for the key. It grows with every
  micro-batch, and replaying a micro-batch gives the same number.
- A **change** has the row before, the row after, and their order, as queries send it. An operator that knows the row
  before has this form.
- A **delta** is a row that is inserted into the table (`_delta` 1) or deleted from it (`_delta` -1). An ordered
  delta has the `_order` of the deltas of its key, too.

Queries send changes to other queries and to sinks. One more aggregation makes them of key results or of deltas. It
keeps the last two of each key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce

from sqlglot import exp

from penstock.codegen.program import DELETE, INSERT, UPDATE, View
from penstock.codegen.sql.clock import read_batch
from penstock.codegen.sql.ordering import comparable, holds_map
from penstock.codegen.sql.printing import print_sql
from penstock.codegen.sql.trees import (
    alias,
    call,
    cast,
    column,
    columns,
    either,
    is_null,
    number,
    only_if,
    row_columns,
    row_struct,
    select,
    struct,
    struct_of,
    text,
)
from penstock.planner.physical.row_form import RowForm
from penstock.planner.plan import Column, Expression, Filter, Named, Node, Project
from penstock.planner.plan.scan import DELETES
from penstock.planner.plan.substitute import substitute
from penstock.planner.types import BIGINT, Struct

ORDER, DELETED, KEY, DELTA = "_order", "_deleted", "_key", "_delta"
UPSERT, KEY_RESULT, DELTA_ROW, ORDERED_DELTA_ROW = (ORDER, DELETED), (KEY, ORDER, DELETED), (DELTA,), (DELTA, ORDER)
BEFORE, AFTER, VERSION = "_before", "_after", "_version"
CHANGE_ROW = (BEFORE, AFTER, VERSION)
COLUMNS = {
    RowForm.ROWS: (),
    RowForm.ORDERED_ROWS: (ORDER,),
    RowForm.UPSERTS: UPSERT,
    RowForm.KEY_RESULTS: KEY_RESULT,
    RowForm.DELTAS: DELTA_ROW,
    RowForm.ORDERED_DELTAS: ORDERED_DELTA_ROW,
    RowForm.CHANGES: CHANGE_ROW,
}
"""The columns of each form."""
OPERATION = "_operation"
"""What the column is called that says what a row does, where the sink does not call it otherwise."""


def filter_view(node: Filter, name: str, source: str, own: tuple[str, ...]) -> View:
    """An upsert that fails the filter becomes a delete; a delta, or a row of a change, that fails it is dropped."""
    if own == CHANGE_ROW:
        return _each_side_view(
            node.input.schema,
            name,
            source,
            lambda side, values: only_if(
                call("COALESCE", substitute(node.condition, values), exp.Boolean(this=False)), column(side)
            ),
        )
    if DELETED not in own:
        kept = select([*columns(node.schema), *map(column, own)], source)
        return View(name, print_sql(kept.where(node.condition, copy=False)))
    passes = call("COALESCE", node.condition, exp.Boolean(this=False))
    # In this order: what a deleted row holds must not be looked at.
    deleted = either(column(DELETED), exp.Boolean(this=True), exp.Not(this=passes))
    marks = [column(each) for each in own if each != DELETED]
    return View(name, print_sql(select([*columns(node.schema), *marks, alias(deleted, DELETED)], source)))


def project_view(node: Project, name: str, source: str, own: tuple[str, ...]) -> View:
    """The items. For a tombstone, only items that are part of the key are computed."""
    if own == CHANGE_ROW:
        return _each_side_view(
            node.input.schema,
            name,
            source,
            lambda _, values: struct_of(
                (f"c{place}", substitute(item.value, values)) for place, item in enumerate(node.items)
            ),
        )

    def value(item: Named) -> Expression:
        if DELETED not in own or isinstance(item.value, exp.Column) or item.name in node.shape.key:
            return item.value
        return only_if(exp.Not(this=column(DELETED)), item.value)

    items = [alias(value(item), item.name) for item in node.items]
    return View(name, print_sql(select([*items, *map(column, own)], source)))


def _each_side_view(
    schema: tuple[Column, ...], name: str, source: str, row: Callable[[str, dict[str, Expression]], Expression]
) -> View:
    """Changes with another row on each side that has one. `row` is given the side and its columns by name."""

    def side_of(side: str) -> Expression:
        values = {each.name: column(side, f"c{place}") for place, each in enumerate(schema)}
        return alias(only_if(exp.Not(this=is_null(column(side))), row(side, values)), side)

    return View(name, print_sql(select([side_of(BEFORE), side_of(AFTER), column(VERSION)], source)))


def key_value(keys: Iterable[Expression]) -> Expression | None:
    """The key of an operator as one value, None if all rows are of one key.

    A key of several columns is a struct with the fields k0, k1 …. Spark sorts structs by comparing them field by field,
    but one number by its bits: so a single column stays what it is.
    """
    parts = list(keys)
    return parts[0] if len(parts) == 1 else key_struct(parts)


def key_struct(keys: Iterable[Expression]) -> Expression | None:
    """The key of an operator as a struct with the fields k0, k1 …, None if all rows are of one key."""
    fields = [(f"k{place}", key) for place, key in enumerate(keys)]
    return struct_of(fields) if fields else None


def key_columns(count: int) -> list[Expression]:
    """The columns of a key of `count` columns, in a view that has it as `key_value`."""
    return [column(KEY)] if count == 1 else [column(KEY, f"k{place}") for place in range(count)]


def group_by_key(items: Iterable[Expression], source: str, key: Expression | None) -> exp.Select:
    """SELECT the key, the items GROUP BY the key."""
    if key is None:
        return select(items, source)
    return select([alias(key, KEY), *items], source).group_by(key.copy(), copy=False)


def own_key(key: object) -> list[Expression]:
    """The column of the key in a view over `group_by_key`, if there is one."""
    return [] if key is None else [column(KEY)]


def sent_changes_views(root: Node, query: str, source: str, own: tuple[str, ...]) -> tuple[View, ...]:
    """The rows of a table that a query sends, as changes. The columns of the view `source` are in the form `own`."""
    name = f"{query}_changes"
    if own == CHANGE_ROW:
        return (_drop_unchanged(root.schema, name, source),)
    if own == DELTA_ROW:
        return changes_of_deltas_views(root.schema, name, source, root.shape.key, f"{query}_clock")
    return changes_views(root.schema, name, source, own)


def changes_views(schema: tuple[Column, ...], name: str, source: str, own: tuple[str, ...]) -> tuple[View, ...]:
    """Key results -> changes: the row before, the row after, and their order. Rows that stay equal are dropped."""
    kept = struct(row=only_if(exp.Not(this=column(DELETED)), row_struct(schema)), version=column(ORDER))
    last = alias(call("MAX_BY", kept, column(ORDER), number(2)), "_last")
    rows = View(f"{name}_last", print_sql(group_by_key([last], source, column(KEY) if KEY in own else None)))
    before = exp.Dot(this=call("GET", column("_last"), number(1)), expression=exp.Identifier(this="row", quoted=True))
    newest = call("GET", column("_last"), number(0))
    items = [
        alias(before, BEFORE),
        alias(exp.Dot(this=newest, expression=exp.Identifier(this="row", quoted=True)), AFTER),
        alias(exp.Dot(this=newest.copy(), expression=exp.Identifier(this="version", quoted=True)), VERSION),
    ]
    pairs = View(f"{name}_pairs", print_sql(select(items, rows.name)))
    return rows, pairs, _drop_unchanged(schema, name, pairs.name)


def inner_table_views(node: Node, name: str, source: str, own: tuple[str, ...]) -> tuple[View, ...]:
    """Key results -> upserts, or the deltas of their changes, for an operator of the same query."""
    if own == UPSERT:
        return (View(name, print_sql(select([*columns(node.schema), *map(column, own)], source))),)
    between = f"{name}_changes"
    return *changes_views(node.schema, between, source, KEY_RESULT), *delta_views(node.schema, name, between, own)


def changes_of_deltas_views(
    schema: tuple[Column, ...], name: str, source: str, key: Iterable[str], clock: str
) -> tuple[View, ...]:
    """Deltas -> changes. A micro-batch deletes at most one row of a key, and inserts at most one.

    The order of the change is the number of the micro-batch, which the view `clock` has.
    """
    own = key_value(map(column, key))
    keys = [] if own is None else [alias(own, KEY)]
    stored = [*keys, alias(row_struct(schema), "_row"), column(DELTA), alias(read_batch(clock), VERSION)]
    numbered = View(f"{name}_rows", print_sql(select(stored, source)))
    items = []
    for delta, side in ((-1, BEFORE), (1, AFTER)):
        when = only_if(exp.EQ(this=column(DELTA), expression=number(delta)), column(VERSION))
        items += [alias(call("MAX_BY", column("_row"), when), side), alias(call("MAX", when.copy()), f"{side}_batch")]
    rows = View(f"{name}_last", print_sql(group_by_key(items, numbered.name, column(KEY) if keys else None)))
    version = call("GREATEST", *(column(f"{side}_batch") for side in (BEFORE, AFTER)))
    sides = [
        alias(only_if(exp.EQ(this=column(f"{side}_batch"), expression=version.copy()), column(side)), side)
        for side in (BEFORE, AFTER)
    ]
    pairs = View(f"{name}_pairs", print_sql(select([*sides, alias(version, VERSION)], rows.name)))
    return numbered, rows, pairs, _drop_unchanged(schema, name, pairs.name)


def _drop_unchanged(schema: tuple[Column, ...], name: str, pairs: str) -> View:
    """The changes in which the row does not stay as it was."""
    same = exp.NullSafeEQ(this=_make_comparable(BEFORE, schema), expression=_make_comparable(AFTER, schema))
    changed = select(map(column, (BEFORE, AFTER, VERSION)), pairs).where(exp.Not(this=same), copy=False)
    return View(name, print_sql(changed))


def _make_comparable(row: str, schema: tuple[Column, ...]) -> Expression:
    """A row in a form that Spark can compare."""
    if not any(holds_map(each.type) for each in schema):
        return column(row)

    values = (
        comparable(column(row, f"c{place}"), each.type) if holds_map(each.type) else column(row, f"c{place}")
        for place, each in enumerate(schema)
    )
    whole = struct_of((f"c{place}", value) for place, value in enumerate(values))
    return only_if(exp.Not(this=is_null(column(row))), whole)


def sent_view(schema: tuple[Column, ...], query: str, operation: str) -> View:
    """Changes of a query -> rows with their operation. A deleted row is sent with its last values."""
    is_deleted = is_null(column(AFTER))
    ifs = [
        exp.If(this=is_null(column(BEFORE)), true=text(INSERT)),
        exp.If(this=is_deleted.copy(), true=text(DELETE)),
    ]
    items = [*row_columns(schema, _there), alias(exp.Case(ifs=ifs, default=text(UPDATE)), operation)]
    return View(f"{query}_sent", print_sql(select(items, f"{query}_changes")))


def _there(name: str) -> Expression:
    """A field of the row after, or of the row before if there is none after."""
    return either(is_null(column(AFTER)), column(BEFORE, name), column(AFTER, name))


def stored_changes(schema: tuple[Column, ...]) -> tuple[tuple[str, str], ...]:
    """The columns of an intermediate changelog, as Spark writes their types."""
    row = str(Struct(tuple((f"c{place}", each.type) for place, each in enumerate(schema))))
    return (BEFORE, row), (AFTER, row), (VERSION, str(BIGINT))


def upserts_view(schema: tuple[Column, ...], name: str, source: str) -> View:
    """Changes -> upserts: the row after, or a tombstone."""
    marks = [alias(column(VERSION), ORDER), alias(is_null(column(AFTER)), DELETED)]
    return View(name, print_sql(select([*row_columns(schema, _there), *marks], source)))


def delta_views(schema: tuple[Column, ...], name: str, source: str, own: tuple[str, ...]) -> tuple[View, View]:
    """Changes -> deltas, ordered ones if `own` says so: the row before is deleted, the row after inserted."""

    def delta_struct(delta: int, row: str) -> Expression:
        fields = {"delta": cast(number(delta), BIGINT), "row": column(row)}
        if ORDER in own:
            doubled = exp.Mul(this=column(VERSION), expression=number(2))
            fields["order"] = exp.Add(this=doubled, expression=number(1)) if delta > 0 else doubled
        return struct(**fields)

    pair = call("ARRAY", delta_struct(-1, BEFORE), delta_struct(1, AFTER))
    both = View(f"{name}_deltas", print_sql(select([alias(call("EXPLODE", pair), "_entry")], source)))
    items = row_columns(schema, lambda field: column("_entry", "row", field))
    marks = [alias(column("_entry", each.removeprefix("_")), each) for each in own]
    tree = select([*items, *marks], both.name)
    return both, View(name, print_sql(tree.where(exp.Not(this=is_null(column("_entry", "row"))), copy=False)))


def is_delete(operation: Expression) -> Expression:
    """Whether the text is one of DELETES, in upper or lower case.

    The first LOWER costs Spark a second of CPU, so TRANSLATE is used. Few texts begin with a letter of DELETES.
    STARTSWITH is enough for the others.
    """
    lower = "".join(sorted({letter for word in DELETES for letter in word if letter.isalpha()}))
    begins = sorted({word[0] for word in DELETES} | {word[0].upper() for word in DELETES})
    starts = [call("STARTSWITH", operation.copy(), text(each)) for each in begins]
    same = call("TRANSLATE", operation, text(lower.upper()), text(lower))
    is_word = exp.In(this=same, expressions=[text(each) for each in DELETES])
    begins_so = reduce(lambda one, other: exp.Or(this=one, expression=other), starts)
    return exp.And(this=exp.Paren(this=begins_so), expression=is_word)
