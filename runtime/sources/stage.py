"""An intermediate stream -> the rows that another query of the program has written to its checkpoint.

They are Parquet files of Spark's file sink, whose log lists whole micro-batches: a reader sees all rows of a batch at
once, which is what bounds the disorder in which it gets them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession

from penstock.codegen.program import Input, QueryOutput, SparkQuery
from penstock.runtime.storage import Storage

INTERMEDIATE = "intermediate"


def placed(query: SparkQuery, storage: Storage, places: Mapping[str, str]) -> SparkQuery:
    """The query with its intermediate streams in folders. `places`: the checkpoint folders of the queries by name."""
    output = query.output
    if output.connector == INTERMEDIATE:
        path = rows_folder(places[query.name])
        storage.folder(path)
        output = QueryOutput(output.name, "files", (("path", path), ("format", "parquet")), output.columns)
    inputs = tuple(
        replace(each, options=(("path", rows_folder(places[each.name])),)) if each.connector == INTERMEDIATE else each
        for each in query.inputs
    )
    return replace(query, inputs=inputs, output=output)


def stream(spark: SparkSession, source: Input) -> DataFrame:
    """The rows of the files in the folder `path`."""
    schema = ", ".join(f"`{name.replace('`', '``')}` {type_}" for name, type_ in source.columns)
    # Spark by itself ignores files that are a week older than the newest one.
    reader = spark.readStream.option("maxFileAge", "36500d").schema(schema)
    return reader.parquet(str(dict(source.options)["path"]))


def rows_folder(place: str) -> str:
    """The folder of the rows that the query with the checkpoint folder `place` writes."""
    return f"{place}/rows"
