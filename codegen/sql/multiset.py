"""GroupAggregate over a table -> buckets of values with the numbers of their rows, and DuckDB's aggregates over these.

Some aggregates follow from the values of the rows that are there: the least one, the different ones, sums that round.
Spark has no aggregation that forgets values, so the groups are spread over some buckets. The state of a bucket is one
table. For each group it has the totals: the number of rows, the number of arrivals, and exact sums. It also has a row
for each different combination of values, with the number of rows that have it. Views:

* `<name>_values`: the key of each delta, what it adds to the totals, and its values;
* `<name>_rows`, `<name>_tables`: these in tables, one for each bucket;
* `<name>_groups`: the totals of each group that deltas touch, and what DuckDB computes over the values;
* `<name>`: the key results.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, assert_never

from sqlglot import exp

from penstock.codegen.program import AnyView, MultisetView, View
from penstock.codegen.sql.collect import collected_type, collected_value, finish_values
from penstock.codegen.sql.decimals import EXACT_DIGITS, decimal_mean
from penstock.codegen.sql.frame_calls import is_number
from penstock.codegen.sql.gathered import rows_view, tables_view
from penstock.codegen.sql.lookup_views import NO_TIME
from penstock.codegen.sql.ordering import comparable, make_zero_positive, make_zeros_positive
from penstock.codegen.sql.printing import print_duckdb, print_sql
from penstock.codegen.sql.retraction_sums import Sums
from penstock.codegen.sql.row_fields import RowFields
from penstock.codegen.sql.row_forms import DELETED, DELTA, KEY, ORDER, key_struct
from penstock.codegen.sql.trees import (
    alias,
    both,
    call,
    cast,
    column,
    column_of,
    either,
    filter_rows,
    is_null,
    null,
    number,
    only_if,
    rows_where,
    select,
    struct_of,
)
from penstock.planner import find_type
from penstock.planner.functions.facts import Collecting, DistinctRule, Retraction
from penstock.planner.plan import Aggregate, Expression, GroupAggregate, Sorting, WindowAggregate
from penstock.planner.types import BIGINT, BOOLEAN, DOUBLE, INTEGERS, Array, Decimal, Struct, Type

_Rounding: TypeAlias = Literal[
    Retraction.SUM,
    Retraction.MEAN,
    Retraction.VAR_POP,
    Retraction.VAR_SAMP,
    Retraction.STDDEV_POP,
    Retraction.STDDEV_SAMP,
]
"""What rounds over numbers that are not exact."""
_TOTAL, _COUNT, _ARRIVED, _TOUCHED = "total", "count", "arrived", "touched"
"""Whether a row has the totals of its group; the number of its rows; the number of arrivals; whether deltas
have come.
"""


def multiset_views(node: GroupAggregate, name: str, source: str, buckets: int) -> tuple[AnyView, ...]:
    """Deltas -> key results. Groups are spread over so many `buckets`."""
    values, sums = Values(node, relation="v"), Sums()
    items = [
        alias(values.compute(each) if each.keeps_values else sums.compute(each, str(place), node.input), each.name)
        for place, each in enumerate(node.aggregates)
    ]
    keys = {f"k{place}": values.compare(each.value, each.type) for place, each in enumerate(node.keys)}
    key = key_struct(make_zero_positive(each.value, each.type) for each in node.keys)
    held = {
        _TOTAL: exp.Boolean(this=False),
        _COUNT: column(DELTA),
        _ARRIVED: cast(number(1), BIGINT),
        **{each: cast(value, type_) for each, (value, type_) in sums.parts.items()},
        **keys,
        **({} if key is None else {"key": key}),
        **values.held,
    }
    deltas = View(f"{name}_values", print_sql(select([NO_TIME, *(alias(held[each], each) for each in held)], source)))
    rows = rows_view(
        name, deltas.name, "time", [*map(column, keys)], ((each, column(each)) for each in held), buckets=buckets
    )
    tables = tables_view(name, rows)
    totals = {_COUNT: BIGINT, _ARRIVED: BIGINT, **{each: type_ for each, (_, type_) in sums.parts.items()}}
    groups = MultisetView(
        name=f"{name}_groups",
        source=tables.name,
        fold=print_duckdb(_fold([*keys], values.given, totals)),
        sql=print_duckdb(_answers([*keys], [*totals], values)),
        given=(_TOTAL, *totals, *keys, *values.given),
        kept=() if key is None else ("key",),
        picked=tuple(values.picked.items()),
        schema=print_sql(select(_schema(key, totals, values), rows.name)),
    )
    # The one group of a whole table is there from its first row on, and stays.
    empty = exp.EQ(this=column(_COUNT if node.keys else _ARRIVED), expression=number(0))
    shown = [alias(column("key", f"k{place}"), each.name) for place, each in enumerate(node.keys)]
    own = [*([] if key is None else [alias(column("key"), KEY)]), alias(column(_ARRIVED), ORDER), alias(empty, DELETED)]
    return deltas, rows, tables, groups, View(name, print_sql(select([*shown, *items, *own], groups.name)))


@dataclass(slots=True)
class Values(RowFields):
    """The values that are kept of each row, and what DuckDB answers over the values that tell rows apart."""

    node: GroupAggregate | WindowAggregate

    def compare(self, value: Expression, type_: Type | None) -> Expression:
        """The value as DuckDB compares it; NULL has no type."""
        return cast(value, BOOLEAN) if type_ is None else comparable(make_zero_positive(value, type_), type_)

    def compute(self, aggregate: Aggregate) -> Expression:
        """The value of an aggregate as a Spark expression over DuckDB's answers."""
        if aggregate.entry.collecting is not None:
            return self._collected(aggregate)
        if aggregate.distinct:
            return self._of_different(aggregate)
        rule, type_ = aggregate.entry.retraction, aggregate.type
        assert rule is not None, f"{aggregate.function} over a table"
        value = only_if(aggregate.condition, aggregate.arguments[0])
        match rule:
            case Retraction.MIN_BY | Retraction.MAX_BY:
                return self._extreme(aggregate, is_least=rule is Retraction.MIN_BY)
            case Retraction.MIN | Retraction.MAX if not is_number(type_):
                best = "ARG_MIN" if rule is Retraction.MIN else "ARG_MAX"
                return self.pick(call(best, PLACE, self.give(self.compare(value, type_))), value, type_)
            case Retraction.MIN | Retraction.MAX | Retraction.BITS:
                return self.answer(call(aggregate.function, self.give(make_zero_positive(value, type_))), type_)
            case Retraction.PARITY:
                return self._parity(aggregate, value)
            case Retraction.SUM | Retraction.MEAN:
                return self._of_doubles(value, rule)
            case Retraction.VAR_POP | Retraction.VAR_SAMP | Retraction.STDDEV_POP | Retraction.STDDEV_SAMP:
                return self._of_doubles(value, rule)
            case Retraction.COUNT | Retraction.COUNT_IF | Retraction.ALL | Retraction.SOME | Retraction.COLLECT:
                raise AssertionError(f"{aggregate.function} follows from no values")
            case _:
                assert_never(rule)

    def _parity(self, aggregate: Aggregate, value: Expression) -> Expression:
        """BIT_XOR over the values that an odd number of rows has."""
        odd = exp.EQ(this=exp.Mod(this=column_of("v", _COUNT), expression=number(2)), expression=number(1))
        given = self.give(value)
        # Two equal values leave no bits, but are not NULL.
        none = exp.If(this=exp.Not(this=is_null(given.copy())), true=cast(number(0), aggregate.type))
        chosen = exp.Case(ifs=[exp.If(this=odd, true=given), none])
        return self.answer(call(aggregate.function, chosen), aggregate.type)

    def _extreme(self, aggregate: Aggregate, *, is_least: bool) -> Expression:
        """MIN_BY and MAX_BY.

        If several values have the same least or greatest order, the least or the greatest value wins.
        """
        value, by = make_zeros_positive(aggregate.arguments[0], aggregate.type), aggregate.arguments[1]
        compared = self.give(only_if(aggregate.condition, self.compare(by, find_type(by, self.node.input))))
        # In a struct, DuckDB would order NULL behind all values.
        alone = Struct((("value", aggregate.type),))
        tie = self.give(comparable(struct_of([("value", value)]), alone))
        best = call("ARG_MIN" if is_least else "ARG_MAX", PLACE, call("ROW", compared, tie))
        return self.pick(filter_rows(best, exp.Not(this=is_null(compared.copy()))), value, aggregate.type)

    def _collected(self, aggregate: Aggregate) -> Expression:
        """The values in order. One that several rows have is there as often."""
        value, type_ = only_if(aggregate.condition, collected_value(aggregate)), collected_type(aggregate)
        compared = self.give(comparable(value, type_))
        descending = aggregate.entry.collecting is Collecting.TOP
        order = [
            exp.Ordered(this=self._sorted(each), desc=each.descending, nulls_first=each.nulls_first)
            for each in aggregate.order_by
        ]
        order.append(exp.Ordered(this=compared.copy(), desc=descending, nulls_first=True))
        repeated = call("LIST_RESIZE", call("LIST_VALUE", PLACE), column_of("v", _COUNT), PLACE.copy())
        rows = PLACE.copy() if aggregate.distinct else repeated
        listed = filter_rows(
            call("LIST", exp.Order(this=rows, expressions=order)), exp.Not(this=is_null(compared.copy()))
        )
        places = listed if aggregate.distinct else call("FLATTEN", listed)
        values = self.pick_all(call("COALESCE", places, call("LIST_VALUE")), value, Array(type_))
        return finish_values(aggregate, call("ARRAY_DISTINCT", values) if aggregate.distinct else values)

    def _sorted(self, key: Sorting) -> Expression:
        type_ = find_type(key.value, self.node.input)
        return self.give(self.compare(key.value, type_))

    def _of_different(self, aggregate: Aggregate) -> Expression:
        """COUNT, SUM and AVG of DISTINCT values."""
        types = [find_type(each, self.node.input) for each in aggregate.arguments]
        present = (exp.Not(this=is_null(each)) for each in aggregate.arguments[1:])
        condition = both(aggregate.condition, *present)
        first, *others = (
            self.give(only_if(condition if place == 0 else None, self.compare(each, type_)))
            for place, (each, type_) in enumerate(zip(aggregate.arguments, types, strict=True))
        )
        rule, type_ = aggregate.entry.distinct, aggregate.type
        is_there = exp.Not(this=is_null(first.copy()))
        count = filter_rows(call("COUNT", _distinct(call("ROW", first, *others) if others else first)), is_there)
        if rule is DistinctRule.COUNT:
            return self.answer(count, BIGINT)
        if type_ == DOUBLE and types[0] not in INTEGERS:
            double = first if types[0] == DOUBLE else cast(first, DOUBLE)
            different = filter_rows(_list(_distinct(double), double.copy()), is_there)
            function = "LIST_SUM" if rule is DistinctRule.SUM else "LIST_AVG"
            return self.answer(call(function, different), DOUBLE)
        total = call("SUM", _distinct(first.copy()))
        if rule is DistinctRule.SUM:
            return self.answer(cast(total, type_), type_)
        if not isinstance(type_, Decimal):
            return self.answer(exp.Div(this=cast(total, DOUBLE), expression=count), DOUBLE)
        scale = type_.scale - 4
        summed, counted = self.answer(total, Decimal(38, scale)), self.answer(count, BIGINT)
        mean = decimal_mean(cast(summed, Decimal(EXACT_DIGITS, scale)), counted, type_)
        return only_if(exp.GT(this=counted.copy(), expression=number(0)), mean)

    def _of_doubles(self, value: Expression, rule: _Rounding) -> Expression:
        """Aggregates of numbers that round, computed as if the rows came from the least value to the greatest."""
        is_double = find_type(value, self.node.input) == DOUBLE
        taken = self.give(make_zero_positive(value if is_double else cast(value, DOUBLE), DOUBLE))
        repeated = call("LIST_RESIZE", call("LIST_VALUE", taken), column_of("v", _COUNT), taken.copy())
        known = exp.Not(this=is_null(taken.copy()))
        numbers = call("FLATTEN", filter_rows(_list(repeated, taken.copy()), known))

        def compute(function: str) -> Expression:
            return call(f"LIST_{function}", numbers.copy())

        match rule:
            case Retraction.SUM:
                return self.answer(compute("SUM"), DOUBLE)
            case Retraction.MEAN:
                return self.answer(compute("AVG"), DOUBLE)
            case Retraction.VAR_SAMP | Retraction.STDDEV_SAMP:
                return self.answer(compute(rule.name), DOUBLE)
            case Retraction.VAR_POP | Retraction.STDDEV_POP:
                # A single infinity or NaN gives NaN in Spark. The difference is 0 for all other values.
                is_single = exp.EQ(this=call("LEN", numbers.copy()), expression=number(1))
                alone = exp.Sub(this=compute("SUM"), expression=compute("SUM"))
                return self.answer(either(is_single, alone, compute(rule.name)), DOUBLE)
            case _:
                assert_never(rule)


