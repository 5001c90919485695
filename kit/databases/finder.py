"""Rows of a table for the keys of a stream, asked for in Python workers of Spark."""

import time
from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from penstock.kit.databases.attempts import TableConnection
from penstock.kit.databases.faults import FAULT_HINTS, TableError
from penstock.kit.databases.operations import FEW_KEYS
from penstock.kit.databases.reads import ColumnCondition, find_rows, has_rows
from penstock.kit.databases.spark_types import number_keys
from penstock.kit.databases.target_table import TargetTable, check_columns, check_key, create_table

_SENT_TOGETHER = 100
"""Statements with few keys. The next one does not wait for the answer of the one before."""


@dataclass(frozen=True, slots=True)
class FindPolicy:
    """How rows are asked for.

    batch_size: keys of one statement. attempts, backoff_ms, max_delay_ms: as in WritePolicy. cache_ttl_ms: for how long
    an answer is taken again, None for never. cache_size: how many keys are kept.
    """

    batch_size: int = 10_000
    attempts: int = 10
    backoff_ms: int = 200
    max_delay_ms: int = 30_000
    cache_ttl_ms: int | None = None
    cache_size: int = 10_000


@dataclass(slots=True)
class FindCounters:
    """Keys that rows have, each once in a call. The table has the `hits`, and lacks the `misses`.

    cache_hits: keys that the cache answered. batches: statements that were answered. seconds_retrying: from the first
    failure of a transaction to its end. batch_seconds: durations of the newest statements that were answered.
    Statements that were sent together share their time.
    """

    gets: int = 0
    hits: int = 0
    misses: int = 0
    cache_hits: int = 0
    batches: int = 0
    retries: int = 0
    failures: int = 0
    seconds_retrying: float = 0.0
    batch_seconds: deque[float] = field(default_factory=lambda: deque(maxlen=1000))

    def take(self) -> dict[str, Any]:
        """The figures by name. From now on all are zero again."""
        empty = FindCounters()
        taken = {each.name: getattr(self, each.name) for each in fields(self)}
        for each in fields(self):
            setattr(self, each.name, getattr(empty, each.name))
        return taken | {"batch_seconds": list(taken["batch_seconds"])}


class TableReader:
    """Reads a table. To be used by one thread at a time."""

    def __init__(self, table: TargetTable, policy: FindPolicy) -> None:
        self.counters = FindCounters()
        self._table, self._policy = table, policy
        self._connection = TableConnection(table, policy, self.counters, read_only=True)

    def check(self) -> None:
        """Compares the declaration with the table, which is made if it is missing and `create` says so.

        Raises TableError.
        """
        table = self._table
        names = table.arrow_schema().names

        def look(connection: sa.Connection) -> None:
            found = table.address.engine.inspect(connection, table)
            if found is None and table.create:
                create_table(connection, table)
                found = table.address.engine.inspect(connection, table)
            if found is None:
                raise TableError("missing_table", f"there is no {table.place}", FAULT_HINTS["missing_table"])
            check_columns(found, table)
            if table.key:
                check_key(found, table)
                # Whether the user may read it.
                find_rows(connection, table, names, [table.arrow_schema(table.key).empty_table()])

        connection = TableConnection(table, self._policy, self.counters, read_only=not table.create)
        try:
            connection.run(look)
        finally:
            connection.close()

    def select(self, names: Sequence[str], conditions: Sequence[ColumnCondition] = ()) -> pa.Table:
        """These columns of all rows for which the conditions hold.

        Raises TableError.
        """
        table = self._table
        select = table.address.engine.select_rows
        return self._connection.run(lambda connection: select(connection, table, names, conditions))

    def find(self, names: Sequence[str], keys: pa.Table) -> pa.Table:
        """These columns of the rows of some distinct keys, in any order.

        Raises TableError.
        """
        absent = pa.repeat(False, keys.num_rows)
        for unfit, _ in self._table.address.engine.find_unfit(self._table.key, keys):
            absent = pc.or_(absent, pc.fill_null(unfit, False))
        keys = keys.filter(pc.invert(absent))
        if keys.num_rows == 0:
            return self._table.arrow_schema(names).empty_table()
        return keep_asked(self._find_or_split(names, keys), keys.select(self._table.key))

    def has_rows(self) -> bool:
        """Whether the table has any row.

        Raises TableError.
        """
        return self._connection.run(lambda connection: has_rows(connection, self._table))

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    def _find_or_split(self, names: Sequence[str], keys: pa.Table) -> pa.Table:
        """The rows of some keys, at least one. What the database refuses as a key is not there."""
        try:
            return self._connection.run(lambda connection: self._find_in_batches(connection, names, keys))
        except TableError as error:
            if error.kind != "rejected":
                raise
            if keys.num_rows == 1:
                return self._table.arrow_schema(names).empty_table()
        half = keys.num_rows // 2
        parts = [self._find_or_split(names, each) for each in (keys.slice(0, half), keys.slice(half))]
        return pa.concat_tables(parts)

    def _find_in_batches(self, connection: sa.Connection, names: Sequence[str], keys: pa.Table) -> pa.Table:
        size = self._policy.batch_size
        batches = [keys.slice(begin, size) for begin in range(0, keys.num_rows, size)]
        step, parts = 1 if size > FEW_KEYS else _SENT_TOGETHER, []
        for begin in range(0, len(batches), step):
            sent, began = batches[begin : begin + step], time.monotonic()
            parts.append(find_rows(connection, self._table, names, sent))
            self.counters.batches += len(sent)
            self.counters.batch_seconds.extend([(time.monotonic() - began) / len(sent)] * len(sent))
        return pa.concat_tables(parts)


