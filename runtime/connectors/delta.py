"""Tables of Delta Lake, written and read through delta-rs: each micro-batch is one commit, which notes that as well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from penstock.codegen import LEDGER_SINK, list_delta_arguments, list_delta_place
from penstock.codegen.ejected.databases.faults import TableError
from penstock.codegen.ejected.databases.retries import TransientError
from penstock.codegen.ejected.databases.secrets import SecretRef
from penstock.codegen.ejected.delta_table import DeltaTarget, read_delta
from penstock.codegen.ejected.delta_writer import DeltaPolicy, DeltaWriter, RowsToDelta
from penstock.codegen.ejected.rows import schema_of
from penstock.codegen.ejected.table_sink import TableBatches
from penstock.codegen.program import Input, SparkQuery
from penstock.rows import Row
from penstock.runtime.connectors.protocol import RuntimeConnector, RuntimeSource
from penstock.runtime.errors import RunError
from penstock.runtime.failures import explain_unread
from penstock.runtime.storage import Storage
from penstock.runtime.table_sink import TableSink


class DeltaSink(TableSink):
    """The rows of one query in a table of Delta Lake."""

    def __init__(self, query: SparkQuery) -> None:
        given = list_delta_arguments(query)
        target = make_target(given.target)
        policy, by_key = DeltaPolicy(**given.policy), query.change is not None
        writer = DeltaWriter(target, query.name, policy, self.note_retry, by_key=by_key)
        super().__init__(query, target.path, writer, TableBatches(writer, RowsToDelta(**given.changes), LEDGER_SINK))


class DeltaSource(RuntimeSource):
    """The rows of the newest version of a table."""

    def __init__(self, source: Input) -> None:
        self._columns = dict(source.columns)
        columns = [(name, type_, True) for name, type_ in source.columns]
        self._target = make_target({**list_delta_place(source), "columns": columns})

    def snapshot(self, spark: SparkSession, storage: Storage, held: Sequence[Row]) -> DataFrame:
        try:
            rows, _ = read_delta(self._target)
        except (TableError, TransientError) as error:
            raise RunError(
                [explain_unread(self._target.path, str(error), getattr(error, "hint", None), None)]
            ) from None
        return spark.createDataFrame(rows, schema_of(self._columns))


def make_target(arguments: dict[str, Any]) -> DeltaTarget:
    """The table. Its secret is named, and not read."""
    secret = arguments.get("secret_key")
    return DeltaTarget(**{**arguments, "secret_key": None if secret is None else SecretRef(secret.kind, secret.name)})


CONNECTOR = RuntimeConnector(DeltaSource, DeltaSink)
