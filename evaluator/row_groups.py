"""Grouping by keys and by windows, and what each aggregate function makes of a group's rows.

NULL arguments do not count; a group without any gives NULL (COUNT: 0). Rows whose keys are NULL are a group like any
other. Not modelled: FIRST, LAST and all else that depends on the order of rows; ARRAY and MAP keys; collected values
that are nested.
"""

from __future__ import annotations

import decimal
import functools
import math
import statistics
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from operator import itemgetter

from msgspec.structs import replace

from penstock.evaluator.expression_values import evaluate_scalar, holds, rank_number
from penstock.evaluator.regressions import PAIRED, kurtosis, skewness
from penstock.evaluator.typed_values import (
    EPOCH,
    EXACT,
    QueryFailure,
    Row,
    Types,
    Unsupported,
    Value,
    columns,
    fit,
    milliseconds,
)
from penstock.planner.plan import (
    Aggregate,
    AssignWindows,
    Cumulate,
    GroupAggregate,
    Hop,
    Named,
    SessionWindow,
    Tumble,
    Window,
    WindowAggregate,
)

Key = tuple[Value, ...]
Span = tuple[datetime, datetime]
"""A window [start, end)."""


def aggregate(function: Aggregate, rows: list[Row], types: Types) -> Value:
    """The value of one aggregate over a group's (or a frame's) rows."""
    kept = [row for row in rows if holds(function.condition, row, types)]
    if not function.arguments:
        return len(kept)  # COUNT(*)
    return aggregate_values(function, [argument_values(function, row, types) for row in kept])


def argument_values(function: Aggregate, row: Row, types: Types) -> tuple[Value, ...]:
    """The values of the arguments in a row, then what ORDER BY compares."""
    parts = (*function.arguments, *(each.value for each in function.order_by))
    return tuple(same_nan(evaluate_scalar(each, row, types)) for each in parts)


def same_nan(value: Value) -> Value:
    """The value, and for NaN the one that is the same in keys."""
    return math.nan if isinstance(value, float) and math.isnan(value) else value


def aggregate_values(function: Aggregate, tuples: list[tuple[Value, ...]]) -> Value:
    """The value of an aggregate with arguments, given `argument_values` of each row that its condition lets in."""
    if function.function in COLLECTED:
        return _collect(function, tuples)
    if function.function in ("MIN_BY", "MAX_BY"):
        return _extreme(function.function, [(by, value) for value, by in tuples if by is not None])
    known = [values for values in tuples if None not in values]
    if function.distinct:
        known = list(dict.fromkeys(known))
    if function.function == "COUNT":
        return len(known)
    if function.function in PAIRED:
        return PAIRED[function.function]([(float(one), float(other)) for one, other in known])
    if function.function in ("TRY_SUM", "TRY_AVG"):
        try:
            return aggregate_values(replace(function, function=function.function.removeprefix("TRY_")), tuples)
        except QueryFailure:
            return None
    if function.function not in AGGREGATES:
        raise Unsupported(f"aggregate {function.function}")
    values = [each[0] for each in known]
    if not values:
        return 0 if function.function == "COUNT_IF" else None
    return fit(AGGREGATES[function.function](values), function.type)


def _extreme(name: str, pairs: list[tuple[Value, Value]]) -> Value:
    """The value beside the least or greatest one. If there are several, the least or greatest; NULL is least."""
    best = min if name == "MIN_BY" else max
    return best(pairs, key=lambda pair: (in_order(pair[0]), in_order(pair[1])))[1] if pairs else None


def in_order(value: Value) -> Value:
    """What Python orders as SQL orders the value: NULL before all others, maps by their entries, sorted by key.

    Structs are such maps here, so their fields have to be named in the order of the alphabet.
    """
    match value:
        case None:
            return ()
        case list():
            return ([in_order(each) for each in value],)
        case dict():
            return (sorted((in_order(key), in_order(each)) for key, each in value.items()),)
        case _:
            return (rank_number(value),)


