"""Rows in buckets, and the rows that earlier ones add up to -> what DuckDB computes over all that are there now.

This code runs in Spark's Python workers, where Penstock may not be installed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from penstock.kit.worker.pack import read_table, write_table
from penstock.kit.worker.panes import connect_duckdb, convert_times, number_rows, pick_columns, query_duckdb


def fold_rows(
    arrived: Iterable[bytes],
    state: Any,
    connections: list[Any],
    *,
    fold: str,
    sql: str,
    given: Sequence[str],
    kept: Sequence[str],
    picked: Mapping[str, str],
) -> Iterator[bytes]:
    """The rows of a MultisetView for one bucket and micro-batch. The state is the rows that are kept.

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
    columns = {name: convert_times(rows.column(name)) for name in given}
    is_known = pc.less(places, sum(map(len, known)))
    folded = query_duckdb(connections[0], fold, {"place": places, "known": is_known, **columns})
    rows = rows.take(folded.column("place"))
    for name in (each for each in folded.column_names if each in rows.column_names):
        column = folded.column(name).cast(rows.schema.field(name).type)
        rows = rows.set_column(rows.column_names.index(name), name, column)
    beside = {name: folded.column(name) for name in folded.column_names if name != "place"}
    columns = {name: convert_times(rows.column(name)) for name in given}
    answer = query_duckdb(connections[0], sql, {"place": number_rows(len(rows)), **beside, **columns})
    if len(answer):
        yield write_table(pa.table(pick_columns(rows.column, answer, kept, picked)))
    state.update((write_table(rows),))
