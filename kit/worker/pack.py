"""Rows -> tables of rows. Rows travel and wait in tables, so that no row is an object of Spark's.

This code runs in Spark's Python workers, where Penstock may not be installed. A
table is an Arrow IPC stream, which includes its own types.
"""

from collections.abc import Iterator, Sequence
from typing import Any


def pack_rows(batches: Iterator[Any], length: int, cuts: Sequence[int], at_once: int = 100_000) -> Iterator[Any]:
    """A row for each table of the PackedView. Rows are packed as soon as there are `at_once` of them."""
    for group in group_batches(batches, at_once):
        yield split_into_tables(group, length, cuts)


def group_batches(batches: Iterator[Any], at_once: int) -> Iterator[list[Any]]:
    """Batches of `at_once` rows or more, and the batches that are left. No group is without rows."""
    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= at_once:
            yield waiting
            waiting = []
    if sum(map(len, waiting)):
        yield waiting


def split_into_tables(batches: Sequence[Any], length: int, cuts: Sequence[int]) -> Any:
    """Tables of the rows that agree in all columns except `time` and `row`, and whose times no cut separates."""
    import numpy as np
    import pyarrow as pa

    rows = pa.Table.from_batches(batches)
    names = [name for name in rows.column_names if name not in ("time", "row")]
    times = rows.column("time").combine_chunks().cast(pa.int64()).to_numpy()
    keys = [rows.column(name).to_numpy() for name in names]
    order = np.lexsort((times, *reversed(keys)))
    times, keys = times[order], [key[order] for key in keys]
    marks = [*keys, *((times - cut) // length for cut in cuts)]
    changes = np.logical_or.reduce([mark[1:] != mark[:-1] for mark in marks])
    begins = np.concatenate(([0], np.flatnonzero(changes) + 1))
    ends = np.append(begins[1:], len(times))
    structs = rows.column("row").combine_chunks()
    table = pa.Table.from_batches([pa.RecordBatch.from_struct_array(structs)]).take(pa.array(order)).combine_chunks()
    columns = {name: pa.array(key[begins], rows.schema.field(name).type) for name, key in zip(names, keys, strict=True)}
    # Without cuts a table has no time, because Spark would take one that begins behind the watermark for late.
    newest = pa.array(times[ends - 1]) if cuts else pa.nulls(len(begins), pa.int64())
    columns["time"] = newest.cast(rows.schema.field("time").type)
    tables = [write_table(table.slice(begin, end - begin)) for begin, end in zip(begins, ends, strict=True)]
    return pa.record_batch(columns | {"rows": pa.array(tables, pa.binary())})


def unpack_tables(batches: Iterator[Any]) -> Iterator[Any]:
    """The rows of the tables in each batch."""
    for batch in batches:
        for table in batch.column("rows"):
            yield from read_table(table.as_py()).to_batches()


def write_table(table: Any) -> bytes:
    """A table as an Arrow IPC stream."""
    import pyarrow as pa

    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table)
    return bytes(stream.getvalue())


def read_table(stream: bytes) -> Any:
    """The table of an Arrow IPC stream."""
    import pyarrow as pa

    return pa.ipc.open_stream(stream).read_all()