COLLECTED = ("COLLECT_LIST", "ARRAY_AGG", "COLLECT_SET", "LISTAGG", "STRING_AGG", "TOPK", "TOPKDISTINCT")


def _collect(function: Aggregate, tuples: list[tuple[Value, ...]]) -> Value:
    """The values in order, the least first. Values that are equal in ORDER BY stay in this order."""
    kept = sorted((each for each in tuples if each[0] is not None), key=lambda each: rank_number(each[0]))
    if function.distinct or function.function in ("COLLECT_SET", "TOPKDISTINCT"):
        kept = list({each[0]: each for each in kept}.values())
    for place, key in reversed(list(enumerate(function.order_by, start=len(function.arguments)))):
        unknown = [each for each in kept if each[place] is None]
        known = sorted(
            (each for each in kept if each[place] is not None), key=itemgetter(place), reverse=key.descending
        )
        kept = [*unknown, *known] if key.nulls_first else [*known, *unknown]
    values = [each[0] for each in kept]
    if function.function.startswith("TOPK"):
        count = evaluate_scalar(function.arguments[1], {}, {})
        return values[::-1][:count]
    if function.function in ("LISTAGG", "STRING_AGG"):
        return evaluate_scalar(function.arguments[1], {}, {}).join(values) if values else None
    return values


def sum_floats(values: list[float]) -> float:
    """The sum. Opposite infinities and NaN make NaN. Raises Unsupported where the order of finite ones counts."""
    endless = [value for value in values if not math.isfinite(value)]
    if endless:
        return sum(endless)
    try:
        return math.fsum(values)
    except OverflowError:
        raise Unsupported("a sum of DOUBLE beyond its range") from None


def _sum(values: list[Value]) -> Value:
    if isinstance(values[0], float):
        return sum_floats(values)
    with decimal.localcontext(EXACT):
        return sum(values)


def _average(values: list[Value]) -> Value:
    total = _sum(values)
    return EXACT.divide(total, len(values)) if isinstance(total, decimal.Decimal) else total / len(values)


def _of_floats(function: Callable[[list[float]], float | None], least: int) -> Callable[[list[Value]], Value]:
    """A function of finite numbers. It is NaN over others."""

    def compute(values: list[Value]) -> Value:
        numbers = [float(value) for value in values]
        if len(numbers) < least:
            return None
        if not all(map(math.isfinite, numbers)):
            return math.nan
        try:
            return function(numbers)
        except OverflowError:
            raise Unsupported("a variance of DOUBLE beyond its range") from None

    return compute


AGGREGATES: dict[str, Callable[[list[Value]], Value]] = {
    "SUM": _sum,
    "AVG": _average,
    "MEAN": _average,
    "MIN": lambda values: min(values, key=rank_number),
    "MAX": lambda values: max(values, key=rank_number),
    "COUNT_IF": lambda values: sum(values),
    "BOOL_AND": all,
    "EVERY": all,
    "BOOL_OR": any,
    "ANY": any,
    "SOME": any,
    "BIT_AND": lambda values: functools.reduce(int.__and__, values),
    "BIT_OR": lambda values: functools.reduce(int.__or__, values),
    "BIT_XOR": lambda values: functools.reduce(int.__xor__, values),
    "VAR_POP": _of_floats(statistics.pvariance, 1),
    "VAR_SAMP": _of_floats(statistics.variance, 2),
    "VARIANCE": _of_floats(statistics.variance, 2),
    "STDDEV_POP": _of_floats(statistics.pstdev, 1),
    "STDDEV_SAMP": _of_floats(statistics.stdev, 2),
    "STDDEV": _of_floats(statistics.stdev, 2),
    "STD": _of_floats(statistics.stdev, 2),
    "SKEWNESS": _of_floats(skewness, 1),
    "KURTOSIS": _of_floats(kurtosis, 1),
}
"""Functions of one or more values, none of which is NULL."""


