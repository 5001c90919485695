"""Panes of rows, as Arrow batches -> rows with the values of their frames, computed by DuckDB.

This text runs in Spark's Python workers, which need not have penstock, and is part of every ejected program.
"""

# No `from __future__` here, and imports where they are used: an ejected program begins with its own.
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any


def answer_panes(
    batches: Iterator[Any], sql: str, given: Sequence[str], kept: Sequence[str], picked: Mapping[str, str]
) -> Iterator[Any]:
    """The rows of a PaneView, a batch of them for each batch of panes. All columns of a pane are in it.

    Raises:
        OverflowError: a sum does not fit its type.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    with connected() as connection:
        for batch in batches:
            panes = batch.column("pane")
            numbers, rows = pc.list_parent_indices(panes), panes.flatten()
            columns = {
                "place": places(len(rows)),
                "pane": numbers,
                "begin": as_number(batch.column("begin")).take(numbers),
                **{name: as_number(rows.field(name)) for name in given},
            }
            answer = asked(connection, sql, columns)
            yield from pa.table(picked_out(rows.field, answer, kept, picked)).to_batches()


def connected() -> Any:
    """DuckDB without anything in it."""
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


def asked(connection: Any, sql: str, columns: Mapping[str, Any]) -> Any:
    """DuckDB's answer over `rows` of these columns, as an Arrow table.

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


def picked_out(
    field: Callable[[str], Any], answer: Any, kept: Sequence[str], picked: Mapping[str, str]
) -> dict[str, Any]:
    """The columns of the result: fields of the rows at the places answered, and the answers."""
    result = {name: field(name).take(answer.column("place")) for name in kept}
    for name in answer.column_names[1:]:
        column = answer.column(name)
        result[name] = field(picked[name]).take(column) if name in picked else column
    return result


def places(count: int) -> Any:
    """0, 1 … up to a count of rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.cumulative_sum(pa.repeat(pa.scalar(1), count), start=-1)


def as_number(column: Any) -> Any:
    """Times and intervals as microseconds, which DuckDB takes for what they are; all else as it is."""
    import pyarrow as pa

    is_time = pa.types.is_timestamp(column.type) or pa.types.is_duration(column.type)
    return column.cast(pa.int64()) if is_time else column
