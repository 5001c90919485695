"""Rows packed into tables; DuckDB over panes answers as the oracle does, whatever the order of arrival and packing."""

from __future__ import annotations

import os

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.history import History, accepted, clocks
from penstock.kit.worker.pack import pack_rows
from penstock.planner.plan import Over
from tests.model.rows import assert_same_rows
from tests.properties import streams
from tests.properties.panes import answered

HISTORIES = 4 * int(os.environ.get("PENSTOCK_HISTORIES", "15"))


def test_panes_equal_oracle() -> None:
    @settings(max_examples=HISTORIES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(streams.overs(most=6), st.integers(1, 5), st.randoms(use_true_random=False))
    def check(case: tuple[Over, History], size: int, chance: object) -> None:
        node, history = case
        streams.tried["over in panes"] += 1
        tables = accepted(history, clocks(node)).tables()
        rows = evaluate(node.input, tables)
        order = list(range(len(rows)))
        chance.shuffle(order)  # type: ignore[attr-defined]
        assert_same_rows(answered(node, rows, order, size), evaluate(node, tables))

    check()
    assert streams.tried["over in panes"] >= HISTORIES


@settings(max_examples=HISTORIES, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.integers(-40, 40)), min_size=1, max_size=40),
    st.integers(1, 20),
    st.lists(st.integers(0, 19), min_size=1, max_size=3, unique=True),
    st.integers(1, 40),
)
def test_tables_hold_rows_that_go_together(
    rows: list[tuple[int, bool, int]], length: int, cuts: list[int], at_once: int
) -> None:
    records = [
        {"bucket": bucket, "is_left": is_left, "time": time, "row": {"place": place}}
        for place, (bucket, is_left, time) in enumerate(rows)
    ]
    time = pa.timestamp("us", tz="UTC")
    fields = {"bucket": pa.int32(), "is_left": pa.bool_(), "time": time, "row": pa.struct([("place", pa.int64())])}
    batches = iter([pa.RecordBatch.from_pylist(records, pa.schema(list(fields.items())))])
    found: list[int] = []
    for batch in pack_rows(batches, length, cuts, at_once):
        kinds: set[object] = set()
        for table in batch.set_column(2, "time", batch.column("time").cast(pa.int64())).to_pylist():
            places = [row["place"] for row in pa.ipc.open_stream(table["rows"]).read_all().to_pylist()]
            found += places
            assert table["time"] == max(rows[place][2] for place in places)
            cells = {(*rows[place][:2], *((rows[place][2] - cut) // length for cut in cuts)) for place in places}
            assert len(cells) == 1
            kinds |= cells
        assert len(kinds) == len(batch)
    assert sorted(found) == list(range(len(rows)))
