"""Sets of keys in GROUP BY."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.diagnostics.source import Span
from penstock.parser.build.base import Builder, placed, span_of

_WINDOW = ("window_start", "window_end", "window_time")


def spread_keys(keys: Sequence[exp.Expression]) -> tuple[exp.Expression, ...]:
    """The keys of a list: `(a, b)` is a and b, and a window that is in all GROUPING SETS stands in front of them."""
    return tuple(key for each in keys for key in _spread_key(each))


def _spread_key(key: exp.Expression) -> Sequence[exp.Expression]:
    if isinstance(key, exp.Tuple):
        return key.expressions
    return _lift_window(key) if isinstance(key, exp.GroupingSets) else [key]


def _lift_window(sets: exp.GroupingSets) -> Sequence[exp.Expression]:
    """`GROUPING SETS ((window_start, window_end, a), (window_start, window_end))` of Flink.

    The columns of the window are keys of their own. Sets that do not all have them stay as they are.
    """
    window = [each for each in sets.expressions[0].expressions if _is_of_window(each)]
    names = {each.name.lower() for each in window}
    if not window or any({key.name.lower() for key in keys} != names for keys in map(_find_window, sets.expressions)):
        return [sets]
    rest = [[key for key in each.expressions if not _is_of_window(key)] for each in sets.expressions]
    if not any(rest):
        return [sets]
    left = [grouping_set(span_of(each), *keys) for each, keys in zip(sets.expressions, rest, strict=True)]
    return [*window, placed(exp.GroupingSets(expressions=left), span_of(sets))]


def _find_window(keys: exp.Expression) -> list[exp.Expression]:
    return [key for key in keys.expressions if _is_of_window(key)]


def _is_of_window(key: exp.Expression) -> bool:
    return isinstance(key, exp.Column) and key.name.lower() in _WINDOW


def grouping_sets(span: Span, *sets: exp.Expression) -> exp.GroupingSets:
    """Makes each set a tuple. A set of one expression, in parentheses or not, was parsed as an expression."""
    tuples: list[exp.Expression] = []
    for each in sets:
        key: exp.Expression = each.this if isinstance(each, exp.Paren) else each
        tuples.append(each if isinstance(each, exp.Tuple) else grouping_set(span_of(each), key))
    return placed(exp.GroupingSets(expressions=tuples), span)


def grouping_set(span: Span, *keys: exp.Expression) -> exp.Tuple:
    return placed(exp.Tuple(expressions=list(keys)), span)


RULES: dict[str, Builder] = {"grouping_sets": grouping_sets, "grouping_set": grouping_set}