def key_of(keys: Iterable[Named], row: Row, types: Types) -> Key:
    """The values that a row is grouped by."""
    return tuple(fit(evaluate_scalar(key.value, row, types), key.type) for key in keys)


def windows_of(window: Tumble | Hop | Cumulate, time: datetime) -> list[Span]:
    """The windows that contain a time, oldest first. Starts are multiples of the slide since 1970 and before it."""
    if isinstance(window, Cumulate):
        start = EPOCH + (time - EPOCH) // milliseconds(window.size) * milliseconds(window.size)
        ends = (start + milliseconds(length) for length in range(window.step, window.size + 1, window.step))
        return [(start, end) for end in ends if end > time]
    slide, size = (window.size, window.size) if isinstance(window, Tumble) else (window.slide, window.size)
    start = EPOCH + (time - EPOCH) // milliseconds(slide) * milliseconds(slide)
    starts = []
    while start + milliseconds(size) > time:
        starts.append(start)
        start -= milliseconds(slide)
    return [(start, start + milliseconds(size)) for start in reversed(starts)]


def assign_windows(node: AssignWindows, rows: list[Row]) -> list[Row]:
    """Each row with each window that holds it."""
    spans = ((row, span) for row in rows for span in windows_of(node.window, row[node.time]))
    return [row | {"window_start": start, "window_end": end} for row, (start, end) in spans]


def sessions(rows: list[Row], time: str, gap: timedelta) -> list[list[Row]]:
    """The runs of rows in which each is at most `gap` after the one before; exactly `gap` joins."""
    runs: list[list[Row]] = []
    for row in sorted(rows, key=lambda row: row[time]):
        if runs and row[time] - runs[-1][-1][time] <= gap:
            runs[-1].append(row)
        else:
            runs.append([row])
    return runs


def window_groups(window: Window, time: str, rows: list[Row]) -> list[tuple[Span, list[Row]]]:
    """The windows that hold at least one of the rows of one key, each with its rows."""
    if isinstance(window, SessionWindow):
        gap = milliseconds(window.gap)
        return [((run[0][time], run[-1][time] + gap), run) for run in sessions(rows, time, gap)]
    groups: dict[Span, list[Row]] = {}
    for row in rows:
        for span in windows_of(window, row[time]):
            groups.setdefault(span, []).append(row)
    return list(groups.items())


def group_rows(keys: tuple[Named, ...], rows: list[Row], types: Types) -> dict[Key, list[Row]]:
    """The rows by key."""
    groups: dict[Key, list[Row]] = {}
    for row in rows:
        groups.setdefault(key_of(keys, row, types), []).append(row)
    return groups


def window_row(node: WindowAggregate, key: Key, span: Span, rows: list[Row]) -> Row:
    """The result row of one key and window."""
    row = dict(zip((key.name for key in node.keys), key, strict=True))
    return row | {"window_start": span[0], "window_end": span[1]} | aggregates_row(node, rows)


def aggregates_row(node: WindowAggregate | GroupAggregate, rows: list[Row]) -> Row:
    """The aggregates' columns of a group."""
    types = columns(node.input.schema)
    return {each.name: aggregate(each, rows, types) for each in node.aggregates}


def window_aggregate(node: WindowAggregate, rows: list[Row]) -> list[Row]:
    """One row per key and window; with CHANGES this is the table after the last change."""
    types = columns(node.input.schema)
    return [
        window_row(node, key, span, members)
        for key, group in group_rows(node.keys, rows, types).items()
        for span, members in window_groups(node.window, node.time, group)
    ]


def group_aggregate(node: GroupAggregate, rows: list[Row]) -> list[Row]:
    """One row per key: the table after the last change. Without keys there is one row, also over no rows."""
    groups = group_rows(node.keys, rows, columns(node.input.schema)) or ({} if node.keys else {(): []})
    names = [key.name for key in node.keys]
    return [dict(zip(names, key, strict=True)) | aggregates_row(node, group) for key, group in groups.items()]