PLACE = column_of("v", "place")
"""The place of a row with the values."""


def _fold(keys: list[str], values: list[str], totals: dict[str, Type]) -> Expression:
    """DuckDB's SELECT: the rows that are kept, each at the place of a row with its values.

    Values that no row has are dropped. Totals stay, because they count the arrivals.
    """
    is_new = exp.Not(this=column("known"))

    def one(*, is_total: bool) -> exp.Select:
        added = {name: cast(call("SUM", column(name)), type_) for name, type_ in totals.items()}
        parts = added if is_total else {name: added[name] if name == _COUNT else null(totals[name]) for name in added}
        items = [
            alias(call("MAX", column("place")), "place"),
            alias(exp.Boolean(this=is_total), _TOTAL),
            *(alias(part, name) for name, part in parts.items()),
            alias(call("BOOL_OR", is_new.copy()) if is_total else exp.Boolean(this=False), _TOUCHED),
        ]
        return select(items, "rows")

    counted = one(is_total=False).where(exp.Not(this=column(_TOTAL)), copy=False)
    counted = counted.group_by(*map(column, (*keys, *values)), copy=False)
    counted = counted.having(exp.NEQ(this=call("SUM", column(_COUNT)), expression=number(0)), copy=False)
    summed = one(is_total=True).where(exp.Or(this=column(_TOTAL), expression=is_new), copy=False)
    if keys:
        summed = summed.group_by(*map(column, keys), copy=False)
    return exp.Union(this=counted, expression=summed, distinct=False)


