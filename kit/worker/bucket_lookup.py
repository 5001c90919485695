"""Rows in buckets, and the newest upserts of a table that are kept there -> rows beside the rows they refer to.

This code runs in Spark's Python workers, where Penstock may not be installed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from penstock.kit.worker.pack import read_table, write_table
from penstock.kit.worker.panes import connect_duckdb, convert_times, number_rows, pick_columns, query_duckdb


def look_up_rows(
    arrived: Iterable[bytes],
    state: Any,
    connections: list[Any],
    *,
    newest: str,
    sql: str,
    given: Sequence[str],
    kept: Sequence[str],
    picked: Mapping[str, str],
) -> Iterator[bytes]:
    """The rows of a LookupView for one bucket and micro-batch. The state is written only if it changes.

    `connections` holds one DuckDB connection, which the buckets of a task share.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not connections:
        connections.append(connect_duckdb())
    known = list(map(read_table, state.get)) if state.exists else []
    rows = pa.concat_tables([*known, *map(read_table, arrived)]).combine_chunks()
    columns = {"place": number_rows(len(rows)), **{name: convert_times(rows.column(name)) for name in given}}
    remaining = query_duckdb(connections[0], newest, columns).column("place")
    old = sum(map(len, known))
    is_known = pc.less(columns["place"], old)
    is_newest = pc.is_in(columns["place"], value_set=remaining.combine_chunks())
    answer = query_duckdb(connections[0], sql, columns | {"known": is_known, "newest": is_newest})
    if len(answer):
        yield write_table(pa.table(pick_columns(rows.column, answer, kept, picked)))
    if len(remaining) != old or not pc.all(pc.equal(is_known, is_newest)).as_py():
        state.update((write_table(rows.filter(is_newest)),))
