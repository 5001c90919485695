"""A checkpoint -> the names of the sources of its query, if it was begun with names.

Spark notes by these names how far each source was read. They stay as they are, whatever a later version would give. So
they are noted when the checkpoint is begun: `sources.json` lists them in the order of the plan.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession

from penstock.codegen.folders import source_name
from penstock.codegen.program import SparkQuery
from penstock.kit.checkpoint_sources import (
    EVOLUTION_SETTING,
    distinguish_names,
    has_names,
    list_source_names,
    name_source,
    rename_sources,
)
from penstock.kit.watermark import END_SOURCE
from penstock.runtime.checkpoint.preflight import check_inputs, refuse_damaged, source_numbers
from penstock.runtime.checkpoint.spark_logs import entry, read_required
from penstock.runtime.checkpoint.storage import Damaged, Storage

NOTE = "sources.json"


class SourceNames:
    """The names of the sources of a query that is started in a checkpoint folder.

    If the checkpoint was begun without names, its sources have none: Spark numbers them.
    """

    def __init__(self, storage: Storage, place: str, query: SparkQuery) -> None:
        self._storage = storage
        self._place = place
        newest = storage.newest(f"{place}/offsets")
        self._is_new = newest < 0
        self._are_given = has_names(None if self._is_new else storage.read(f"{place}/offsets/{newest}"))
        self._names = {each.view: source_name(each.name) for each in query.inputs}
        self._names[f"{query.name}_end"] = END_SOURCE

    def name(self, rows: DataFrame, view: str) -> DataFrame:
        """The rows of an input, which the view is to show."""
        return name_source(rows, self._names[view]) if self._are_given else rows

    def settle(self, rows: DataFrame) -> DataFrame:
        """The rows of the query with its sources as the checkpoint knows them.

        Raises:
            RunError: a log of its sources is missing or damaged.
        """
        if not self._are_given:
            check_inputs(self._storage, self._place, list(map(str, source_numbers(rows))))
            return rows
        found, note = list_source_names(rows), f"{self._place}/{NOTE}"
        names = distinguish_names(found)
        if self._is_new:
            self._storage.delete(note)
            self._storage.publish(note, json.dumps({"sources": names}) + "\n")
        else:
            names = _read_note(self._storage, note, len(found))
            check_inputs(self._storage, self._place, names)
        return rows if names == found else rename_sources(rows, names)

    @contextmanager
    def told(self, spark: SparkSession) -> Iterator[None]:
        """Lets Spark use the names when the query is started."""
        spark.conf.set(EVOLUTION_SETTING, str(self._are_given).lower())
        try:
            yield
        finally:
            spark.conf.set(EVOLUTION_SETTING, "false")  # else no source can be made before it has a name


def _read_note(storage: Storage, path: str, count: int) -> list[str]:
    try:
        noted = entry(path, 1, read_required(storage, path), {"sources": list})["sources"]
        if len(noted) == count and all(isinstance(name, str) for name in noted):
            return list(noted)
        raise Damaged(path, f"it does not have the names of {count} sources")
    except Damaged as damage:
        raise refuse_damaged(damage) from None
