"""Classes of groups and aggregates: NULL and repeated values, rows that a FILTER leaves out, groups that lose rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from sqlglot import exp

from penstock.evaluator import Row, columns, evaluate_scalar
from penstock.planner.plan import (
    Aggregate,
    Distinct,
    Expression,
    GroupAggregate,
    KStream,
    Node,
    Over,
    OverRows,
    Ranked,
    TableRanked,
    Unnest,
    WindowAggregate,
    make_column,
)
from penstock.planner.types import Array
from penstock.testing.coverage_classes import (
    CoveredClass,
    Wanted,
    WantedStep,
    Watched,
    column_name,
    may_be_null,
    name_sides,
    text_of,
    values_of,
    want,
)
from penstock.testing.coverage_conditions import Conditions
from penstock.testing.coverage_joins import different_key, has_change, plain_identity, plain_keys
from penstock.testing.solved_values import plain_value, step_value
from penstock.testing.wanted_rows import DELETES, rank_rows


def list_group_classes(node: WindowAggregate | GroupAggregate) -> Iterator[CoveredClass]:
    """Classes of the keys and the aggregates of groups."""
    keys = [each.value for each in node.keys]
    yield from list_key_classes(node.input, keys, "group")
    for each in node.aggregates:
        yield from list_aggregate_classes(node, each, keys)
    if isinstance(node, GroupAggregate) and not isinstance(node.input.shape, KStream):
        yield from list_retraction_classes(node)


def list_key_classes(node: Node, keys: Sequence[exp.Expression], group: str) -> Iterator[CoveredClass]:
    """Several rows of one key, several keys, and NULL in keys."""
    (name,) = name_sides(node)

    def count(watched: Watched) -> Counter[tuple[object, ...]]:
        return Counter(values_of(keys, row, node) for row in watched.rows(node))

    same = plain_keys(node, keys)
    yield CoveredClass(
        f"a {group} of several rows of {name}",
        lambda each: any(n > 1 for n in count(each).values()),
        (twice(node, same, same),),
    )
    if not keys:
        return
    yield CoveredClass(f"several {group}s", lambda each: len(count(each)) > 1, (two_keys(node, keys),))
    for key in keys:
        if may_be_null(key, node):
            own = column_name(key)
            yield CoveredClass(
                f"a {group} whose {text_of(key)} is NULL",
                lambda each, key=key: any(None in values_of([key], row, node) for row in each.rows(node)),  # type: ignore[misc]
                () if own is None else (want((node, {own: None})),),
            )


def twice(node: Node, *rows: Row) -> Wanted:
    """Two rows. In a table they have different keys."""
    first, second = rows or ({}, {})
    if isinstance(node.shape, KStream):
        return want((node, first), (node, second))
    types = columns(node.schema)
    other = {name: step_value(plain_value(types[name]), types[name], 1) for name in node.shape.identity}
    return want((node, first), (node, other | second))


def two_keys(node: Node, keys: Sequence[exp.Expression]) -> Wanted:
    types, plain = columns(node.schema), plain_keys(node, keys)
    return twice(node, plain, {name: step_value(value, types[name], 1) for name, value in plain.items()})


def list_aggregate_classes(
    node: WindowAggregate | GroupAggregate, aggregate: Aggregate, keys: Sequence[exp.Expression]
) -> Iterator[CoveredClass]:
    below = node.input
    text = aggregate.span.text if aggregate.span is not None else aggregate.function
    text = " ".join(text.split())
    if aggregate.condition is not None:
        conditions = Conditions(below, lambda watched: watched.rows(below))
        yield from conditions.list_filter(aggregate.condition)
    for argument in aggregate.arguments[:1]:
        if argument.find(exp.Column) is None:
            continue
        own = column_name(argument)
        if may_be_null(argument, below):
            yield CoveredClass(
                f"NULL in {text}",
                lambda each, argument=argument: any(  # type: ignore[misc]
                    None in values_of([argument], row, below) for row in each.rows(below)
                ),
                () if own is None else (want((below, {own: None})),),
            )
            yield CoveredClass(
                f"a group with nothing but NULL in {text}",
                lambda each, argument=argument: any(  # type: ignore[misc]
                    set(values) == {(None,)} for values in gather_values(each, node, keys, argument).values()
                ),
                () if own is None else (want((below, {own: None})),),
            )
        if aggregate.distinct:
            yield CoveredClass(
                f"a group with the same value twice and another one in {text}",
                lambda each, argument=argument: any(  # type: ignore[misc]
                    1 < len(set(values)) < len(values) for values in gather_values(each, node, keys, argument).values()
                ),
                () if own is None else (want(*repeat_value(below, own, plain_keys(below, keys))),),
            )
        else:
            yield CoveredClass(
                f"a group with different values in {text}",
                lambda each, argument=argument: any(  # type: ignore[misc]
                    len(set(values)) > 1 for values in gather_values(each, node, keys, argument).values()
                ),
                () if own is None else (twice(below, *two_values(below, own, plain_keys(below, keys))),),
            )


def two_values(node: Node, name: str, keys: Row) -> tuple[Row, Row]:
    """Two rows of a group that differ in a column."""
    type_ = columns(node.schema)[name]
    value = plain_value(type_)
    return keys | {name: value}, keys | {name: step_value(value, type_, 2)}


def repeat_value(node: Node, name: str, keys: Row) -> list[tuple[Node, Row]]:
    """Three rows of a group, two of which have the same value."""
    one, other = two_values(node, name, keys)
    first, second = twice(node, one, one)[0].rows
    return [first, second, (node, {**second[1], **other, **different_key(node, 2)})]


def gather_values(
    watched: Watched, node: WindowAggregate | GroupAggregate, keys: Sequence[exp.Expression], argument: exp.Expression
) -> dict[tuple[object, ...], list[tuple[object, ...]]]:
    """The values of an argument in each group, without regard to windows."""
    gathered: dict[tuple[object, ...], list[tuple[object, ...]]] = defaultdict(list)
    for row in watched.rows(node.input):
        gathered[values_of(keys, row, node.input)].append(values_of([argument], row, node.input))
    return gathered


def list_retraction_classes(node: GroupAggregate) -> Iterator[CoveredClass]:
    """Groups of a table change, and may cease to exist, when rows of the table do."""
    below, types = node.input, columns(node.input.schema)
    same = plain_keys(below, [each.value for each in node.keys])
    first, second = twice(below, plain_identity(below) | same, same)[0].rows
    other = {name: step_value(value, types[name], 1) for name, value in same.items() if name not in below_key(below)}
    one, both, more = WantedStep((first,)), WantedStep((first, second)), WantedStep((second,))
    gone = WantedStep(((below, first[1] | {DELETES: True}),))
    moved = WantedStep(((below, first[1] | other),))
    yield CoveredClass(
        "a group that changes in a later step",
        lambda each: has_change(each, node, gone=False),
        ((one, more),),
    )
    if node.keys:
        yield CoveredClass(
            "a group that loses its last row",
            lambda each: has_change(each, node, gone=True),
            ((one, gone), (one, moved)),
        )
    yield CoveredClass(
        "a group that loses a row and keeps another",
        lambda each: loses_some(each, node),
        ((both, gone), (both, moved)),
    )


def below_key(node: Node) -> tuple[str, ...]:
    """The columns that tell the rows of a table apart."""
    return () if isinstance(node.shape, KStream) else node.shape.identity


def loses_some(watched: Watched, node: GroupAggregate) -> bool:
    """Whether a group has fewer rows in a later step, and still some."""
    keys, before = [each.value for each in node.keys], Counter[tuple[object, ...]]()
    for step in range(len(watched.steps)):
        now = Counter(values_of(keys, row, node.input) for row in watched.rows(node.input, step))
        if any(0 < now[key] < number for key, number in before.items()):
            return True
        before = now
    return False


def list_order_classes(node: Over | OverRows | Ranked | TableRanked) -> Iterator[CoveredClass]:
    """Classes of partitions and of the order in them."""
    below, keys = node.input, list(node.partition_by)
    yield from list_key_classes(below, keys, "partition")
    if isinstance(node, Over | OverRows):
        sorting: list[Expression] = [make_column(node.time)]
        words = "rows of one time"
    else:
        sorting = [each.value for ranking in node.rankings for each in ranking.order_by]
        words = "rows that are equal in the order"
    if isinstance(node, Over | OverRows):
        for each in node.aggregates:
            if each.aggregate.condition is not None:
                yield from Conditions(below, lambda watched: watched.rows(below)).list_filter(each.aggregate.condition)
    else:
        yield from list_rank_classes(node, sorting)
    yield CoveredClass(
        f"{words} in a partition",
        lambda each: any(
            n > 1 for n in Counter(values_of([*keys, *sorting], row, below) for row in each.rows(below)).values()
        ),
        (twice(below),),
    )


def list_rank_classes(node: Ranked | TableRanked, sorting: Sequence[exp.Expression]) -> Iterator[CoveredClass]:
    """Rows of a partition that have other places, and more rows than have a place that counts."""
    below, keys = node.input, list(node.partition_by)

    def sizes(watched: Watched) -> Counter[tuple[object, ...]]:
        return Counter(values_of(keys, row, below) for row in watched.rows(below))

    def orders(watched: Watched) -> Iterator[set[tuple[object, ...]]]:
        found: dict[tuple[object, ...], set[tuple[object, ...]]] = defaultdict(set)
        for row in watched.rows(below):
            found[values_of(keys, row, below)].add(values_of(sorting, row, below))
        yield from found.values()

    yield CoveredClass(
        "rows that differ in the order in a partition",
        lambda each: any(len(found) > 1 for found in orders(each)),
        (want(*rank_rows(node, 2)),),
    )
    most = node.most if isinstance(node, TableRanked) else None
    if most is not None:
        yield CoveredClass(
            f"a partition of more than {most} rows",
            lambda each: any(n > most for n in sizes(each).values()),
            (want(*rank_rows(node, most + 1)),),
        )


def list_distinct_classes(node: Distinct) -> Iterator[CoveredClass]:
    (name,) = name_sides(node.input)
    yield CoveredClass(
        f"equal rows of {name}",
        lambda each: any(n > 1 for n in Counter(map(repr, each.rows(node.input))).values()),
        (twice(node.input),),
    )
    yield CoveredClass(
        f"different rows of {name}",
        lambda each: len(set(map(repr, each.rows(node.input)))) > 1,
        (),
    )


def list_element_classes(node: Unnest) -> Iterator[CoveredClass]:
    def sizes(watched: Watched) -> set[int]:
        types = columns(node.input.schema)
        found = [evaluate_scalar(node.value, row, types) for row in watched.rows(node.input)]
        return {-1 if value is None else len(value) for value in found}

    own = column_name(node.value)
    type_ = columns(node.input.schema).get(own or "")
    several = [plain_value(type_.element)] * 2 if isinstance(type_, Array) else None
    for words, test, value in (
        ("an array or map of several elements", lambda n: n > 1, several),
        ("an array or map without elements", lambda n: n == 0, []),
        ("NULL instead of an array or map", lambda n: n == -1, None),
    ):
        wanted = () if own is None else (want((node.input, {own: value})),)
        yield CoveredClass(words, lambda each, test=test: any(map(test, sizes(each))), wanted)  # type: ignore[misc]
