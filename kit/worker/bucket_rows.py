"""Rows in buckets -> rows with the values of their frames.

Rows wait for the watermark. Then the last rows of each partition are remembered for the frames of later rows.

This code runs in Spark's Python workers, where Penstock may not be installed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from penstock.kit.worker.pack import read_table, write_table
from penstock.kit.worker.panes import (
    connect_duckdb,
    convert_times,
    number_rows,
    order_rows,
    pick_columns,
    query_duckdb,
)


def answer_rows(
    arrived: Iterable[bytes],
    state: Any,
    connections: list[Any],
    *,
    order: str,
    sql: str,
    time: str,
    back: int,
    given: Sequence[str],
    kept: Sequence[str],
    picked: Mapping[str, str],
    only: str | None,
) -> Iterator[bytes]:
    """The rows of a bucket that are final now. The state is the last `back` rows of each pane and the waiting rows.

    If `only` names a field, only rows where it is true are remembered. `connections` holds one DuckDB connection, which
    the buckets of a task share.

    Raises:
        OverflowError: a sum does not fit its type.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    old, *tables = map(read_table, state.get) if state.exists else [None]
    waiting = pa.concat_tables([*tables, *map(read_table, arrived)])
    times = convert_times(waiting.column(time))
    is_final = pc.less(times, state.getCurrentWatermarkMs() * 1000)
    final, waiting = waiting.filter(is_final), waiting.filter(pc.invert(is_final))
    rows = final if old is None else pa.concat_tables([old, final])
    if len(final):
        if not connections:
            connections.append(connect_duckdb())
        columns = {"pane": pa.repeat(pa.scalar(0), len(rows))}
        columns["new"] = pc.greater_equal(number_rows(len(rows)), len(rows) - len(final))
        columns |= {name: convert_times(rows.column(name)) for name in given}
        rows, columns = order_rows(connections[0], order, rows, columns)
        answer = query_duckdb(connections[0], sql, {"place": number_rows(len(rows)), **columns})
        if len(answer):
            yield write_table(pa.table(pick_columns(rows.column, answer, kept, picked)))
        panes = columns["pane"].combine_chunks()
        if only is not None:
            panes, rows = panes.filter(rows.column(only).combine_chunks()), rows.filter(rows.column(only))
        rows = rows.filter(mark_last_rows(panes, back))
    state.update((write_table(rows), write_table(waiting)))
    if len(waiting):
        earliest = pc.min(convert_times(waiting.column(time))).as_py() // 1000
        state.setTimeoutTimestamp(max(earliest, 1))


def mark_last_rows(panes: Any, back: int) -> Any:
    """Whether each row is among the last `back` rows of its pane. The rows are ordered by pane."""
    import numpy as np

    numbers = panes.to_numpy()
    behind = np.searchsorted(numbers, numbers, side="right") - np.arange(len(numbers))
    return behind <= back
