"""A LocalRead over the files that are there now -> rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from penstock.codegen.program import LocalRead, LocalTable
from penstock.kit.worker.panes import connect_duckdb
from penstock.rows import Rows
from penstock.runtime.local_reads.arrow_types import arrow_type, naive_type
from penstock.runtime.local_reads.file_records import check_value, read_records
from penstock.runtime.local_reads.newest import keep_newest
from penstock.runtime.local_reads.plain_files import NotPlainError, PlainFile, list_plain_files

SMALL = 8 << 20
"""The most bytes of files that are read without Spark: Python parses them, one record after the other."""
_EPOCH = datetime(1970, 1, 1)
_BELIEVED = timedelta(hours=1)
"""Rows are believed to come from no later than so long after their files were written."""


def answer_locally(read: LocalRead | None) -> Rows | None:
    """The rows of the answer, times in UTC; None if Spark has to be asked.

    Files hold what nobody has thought of: brackets that are nested too deeply for Python, times that it has no type
    for. Whatever fails here, for whatever reason, is left to Spark, which reads it or says what is wrong.
    """
    if read is None:
        return None
    try:
        return _answer(read)
    except Exception:
        return None


def answer_tables(read: LocalRead, rows: Mapping[str, pa.Table]) -> Rows | None:
    """The rows of the answer over tables that are at hand, times in UTC; None if a value has no meaning here.

    `rows`: the rows of each table by its name. They have at least the columns that are read.
    """
    try:
        return _query(read, {each.name: _take_rows(each, rows[each.input.name]) for each in read.tables})
    except Exception:
        return None


def _take_rows(table: LocalTable, rows: pa.Table) -> pa.Table:
    """The columns that are read, called c0, c1 …. Raises NotPlainError for a value that others take otherwise."""
    types = dict(table.input.columns)
    arrays = []
    for name in table.columns:
        values = [check_value(value, arrow_type(types[name])) for value in rows.column(name).to_pylist()]
        arrays.append(pa.array(values, naive_type(types[name])))
    return pa.table(arrays, names=[f"c{place}" for place, _ in enumerate(arrays)])


def _answer(read: LocalRead) -> Rows:
    """The rows. Raises NotPlainError if Spark has to be asked, and anything else if something is wrong."""
    if not all(each.input.holds_rows for each in read.tables):  # in the memory of a process
        raise NotPlainError
    files = {each.name: list_plain_files(each.input) for each in read.tables}
    if sum(file.size for each in files.values() for file in each) > SMALL:
        raise NotPlainError
    tables = {each.name: _read_table(each, files[each.name]) for each in read.tables}
    # A query may have begun to write there since, and have left a part of its first micro-batch.
    if any(list_plain_files(each.input) != files[each.name] for each in read.tables):
        raise NotPlainError
    return _query(read, tables)


def _query(read: LocalRead, tables: dict[str, pa.Table]) -> Rows:
    with connect_duckdb() as connection:
        for name, table in tables.items():
            connection.register(name, table)
        answer = connection.sql(read.sql, params=dict(read.constants)).to_arrow_table()
    schema = pa.schema([(name, arrow_type(type_)) for name, type_ in read.columns])
    columns = [column.cast(field.type) for column, field in zip(answer.columns, schema, strict=True)]
    return Rows(pa.table(columns, schema=schema))


def _read_table(table: LocalTable, files: Iterable[PlainFile]) -> pa.Table:
    """The rows of a table, with columns that are called c0, c1 …."""
    records = [record for file in files for record in _list_sound(table, file)]
    rows = records if table.key is None else keep_newest(table, records)
    types = dict(table.input.columns)
    arrays = [pa.array([row[name] for row in rows], naive_type(types[name])) for name in table.columns]
    return pa.table(arrays, names=[f"c{place}" for place, _ in enumerate(arrays)])


def _list_sound(table: LocalTable, file: PlainFile) -> Iterator[dict[str, Any]]:
    """The records of a file; raises NotPlainError if one of them is to be set aside."""
    latest = _EPOCH + timedelta(microseconds=file.written) + _BELIEVED
    for record in read_records(table.input, file):
        time = None if table.time is None else record[table.time]
        if any(record[each] is None for each in table.required):
            raise NotPlainError
        if table.time is not None and (time is None or not _EPOCH <= time <= latest):
            raise NotPlainError
        yield record
