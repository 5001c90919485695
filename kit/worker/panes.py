"""Panes, as packed tables of rows -> rows with what DuckDB computes over their pane.

This code runs in Spark's Python workers, where Penstock may not be installed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from penstock.kit.worker.pack import read_table


def answer_panes(
    batches: Iterator[Any],
    order: str | None,
    sql: str,
    given: Sequence[str],
    kept: Sequence[str],
    picked: Mapping[str, str],
    at_once: int = 100_000,
) -> Iterator[Any]:
    """The rows of a PaneView. The batches hold all tables of each pane. One DuckDB query covers about `at_once` rows.

    Raises:
        OverflowError: a sum does not fit its type.
    """
    import pyarrow as pa

    panes: dict[tuple[int, int], list[bytes]] = {}
    for batch in batches:
        columns = (convert_times(batch.column("begin")), batch.column("bucket"), batch.column("tables"))
        for begin, bucket, streams in zip(*(column.to_pylist() for column in columns), strict=True):
            panes.setdefault((begin, bucket), []).extend(streams)
    if not panes:
        return  # a new DuckDB takes 12 ms
    begins: list[int] = []
    tables: list[Any] = []
    with connect_duckdb() as connection:
        for begin, bucket in sorted(panes):
            begins.append(begin)
            tables.append(pa.concat_tables(map(read_table, panes.pop((begin, bucket)))))
            if not panes or sum(map(len, tables)) >= at_once:
                yield from answer_tables(connection, begins, tables, order, sql, given, kept, picked).to_batches(
                    at_once
                )
                begins, tables = [], []


def answer_tables(
    connection: Any,
    begins: Sequence[int],
    tables: Sequence[Any],
    order: str | None,
    sql: str,
    given: Sequence[str],
    kept: Sequence[str],
    picked: Mapping[str, str],
) -> Any:
    """The answers over the rows of some panes. Each pane has a begin and a table.

    Raises:
        OverflowError: a sum does not fit its type.
    """
    import numpy as np
    import pyarrow as pa

    lengths = list(map(len, tables))
    columns = {
        "pane": pa.array(np.repeat(np.arange(len(tables)), lengths)),
        "begin": pa.array(np.repeat(np.array(begins, dtype=np.int64), lengths)),
    }
    rows = pa.concat_tables(tables).combine_chunks()
    columns |= {name: convert_times(rows.column(name)) for name in given}
    if order is not None:
        rows, columns = order_rows(connection, order, rows, columns)
    answer = query_duckdb(connection, sql, {"place": number_rows(len(rows)), **columns})
    return pa.table(pick_columns(rows.column, answer, kept, picked)).combine_chunks()


def order_rows(connection: Any, order: str, rows: Any, columns: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The rows and their columns in the order that DuckDB answers `order` with. The column `pane` is from the answer.

    Raises:
        OverflowError: a sum does not fit its type.
    """
    ordered = query_duckdb(connection, order, {"place": number_rows(len(rows)), **columns})
    place = ordered.column("place").combine_chunks()
    moved = {name: column.take(place) for name, column in columns.items()}
    return rows.take(place).combine_chunks(), moved | {"pane": ordered.column("pane")}


def connect_duckdb() -> Any:
    """A connection to an empty DuckDB."""
    import duckdb

    # Nothing but the rows that it is given is read and nothing is written; Spark runs a worker for each core already.
    closed = (
        "SET threads = 1; SET temp_directory = ''; SET autoinstall_known_extensions = false; "
        "SET autoload_known_extensions = false; SET python_enable_replacements = false; "
        "SET enable_external_access = false; SET lock_configuration = true"
    )
    connection = duckdb.connect(":memory:")
    connection.execute(closed)
    return connection


def query_duckdb(connection: Any, sql: str, columns: Mapping[str, Any]) -> Any:
    """The answer of DuckDB to a query over the table `rows`, which has these columns, as an Arrow table.

    Raises:
        OverflowError: a sum does not fit its type.
    """
    import duckdb
    import pyarrow as pa

    connection.register("rows", pa.table(dict(columns)))
    try:
        answer = connection.sql(sql).to_arrow_table().combine_chunks()
    except (duckdb.ConversionException, duckdb.OutOfRangeException) as error:
        raise OverflowError(" ".join(str(error).splitlines()[:1])) from None
    connection.unregister("rows")
    return answer


def pick_columns(
    field: Callable[[str], Any], answer: Any, kept: Sequence[str], picked: Mapping[str, str]
) -> dict[str, Any]:
    """The columns of the result: fields `kept` of the rows at the answered places, and the answered columns."""
    result = {name: field(name).take(answer.column("place")) for name in kept}
    for name in answer.column_names[1:]:
        column = answer.column(name)
        result[name] = take_values(field(picked[name]), column) if name in picked else column
    return result


def take_values(values: Any, places: Any) -> Any:
    """The values at these places. Lists of places give lists of values."""
    import pyarrow as pa

    if not pa.types.is_list(places.type):
        return values.take(places)
    whole = places.combine_chunks()
    whole = whole if isinstance(whole, pa.ListArray) else pa.concat_arrays(whole.chunks)
    taken = values.take(whole.flatten())
    taken = taken.combine_chunks() if isinstance(taken, pa.ChunkedArray) else taken
    return pa.ListArray.from_arrays(whole.offsets, taken)


def number_rows(count: int) -> Any:
    """0, 1 … up to a count of rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.cumulative_sum(pa.repeat(pa.scalar(1), count), start=-1)


def convert_times(column: Any) -> Any:
    """Times and intervals as microseconds, so that DuckDB does not convert them. Other columns stay as they are."""
    import pyarrow as pa

    is_time = pa.types.is_timestamp(column.type) or pa.types.is_duration(column.type)
    return column.cast(pa.int64()) if is_time else column