def _answers(keys: list[str], totals: list[str], values: Values) -> Expression:
    """DuckDB's SELECT: the totals of each group that deltas have touched, and the answers over its values."""
    beside = [column_of("t", each) for each in ("place", *totals)]
    computed = (alias(tree, name) for name, (tree, _) in values.answers.items())
    there = both(column(_TOTAL), column(_TOUCHED))
    assert there is not None
    tree = exp.Select(expressions=[*beside, *computed]).from_(rows_where(there, "t"), copy=False)
    same = both(*(exp.NullSafeEQ(this=column_of("t", each), expression=column_of("v", each)) for each in keys))
    others = rows_where(exp.Not(this=column(_TOTAL)), "v")
    tree.append("joins", exp.Join(this=others, side="LEFT", on=same or exp.true()))
    return tree.group_by(*(each.copy() for each in beside), copy=False)


def _schema(key: Expression | None, totals: dict[str, Type], values: Values) -> list[Expression]:
    """The columns of the groups, by name and type alone."""
    return [
        *([] if key is None else [alias(column("row", "key"), "key")]),
        *(alias(null(type_), name) for name, type_ in totals.items()),
        *values.show_answers(lambda field: column("row", field)),
    ]


def _distinct(value: Expression) -> Expression:
    return exp.Distinct(expressions=[value])


def _list(value: Expression, by: Expression) -> Expression:
    """The values as a list, in the order of `by`."""
    return call("LIST", exp.Order(this=value, expressions=[exp.Ordered(this=by, nulls_first=True)]))
