"""An intermediate stream -> the rows that another query of the program has written to its checkpoint.

They are Parquet files of Spark's file sink, whose log lists whole micro-batches. A reader sees all rows of a batch at
once. This bounds the disorder in which it gets them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession

from penstock.codegen.program import Input, SparkQuery
from penstock.kit.intermediate import read_intermediate
from penstock.runtime.checkpoint.sink_log import check_files, rows_folder
from penstock.runtime.checkpoint.storage import Storage, absolute
from penstock.runtime.checkpoint.sweep import list_finished
from penstock.runtime.connectors.files import folder_output
from penstock.runtime.connectors.protocol import RuntimeConnector, RuntimeSource


def place_intermediates(query: SparkQuery, storage: Storage, places: Mapping[str, str]) -> SparkQuery:
    """The query with its intermediate streams in folders. `places`: the checkpoint folders of the queries by name."""
    output = query.output
    if output.is_intermediate:
        path = rows_folder(places[query.name])
        storage.folder(path)
        output = folder_output(output.name, path, "parquet", output.columns)
    inputs = tuple(
        replace(each, options=(("path", rows_folder(places[each.name])),)) if each.is_intermediate else each
        for each in query.inputs
    )
    return replace(query, inputs=inputs, output=output)


class IntermediateSource(RuntimeSource):
    """The rows of the files in the folder that `place_intermediates` has given the input."""

    def __init__(self, source: Input) -> None:
        self._source = source

    def check(self, storage: Storage, place: str | None) -> None:
        """Raises RunError if a file is damaged that is not read yet."""
        if place is not None:
            path = absolute(str(self._source.values["path"]))
            check_files(storage, path, list_finished(storage, place, path))

    @property
    def reads_files(self) -> bool:
        return True

    def stream(self, spark: SparkSession) -> DataFrame:
        return read_intermediate(spark, dict(self._source.columns), str(self._source.values["path"]))


CONNECTOR = RuntimeConnector(source=IntermediateSource)
