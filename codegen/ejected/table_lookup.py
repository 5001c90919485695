"""Rows of a stream -> the same rows beside the rows of a table that their keys refer to, in Spark's Python workers."""

import hashlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from penstock.codegen.ejected.databases.address import KnownSecret, complete_address
from penstock.codegen.ejected.databases.finder import FindPolicy, RowFinder, TableReader
from penstock.codegen.ejected.databases.table import TargetTable


@dataclass(frozen=True)
class LookupRows:
    """What is looked up for each row. The fields are described in `RemoteView` of Penstock's codegen."""

    key: Sequence[tuple[str, str]]
    picked: Sequence[tuple[str, str]]
    outer: bool
    any_row: str | None = None


def remote_view(
    spark: SparkSession, source: str, table: TargetTable, policy: FindPolicy, rows: LookupRows, schema: str
) -> DataFrame:
    """The rows of the view beside those of the table. The password is read here, and known to the workers alone.

    Workers may have another folder and other variables in their environment, so the address is completed here, too.

    Raises:
        TableError: the table is not as it is declared, or cannot be reached, or the password is not there.
    """
    TableReader(table, policy).check()
    table = replace(table, address=complete_address(table.address))
    secret = None if table.address.password is None else table.address.password.read()
    plain = replace(table, address=replace(table.address, password=None))
    facts = repr((plain, policy, rows)) + (secret or "")
    name = hashlib.sha256(facts.encode()).hexdigest()
    known = None if secret is None else KnownSecret(secret)
    asked = replace(table, address=replace(table.address, password=known))

    def look_up(batches: Iterator[Any]) -> Iterator[Any]:
        finder = share_finder(name, asked, policy, rows)
        for batch in batches:
            yield from join_found(pa.Table.from_batches([batch]), finder, asked, rows).to_batches()

    return spark.table(source).mapInArrow(look_up, spark.sql(schema).schema)


def share_finder(name: str, table: TargetTable, policy: FindPolicy, rows: LookupRows) -> RowFinder:
    """The finder of that name in this process. Spark makes this module anew for each task, so it is kept elsewhere."""
    kept: dict[str, Any] = sys.modules.setdefault("penstock_finders", ModuleType("penstock_finders")).__dict__
    if name not in kept:
        kept[name] = RowFinder(table, [column for _, column in rows.picked], policy)
    finder: RowFinder = kept[name]
    return finder


def join_found(batch: pa.Table, finder: RowFinder, table: TargetTable, rows: LookupRows) -> pa.Table:
    """The rows beside those that the finder finds, in their order.

    Raises:
        LookupError: as `RowFinder.find`.
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
    columns = [f"k{place}" for place in range(keys.num_columns)]
    left, right = number_keys(keys, columns, "number"), number_keys(found, columns, "place")
    pairs = left.join(right, columns, join_type="left outer" if outer else "inner", use_threads=False)
    pairs = pairs.sort_by("number").combine_chunks()
    return pairs["number"], pairs["place"]


def number_keys(keys: pa.Table, columns: Sequence[str], number: str) -> pa.Table:
    """The keys under other names, and a column with their places. Zero has one sign."""
    arrays = [pc.add(each, 0.0) if pa.types.is_floating(each.type) else each for each in keys.columns]
    return pa.table([*arrays, pa.array(range(keys.num_rows), pa.int64())], names=[*columns, number])
