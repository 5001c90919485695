"""What buckets keep of the values of groups, without Spark: numbers that round, NaN, infinities, 0 and -0 among them.

Micro-batches are made up as Spark packs them for one bucket. After each the state has the rows that are there. Every
group that it touches has the aggregates of these, as if they had come from the least value to the greatest.
"""

from __future__ import annotations

import functools
import math
import os
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import penstock
from penstock.codegen.program import MultisetView
from penstock.kit.worker.bucket_multiset import fold_rows
from penstock.kit.worker.pack import read_table, write_table
from tests.properties.test_kept_windows import State

pytestmark = pytest.mark.draws
HISTORIES = int(os.environ.get("PENSTOCK_HISTORIES", "15"))
SCRIPT = """
CREATE TABLE t (id STRING PRIMARY KEY, g STRING, x DOUBLE) WITH (connector = 'files', path = 't', format = 'json');
SELECT g, MIN(x) AS least, MAX(x) AS most, SUM(x) AS total, AVG(x) AS mean, VAR_POP(x) AS spread, STDDEV(x) AS dev,
  COUNT(DISTINCT x) AS some, SUM(DISTINCT x) AS once, COUNT(*) AS n, COUNT(x) AS known
FROM t GROUP BY g;
"""
TYPES = {"total": pa.bool_(), "k0": pa.string(), "v0": pa.float64(), "key": pa.struct({"k0": pa.string()})}
NAN, INFINITE = float("nan"), float("inf")
Value = float | None


@functools.cache
def view() -> MultisetView:
    """What the query does with its buckets."""
    views = [each for query in penstock.compile(SCRIPT).program.queries for each in query.views]
    (found,) = (each for each in views if isinstance(each, MultisetView))
    return found


@dataclass(slots=True)
class Bucket:
    """The view of the query, of which all groups are in one bucket."""

    state: State = field(default_factory=State)
    connections: list[Any] = field(default_factory=list)

    def step(self, deltas: Sequence[tuple[str | None, Value, int]]) -> list[dict[str, Any]]:
        """What a micro-batch gives for each group that it touches."""
        rows = []
        for group, value, delta in deltas:
            # Spark has made 0 of -0.
            shown = {"total": False, "count": delta, "arrived": 1, "k0": group, "key": {"k0": group}}
            known = 0 if value is None else delta
            rows.append(shown | {"v0": None if value is None else value + 0.0, "_count8": delta, "_count9": known})
        names = (*view().given, "key")
        fields = [pa.field(each, TYPES.get(each, pa.int64()), each in ("k0", "v0")) for each in names]
        table = pa.Table.from_pylist(rows, pa.schema(fields))
        facts: dict[str, Any] = {"fold": view().fold, "sql": view().sql, "given": view().given, "kept": view().kept}
        found = fold_rows([write_table(table)], self.state, self.connections, **facts, picked=dict(view().picked))
        return [row for each in found for row in read_table(each).to_pylist()]


def expected(values: Sequence[Value]) -> list[Any]:
    """The aggregates of a group in the order of the query, COUNT(*) and COUNT(x) last."""
    known = sorted((each for each in values if each is not None), key=lambda each: (math.isnan(each), each))
    once = list(dict.fromkeys(map(comparable, known)))
    different = [NAN if each is None else each for each in once]
    numbers = [None] * 6 if not known else [known[0], known[-1], *of_numbers(known)]
    return [*numbers, len(once), add(different) if known else None, len(values), len(known)]


def of_numbers(known: list[float]) -> list[Value]:
    finite = all(map(math.isfinite, known))
    spread = statistics.pvariance(known) if finite else NAN
    dev = None if len(known) < 2 else statistics.stdev(known) if finite else NAN
    return [add(known), add(known) / len(known), spread, dev]


def add(values: Sequence[float]) -> float:
    return functools.reduce(lambda total, each: total + each, values, 0.0)


def comparable(value: float) -> Value:
    return None if math.isnan(value) else value + 0.0


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        close = math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
        return (math.isnan(one) and math.isnan(other)) or close
    return bool(one == other)


VALUES: tuple[Value, ...] = (None, 0.0, -0.0, 0.1, 0.2, 0.1, 1e16, -1e16, 3.5, NAN, INFINITE, -INFINITE)
Histories = list[list[tuple[str, str | None, Value]]]
histories: st.SearchStrategy[Histories] = st.lists(
    st.lists(st.tuples(st.sampled_from("pqrstu"), st.sampled_from(("a", "a", "b", None)), st.sampled_from(VALUES))),
    min_size=1,
    max_size=6,
)
"""Micro-batches of rows of a table by key. A row that comes twice in a row is deleted."""


@settings(max_examples=HISTORIES, deadline=None)
@given(histories)
def test_groups_have_the_aggregates_of_their_rows(history: Histories) -> None:
    bucket, table = Bucket(), dict[str, tuple[str | None, Value]]()
    arrived = Counter[str | None]()
    for batch in history:
        deltas: list[tuple[str | None, Value, int]] = []
        for key, group, value in batch:
            before = table.pop(key, None)
            deltas += [] if before is None else [(*before, -1)]
            if before != (group, value):
                table[key] = group, value
                deltas.append((group, value, 1))
        arrived.update(group for group, _, _ in deltas)
        if not deltas:
            continue
        found = {row["key"]["k0"]: row for row in bucket.step(deltas)}
        assert found.keys() == {group for group, _, _ in deltas}
        for group, row in found.items():
            values = [value for other, value in table.values() if other == group]
            assert (row["count"], row["arrived"]) == (len(values), arrived[group])
            shown = [row[name] for name in (*(f"r{place}" for place in range(8)), "_count8", "_count9")]
            assert all(map(same, shown, expected(values))), (values, shown, expected(values))
        check_state(bucket.state.rows(), table.values())


def check_state(rows: list[dict[str, Any]], there: Any) -> None:
    """The state is the multiset and one row of totals for each group, and nothing of what has left."""
    kept = Counter((row["k0"], shown(row["v0"])) for row in rows if not row["total"])
    assert all(count == 1 for count in kept.values())
    counts = {(row["k0"], shown(row["v0"])): row["count"] for row in rows if not row["total"]}
    assert counts == Counter((group, shown(value)) for group, value in there)


def shown(value: Value) -> str:
    return str(value if value is None else value + 0.0)
