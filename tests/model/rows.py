"""Comparing two results as multisets of rows, with a difference that can be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from penstock.evaluator.typed_values import Value

Frozen = tuple[tuple[str, Value], ...]


def difference(actual: Iterable[Mapping[str, Value]], expected: Iterable[Mapping[str, Value]]) -> str:
    """What one result has more or less often than the other, a line per row; empty if they are equal.

    The order of rows and columns does not count, nor does a float's eleventh digit. Times with a zone are taken to UTC.
    """
    have, want = Counter(map(_frozen, actual)), Counter(map(_frozen, expected))
    lines = [_line("missing", row, times) for row, times in (want - have).items()]
    lines += [_line("unexpected", row, times) for row, times in (have - want).items()]
    return "\n".join(sorted(lines))


def assert_same_rows(actual: Iterable[Mapping[str, Value]], expected: Iterable[Mapping[str, Value]]) -> None:
    """Fails with the difference unless both hold the same rows equally often."""
    lines = difference(actual, expected)
    assert not lines, "\n" + lines


def _frozen(row: Mapping[str, Value]) -> Frozen:
    return tuple((name, _comparable(row[name])) for name in sorted(row))


def _comparable(value: Value) -> Value:
    match value:
        case float():
            return float(f"{value:.10g}")
        case datetime() if value.tzinfo is not None:
            return value.astimezone(UTC).replace(tzinfo=None)
        case dict():
            return _frozen(value)
        case list():
            return tuple(map(_comparable, value))
        case _:
            return value


def _line(kind: str, row: Frozen, times: int) -> str:
    cells = ", ".join(f"{name}={value if not isinstance(value, str) else repr(value)}" for name, value in row)
    return f"{kind} {times}x  {cells}"
