"""Rows of a stream -> the same rows beside the rows of a table that their keys refer to, in Spark's Python workers."""

import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from penstock.kit.databases.address import complete_address
from penstock.kit.databases.faults import TABLE_ERROR, TableError
from penstock.kit.databases.finder import FindPolicy, RowFinder, TableReader
from penstock.kit.databases.secret_refs import KnownSecret
from penstock.kit.databases.spark_types import arrow_type, number_keys
from penstock.kit.databases.target_table import TargetTable

FIGURES = (
    "STRUCT<gets: BIGINT, hits: BIGINT, misses: BIGINT, cache_hits: BIGINT, batches: BIGINT, retries: BIGINT, "
    "seconds_retrying: DOUBLE, batch_seconds: ARRAY<DOUBLE>>"
)
"""What a task counts, as in `FindCounters`. It sends it in a last row, which has nothing else."""


@dataclass(frozen=True)
class LookupRows:
    """What is looked up for each row. The fields are described in `RemoteView` of Penstock's codegen."""

    key: Sequence[tuple[str, str]]
    picked: Sequence[tuple[str, str]]
    outer: bool
    any_row: str | None = None


def remote_view(
    spark: SparkSession, name: str, source: str, table: TargetTable, policy: FindPolicy, rows: LookupRows, schema: str
) -> DataFrame:
    """The rows of the view `source` beside their rows of the table. The password is read here, and known to the
    workers.

    The figures of a micro-batch are observed by the `name` of the view: sums, and the `batch_seconds` of all tasks.

    Workers may have another folder and other variables in their environment, so the address is completed here, too.

    Raises:
        TableError: the table is not as it is declared, or cannot be reached, or the password is not there.
    """
    TableReader(table, policy).check()
    table = replace(table, address=complete_address(table.address))
    secret = None if table.address.password is None else table.address.password.read()
    plain = replace(table, address=replace(table.address, password=None))
    facts = repr((plain, policy, rows)) + (secret or "")
    shared = hashlib.sha256(facts.encode()).hexdigest()
    known = None if secret is None else KnownSecret(secret)
    asked = replace(table, address=replace(table.address, password=known))

    def look_up(batches: Iterator[Any]) -> Iterator[Any]:
        yield from join_batches(batches, share_finder(shared, asked, policy, rows), asked, rows, name)

    columns = spark.sql(f"SELECT *, CAST(NULL AS {FIGURES}) AS figures FROM ({schema})").schema
    # The row of the figures has NULL in all other columns. Metadata say which column has a watermark.
    nullable = StructType([StructField(each.name, each.dataType, metadata=each.metadata) for each in columns])
    figures = [each.name for each in arrow_type(FIGURES)]
    observed = [F.sum(f"figures.{each}").alias(each) for each in figures if each != "batch_seconds"]
    observed.append(F.flatten(F.collect_list("figures.batch_seconds")).alias("batch_seconds"))
    found = spark.table(source).mapInArrow(look_up, nullable).observe(name, *observed)
    return found.where("figures IS NULL").drop("figures")


def join_batches(
    batches: Iterator[Any], finder: RowFinder, table: TargetTable, rows: LookupRows, view: str
) -> Iterator[Any]:
    """The batches of a task beside the rows that the finder finds, and then the row of the figures.

    Raises:
        LookupError: the table cannot be read. The text is TABLE_ERROR and JSON of `view`, `table`, `message`, `hint`,
            `retries` and `seconds_retrying`.
    """
    finder.counters.take()  # figures of a task that failed
    figures, schema = pa.field("figures", arrow_type(FIGURES)), None
    told: dict[str, Any] = {"view": view, "table": table.name}
    try:
        for batch in batches:
            found = join_found(pa.Table.from_batches([batch]), finder, table, rows)
            found = found.append_column(figures, pa.nulls(found.num_rows, figures.type))
            schema = pa.schema([each.with_nullable(True) for each in found.schema])
            yield from found.cast(schema).to_batches()
        if schema is not None:
            yield pa.RecordBatch.from_pylist([{"figures": finder.counters.take()}], schema)
        return
    except TableError as error:
        told |= {"message": str(error), "hint": error.hint}
    counted = finder.counters.take()
    told |= {each: counted[each] for each in ("retries", "seconds_retrying")}
    raise LookupError(TABLE_ERROR + json.dumps(told))


def share_finder(name: str, table: TargetTable, policy: FindPolicy, rows: LookupRows) -> RowFinder:
    """The finder of that name in this process. Spark makes this module anew for each task, so it is kept elsewhere."""
    kept: dict[str, Any] = sys.modules.setdefault("penstock_finders", ModuleType("penstock_finders")).__dict__
    if name not in kept:
        kept[name] = RowFinder(table, [column for _, column in rows.picked], policy)
    finder: RowFinder = kept[name]
    return finder


def join_found(batch: pa.Table, finder: RowFinder, table: TargetTable, rows: LookupRows) -> pa.Table:
    """The rows beside the rows that the finder finds, in their order.

    Raises TableError: the table cannot be read.
    """
    names = [column for column, _ in rows.key]
    sources = [source for _, source in rows.key]
    keys = batch.select(sources).rename_columns(names).cast(table.arrow_schema(names))
    found = finder.find(keys)
    numbers, places = pair_rows(keys, found.select(names), outer=rows.outer)
    result = batch.drop_columns(sources).take(numbers)
    for name, column in rows.picked:
        result = result.append_column(name, found[column].take(places))
    if rows.any_row is not None:
        is_asked = any(column.null_count for column in keys.columns)
        answer = is_asked and finder.has_rows()
        result = result.append_column(rows.any_row, pa.array([answer] * result.num_rows, pa.bool_()))
    return result.combine_chunks()


def pair_rows(keys: pa.Table, found: pa.Table, *, outer: bool) -> tuple[Any, Any]:
    """The places of rows, in their order, and of the row with the same key among those found, NULL where none has it.

    Rows without such a key are left out unless `outer`.
    """
    left, right = number_keys(keys, "number"), number_keys(found, "place")
    columns = left.column_names[:-1]
    pairs = left.join(right, columns, join_type="left outer" if outer else "inner", use_threads=False)
    pairs = pairs.sort_by("number").combine_chunks()
    return pairs["number"], pairs["place"]