class RowCache:
    """Answers of a database for a time: the row of each key, or None where there is none. The oldest ones go first."""

    def __init__(self, size: int, seconds: float) -> None:
        self._size, self._seconds = size, seconds
        self._answers: OrderedDict[tuple[Any, ...], tuple[float, tuple[Any, ...] | None]] = OrderedDict()

    def get(self, key: tuple[Any, ...]) -> tuple[tuple[Any, ...] | None, bool]:
        """The answer for a key, and whether there is one."""
        until, row = self._answers.get(key, (0.0, None))
        if until <= time.monotonic():
            return None, False
        self._answers.move_to_end(key)
        return row, True

    def put(self, key: tuple[Any, ...], row: tuple[Any, ...] | None) -> None:
        """Keeps an answer."""
        self._answers[key] = time.monotonic() + self._seconds, row
        self._answers.move_to_end(key)
        if len(self._answers) > self._size:
            self._answers.popitem(last=False)


class RowFinder:
    """Finds rows by their keys for one worker, and keeps the connection and the cache from batch to batch."""

    def __init__(self, table: TargetTable, columns: Sequence[str], policy: FindPolicy) -> None:
        self._key = list(table.key)
        self._names = [*self._key, *(each for each in dict.fromkeys(columns) if each not in self._key)]
        self._schema = table.arrow_schema(self._names)
        self._reader = TableReader(table, policy)
        self.counters = self._reader.counters
        self._cache = None if policy.cache_ttl_ms is None else RowCache(policy.cache_size, policy.cache_ttl_ms / 1000)

    def find(self, keys: pa.Table) -> pa.Table:
        """The rows of the keys that are there: the key, and the columns. Keys may be repeated and NULL.

        Raises TableError: the table cannot be read.
        """
        keys = keys.take(find_first(keys.select(self._key))).drop_null()
        found = self._find(keys) if self._cache is None else self._find_cached(keys, self._cache)
        self.counters.gets += keys.num_rows
        self.counters.hits += found.num_rows
        self.counters.misses += keys.num_rows - found.num_rows
        return found

    def has_rows(self) -> bool:
        """Whether the table has any row. No cache answers that.

        Raises TableError.
        """
        return self._reader.has_rows()

    def _find(self, keys: pa.Table) -> pa.Table:
        return self._reader.find(self._names, keys)

    def _find_cached(self, keys: pa.Table, cache: RowCache) -> pa.Table:
        asked = list_tuples(keys)
        answers = [cache.get(key) for key in asked]
        is_new = [not known for _, known in answers]
        self.counters.cache_hits += len(asked) - sum(is_new)
        found = self._find(keys.filter(pa.array(is_new, pa.bool_())))
        rows = {row[: len(self._key)]: row for row in list_tuples(found)}
        for key, new in zip(asked, is_new, strict=True):
            if new:
                cache.put(key, rows.get(key))
        kept = [row for row, _ in answers if row is not None]
        arrays = [pa.array([row[place] for row in kept], field.type) for place, field in enumerate(self._schema)]
        return pa.concat_tables([found, pa.Table.from_arrays(arrays, schema=self._schema)])


def find_first(keys: pa.Table) -> pa.Array:
    """The place of the first row of each key, in order."""
    numbered = number_keys(keys, "place")
    first = numbered.group_by(numbered.column_names[:-1], use_threads=False).aggregate([("place", "min")])
    return first["place_min"].combine_chunks().sort()


def keep_asked(found: pa.Table, keys: pa.Table) -> pa.Table:
    """The rows that have one of the keys, each once. A collation takes texts to be equal that differ for Spark."""
    if not any(pa.types.is_string(each.type) for each in keys.columns):
        return found
    found = found.take(find_first(found.select(keys.column_names)))
    places, asked = number_keys(found.select(keys.column_names), "place"), number_keys(keys, "number")
    kept = places.join(asked, places.column_names[:-1], join_type="left semi", use_threads=False)
    return found.take(kept["place"].combine_chunks().sort())


def list_tuples(rows: pa.Table) -> list[tuple[Any, ...]]:
    """Rows as tuples."""
    return list(zip(*(column.to_pylist() for column in rows.columns), strict=True))
