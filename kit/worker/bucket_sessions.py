"""Rows in buckets, and the sessions of earlier ones -> sessions that have changed, as they were and as they are.

This code runs in Spark's Python workers, where Penstock may not be installed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from penstock.kit.worker.pack import read_table, write_table
from penstock.kit.worker.panes import connect_duckdb, convert_times, number_rows, pick_columns, query_duckdb


def merge_sessions(
    arrived: Iterable[bytes],
    state: Any,
    connections: list[Any],
    *,
    merge: str,
    sql: str,
    given: Sequence[str],
    kept: Sequence[str],
    picked: Mapping[str, str],
) -> Iterator[bytes]:
    """The rows of a SessionView for one bucket and micro-batch. The state is the sessions that can still change.

    `connections` holds one DuckDB connection, which the buckets of a task share.

    Raises:
        OverflowError: a sum does not fit its type.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not connections:
        connections.append(connect_duckdb())
    known = list(map(read_table, state.get)) if state.exists else []
    # Kept rows may have NULL in fields in which arriving ones never have it.
    rows = pa.concat_tables([*known, *map(read_table, arrived)], promote_options="default").combine_chunks()
    places = number_rows(len(rows))
    is_known = pc.less(places, sum(map(len, known)))
    columns = {name: convert_times(rows.column(name)) for name in given}
    merged = query_duckdb(connections[0], merge, {"place": places, "known": is_known, **columns})
    rows = rows.take(merged.column("place"))
    for name in (each for each in merged.column_names if each in rows.column_names):
        column = merged.column(name).cast(rows.schema.field(name).type)
        rows = rows.set_column(rows.column_names.index(name), name, column)
    beside = {name: merged.column(name) for name in merged.column_names if name != "place"}
    columns = {name: convert_times(rows.column(name)) for name in given}
    answer = query_duckdb(connections[0], sql, {**beside, **columns, "place": number_rows(len(rows))})
    if len(answer):
        yield write_table(pa.table(pick_columns(rows.column, answer, kept, picked)))
    # A row of the very end of a session belongs to it, and one of the very watermark is not late.
    ends = convert_times(rows.column("end"))
    is_open = pc.and_(merged.column("after"), pc.greater_equal(ends, state.getCurrentWatermarkMs() * 1000))
    rows = rows.filter(is_open)
    if len(rows):
        state.update((write_table(rows),))
        state.setTimeoutTimestamp(max(pc.min(ends.filter(is_open)).as_py() // 1000, 1))
    else:
        state.remove()
