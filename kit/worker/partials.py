"""Rows -> tables of partial aggregates, so that no single row travels or waits.

This code runs in Spark's Python workers, where Penstock may not be installed.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from penstock.kit.worker.pack import group_batches, split_into_tables
from penstock.kit.worker.panes import connect_duckdb, convert_times, number_rows, query_duckdb


def pack_partials(
    batches: Iterator[Any],
    length: int,
    cuts: Sequence[int],
    sql: str,
    given: Sequence[str],
    kept: Sequence[str],
    at_once: int = 400_000,
) -> Iterator[Any]:
    """A row for each table of the PartialView. DuckDB aggregates as soon as there are `at_once` rows.

    Raises:
        OverflowError: a sum does not fit its type.
    """
    groups = group_batches(batches, at_once)
    first = next(groups, None)
    if first is None:
        return
    with connect_duckdb() as connection:
        for group in itertools.chain([first], groups):
            yield split_into_tables(aggregate_rows(connection, group, sql, given, kept), length, cuts)


def aggregate_rows(
    connection: Any, batches: Sequence[Any], sql: str, given: Sequence[str], kept: Sequence[str]
) -> list[Any]:
    """The answer of DuckDB to a query over rows, in batches like theirs: `bucket`, `time` and `row`.

    Raises:
        OverflowError: a sum does not fit its type.
    """
    import pyarrow as pa

    rows = pa.Table.from_batches(batches).combine_chunks()
    whole = rows.column("row").combine_chunks()
    fields = pa.Table.from_batches([pa.RecordBatch.from_struct_array(whole)])
    columns = {"place": number_rows(len(rows)), "bucket": rows.column("bucket")}
    columns |= {"time": convert_times(rows.column("time"))}
    columns |= {name: convert_times(fields.column(name)) for name in given}
    answer = query_duckdb(connection, sql, columns)
    place = answer.column("place")
    parts = {name: fields.column(name).take(place) for name in kept}
    parts |= {name: answer.column(name) for name in answer.column_names if name != "place"}
    packed = {name: rows.column(name).take(place) for name in ("bucket", "time")}
    answered: list[Any] = pa.table({**packed, "row": pa.table(parts).to_struct_array()}).to_batches()
    return answered
