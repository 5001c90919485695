"""Program -> the parts of a PySpark program that Python workers run: the texts of the rooms' own functions."""

from __future__ import annotations

import inspect

from penstock.codegen.looked_up import looked_up
from penstock.codegen.packed import packed, read, tables_of, unpacked, written
from penstock.codegen.panes import answer_panes, answered, as_number, asked, connected, in_order, picked_out, places
from penstock.codegen.program import BucketView, LookupView, PaneView, Program
from penstock.codegen.remembered import answered_rows, last_ones

_PACKED_VIEW = '''
def packed_view(spark, name, source, length, cuts, schema):
    """A view of tables of rows, packed in Python workers; `schema` is a SELECT of its columns that is never run."""

    def pack(batches):
        return packed(batches, length, cuts)

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
    tables.mapInArrow(unpacked, spark.sql(schema).schema).createOrReplaceTempView(name)
'''
_ASKING = (packed, tables_of, written, read, connected, asked, in_order, picked_out, places, as_number)
_ANSWERING = (answer_panes, answered)
_IN_BUCKETS = {BucketView: (answered_rows, last_ones), LookupView: (looked_up,)}


def worker_parts(program: Program) -> list[str]:
    """What the views need that Python workers compute, nothing if there are none."""
    kinds = {type(view) for query in program.queries for view in query.views}
    parts: list[str] = []
    if kinds & {PaneView, BucketView, LookupView}:
        parts += [*(inspect.getsource(each) for each in _ASKING), _PACKED_VIEW]
    if PaneView in kinds:
        parts += [*(inspect.getsource(each) for each in _ANSWERING), _PANE_VIEW]
    if kinds & {BucketView, LookupView}:
        own = [each for kind, functions in _IN_BUCKETS.items() if kind in kinds for each in functions]
        parts += [*(inspect.getsource(each) for each in (unpacked, *own)), _BUCKET_VIEW]
    return parts
