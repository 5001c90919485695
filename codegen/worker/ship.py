"""Program -> the source texts of the functions that its Python workers run, for an ejected program."""

from __future__ import annotations

import inspect

from penstock.codegen.program import BucketView, LookupView, PaneView, Program
from penstock.codegen.worker.lookup import look_up_rows
from penstock.codegen.worker.over_rows import answer_rows, mark_last_rows
from penstock.codegen.worker.pack import pack_rows, read_table, split_into_tables, unpack_tables, write_table
from penstock.codegen.worker.panes import (
    answer_panes,
    answer_tables,
    connect_duckdb,
    convert_times,
    number_rows,
    order_rows,
    pick_columns,
    query_duckdb,
)

_PACKED_VIEW = '''
def packed_view(spark, name, source, length, cuts, schema):
    """A view of tables of rows, packed in Python workers; `schema` is a SELECT of its columns that is never run."""

    def pack(batches):
        return pack_rows(batches, length, cuts)

    spark.table(source).mapInArrow(pack, spark.sql(schema).schema).createOrReplaceTempView(name)
'''
_PANE_VIEW = '''
def pane_view(spark, name, source, order, sql, given, kept, picked, schema):
    """A view that DuckDB computes in Python workers; `schema` is a SELECT of its columns that is never run."""

    def answer(batches):
        return answer_panes(batches, order, sql, given, kept, picked)

    spark.table(source).mapInArrow(answer, spark.sql(schema).schema).createOrReplaceTempView(name)
'''
_BUCKET_VIEW = '''
def bucket_view(spark, name, source, function, state, timeout, schema, **facts):
    """A view that a function makes of tables in buckets and of their state; `schema` is a SELECT that is never run."""
    connections = []

    def run(bucket, frames, kept):
        import pandas as pd

        arrived = (table for frame in frames for table in frame["rows"])
        for table in function(arrived, kept, connections, **facts):
            yield pd.DataFrame({"rows": [table]})

    buckets = spark.table(source).groupBy("bucket")
    tables = buckets.applyInPandasWithState(run, "rows BINARY", state, "append", timeout)
    tables.mapInArrow(unpack_tables, spark.sql(schema).schema).createOrReplaceTempView(name)
'''
_QUERYING = (
    pack_rows,
    split_into_tables,
    write_table,
    read_table,
    connect_duckdb,
    query_duckdb,
    order_rows,
    pick_columns,
    number_rows,
    convert_times,
)
_ANSWERING = (answer_panes, answer_tables)
_IN_BUCKETS = {BucketView: (answer_rows, mark_last_rows), LookupView: (look_up_rows,)}


def list_worker_sources(program: Program) -> list[str]:
    """The source texts that the views need, an empty list if no view runs in Python workers."""
    kinds = {type(view) for query in program.queries for view in query.views}
    parts: list[str] = []
    if kinds & {PaneView, BucketView, LookupView}:
        parts += [*(inspect.getsource(each) for each in _QUERYING), _PACKED_VIEW]
    if PaneView in kinds:
        parts += [*(inspect.getsource(each) for each in _ANSWERING), _PANE_VIEW]
    if kinds & {BucketView, LookupView}:
        own = [each for kind, functions in _IN_BUCKETS.items() if kind in kinds for each in functions]
        parts += [*(inspect.getsource(each) for each in (unpack_tables, *own)), _BUCKET_VIEW]
    return parts
