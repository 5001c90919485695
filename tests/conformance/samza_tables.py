"""The cases of Samza's remote tables, and scripts over tables of databases that run without Spark.

The model computes the rows of a query, and asks the database where the query looks rows up. The sink of the runtime
writes them. So a script, its options, its errors and its report are those of `penstock run`.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import sqlite3
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pytest
import sqlalchemy as sa

import penstock
from penstock import RunError
from penstock.codegen.connectors.database_calls import list_find_arguments
from penstock.codegen.program import RemoteView
from penstock.evaluator.evaluate import apply, evaluate
from penstock.evaluator.single_rows import project
from penstock.evaluator.typed_values import Row
from penstock.kit.databases.address import Address, connect_database, make_address
from penstock.kit.databases.duckdb import DuckdbOperations
from penstock.kit.databases.finder import FindPolicy, RowFinder
from penstock.kit.databases.mysql import MysqlOperations
from penstock.kit.databases.postgres_operations import PostgresOperations
from penstock.kit.databases.spark_types import arrow_type
from penstock.kit.databases.sqlite import SqliteOperations
from penstock.kit.databases.target_table import TargetTable
from penstock.kit.tables.table_lookup import LookupRows, join_found
from penstock.planner.plan import Node, RemoteLookup, Scan
from penstock.planner.plan.walk import list_nodes
from penstock.runtime.connectors.database_tables import DatabaseSink
from penstock.runtime.progress.table_reports import TableReport
from tests.databases.places import DDL, Place
from tests.model import plans

Case = dict[str, Any]
CASES: dict[str, Case] = {
    case["id"]: case
    for case in json.loads((Path(__file__).parent / "cases" / "samza_tables.json").read_text(encoding="utf-8"))["cases"]
}
DRIVEN: set[str] = set()
"""The cases that a test says it drives."""
SHOWN: set[str] = set()
"""The cases to which a test shows another answer."""

NUMBERS = itertools.count()
DECLARED = """
CREATE STREAM m (k BIGINT, v INT, s STRING) WITH (connector = 'files', path = 'm', format = 'json');
CREATE TABLE t (k BIGINT PRIMARY KEY, v INT, s STRING) WITH ({place}, table = 't'{options});
"""
"""The stream of messages, and the table that tests/databases/places.py makes."""
PUT = "INSERT INTO t SELECT STREAM k, v, s FROM m;"
UPDATE = "UPDATE t SET v = m.v FROM STREAM m WHERE t.k = m.k;"
UPDATE_OR_PUT = "UPDATE t SET v = m.v FROM STREAM m WHERE t.k = m.k ELSE INSERT (s) VALUES (m.s);"
DELETE = "DELETE FROM t USING STREAM m WHERE t.k = m.k;"
GET = "SELECT STREAM m.k, t.v FROM m JOIN t ON t.k = m.k;"
QUICK = ", retry_backoff = 1 MILLISECOND, retry_max_delay = 5 MILLISECONDS"


def drives(*ids: str) -> Callable[[Any], Any]:
    """Marks a test that drives these cases. SQL has one form of what Samza calls in several ways."""
    DRIVEN.update(ids)
    return lambda test: test


def differs(*ids: str) -> Callable[[Any], Any]:
    """Marks a test that shows the answer to these cases where it is meant to differ from Samza's."""
    SHOWN.update(ids)
    return lambda test: test


def expected(*ids: str, name: str) -> Any:
    """What all these cases expect under a name."""
    values = [CASES[each]["expect"][name] for each in ids]
    assert all(each == values[0] for each in values)
    return values[0]


def declare(place: Place, options: str = "") -> str:
    """The stream and the table."""
    where = "url" if "://" in place.url else "path"
    return DECLARED.format(place=f"connector = '{place.dialect}', {where} = '{place.url}'", options=options)


def message(k: int | None, v: int | None = 0, s: str | None = "s") -> Row:
    """A row of the stream `m`."""
    return {"k": k, "v": v, "s": s}


class Texts:
    """The files of a new checkpoint that a sink reads."""

    def __init__(self) -> None:
        self._metadata = json.dumps({"id": f"q{next(NUMBERS)}"})

    def read(self, path: str) -> str:
        """Their text."""
        return self._metadata if path.endswith("metadata") else path


@dataclasses.dataclass
class Batch:
    """A micro-batch as a sink takes it."""

    rows: pa.Table
    sparkSession: None = None

    def toArrow(self) -> pa.Table:
        """Its rows."""
        return self.rows


class Query:
    """The last statement of a script."""

    def __init__(self, script: str) -> None:
        compilation = penstock.compile(script)
        self.root = compilation.queries[-1].root
        self._query = compilation.program.queries[-1]
        nodes = [node for node in list_nodes(self.root) if isinstance(node, RemoteLookup)]
        views = [view for view in self._query.views if isinstance(view, RemoteView)]
        self.lookups = {node: Lookup(node, view) for node, view in zip(nodes, views, strict=True)}
        self._sink: DatabaseSink | None = None
        self._number = 0

    def open(self) -> Query:
        """The query, once its table is compared with the declaration. The first micro-batch opens the ledger."""
        files: Any = Texts()
        self._sink = DatabaseSink(self._query)
        self._sink.check(files, None, 0)
        self._sink.open(files, "checkpoint")
        return self

    @property
    def sink(self) -> DatabaseSink:
        """The sink, once it is open."""
        assert self._sink is not None
        return self._sink

    @property
    def report(self) -> TableReport:
        """What it has done to the table."""
        return self.sink.report

    def rows(self, *messages: Row) -> list[Row]:
        """The rows that it sends for these of the stream."""
        return self._evaluate(self.root, {"m": list(messages)})

    def write(self, *messages: Row) -> None:
        """Writes a micro-batch."""
        self.send(self.rows(*messages))

    def send(self, rows: list[Row]) -> None:
        """Writes a micro-batch of rows of the query, in this order."""
        change = self._query.change
        assert change is not None
        fields = [(name, arrow_type(type_)) for name, type_ in self._query.output.columns]
        if change.operation is not None:
            fields.append((change.operation, pa.string()))
        table = pa.Table.from_pylist(rows, schema=pa.schema(fields))
        if change.order is not None:
            table = table.append_column(change.order, pa.array(range(len(rows)), pa.int64()))
        batch: Any = Batch(table)
        number, self._number = self._number, self._number + 1
        self.sink.write(batch, number)

    def refuse(self, *messages: Row) -> str:
        """The code by which the runtime refuses a micro-batch."""
        with pytest.raises(RunError) as refused:
            self.write(*messages)
        [found] = refused.value.diagnostics
        return found.code

    def _evaluate(self, node: Node, tables: dict[str, list[Row]]) -> list[Row]:
        if isinstance(node, Scan):
            return evaluate(node, tables)
        below = [self._evaluate(each, tables) for each in node.inputs]
        return self.lookups[node].join(*below) if isinstance(node, RemoteLookup) else apply(node, below)


class Lookup:
    """A lookup of a query, as a worker of Spark runs it."""

    def __init__(self, node: RemoteLookup, view: RemoteView) -> None:
        given = list_find_arguments(view)
        self._node, self._rows = node, LookupRows(**given.rows)
        self._table = TargetTable(make_address(given.address), **given.table)
        self.finder = RowFinder(self._table, [column for _, column in view.picked], FindPolicy(**given.policy))

    @property
    def counters(self) -> Any:
        """What it has asked for."""
        return self.finder._reader.counters

    def join(self, rows: list[Row]) -> list[Row]:
        """The rows beside those of the table."""
        node = self._node
        own = [(f"c{place}", plans.column(each.name), each.type) for place, each in enumerate(node.input.schema)]
        types = {each.name: each.type for each in node.origin.columns}
        keys = [(f"k{place}", each.value, types[each.column]) for place, each in enumerate(node.keys)]
        asked = plans.project(node.input, [*own, *keys])
        schema = pa.schema([(each.name, arrow_type(str(each.type))) for each in asked.schema])
        batch = pa.Table.from_pylist(project(asked, rows), schema=schema)
        found = join_found(batch, self.finder, self._table, self._rows).to_pylist()
        return [dict(zip((each.name for each in node.schema), row.values(), strict=True)) for row in found]


class Outage:
    """Connections to a database of which the first ones fail. The errors are those of the database itself.

    PostgreSQL and MySQL end the connection. The file of SQLite or DuckDB is held by another one.
    """

    def __init__(self, place: Place, failing: float, held: ExitStack) -> None:
        self.calls = 0
        self._place, self._failing, self._held = place, failing, held

    def connect(self, address: Address, create: bool, *, read_only: bool = False) -> sa.Connection:
        """As `connect_database`."""
        self.calls += 1
        if self._place.dialect == "postgres":
            connection = connect_database(address, create, read_only=read_only)
            if self.calls <= self._failing:
                driver: Any = connection.connection.driver_connection
                self._place.execute(f"SELECT pg_terminate_backend({driver.info.backend_pid})")
            return connection
        if self._place.dialect == "mysql":
            connection = connect_database(address, create, read_only=read_only)
            if self.calls <= self._failing:
                driver = connection.connection.driver_connection
                self._place.execute(f"KILL {driver.thread_id()}")
            return connection
        if self.calls == 1 and self._failing:
            self._hold(read_only)
        if self.calls == self._failing + 1:
            self._held.close()
        # Others are not waited for.
        return connect_database(dataclasses.replace(address, connect_timeout=0), create, read_only=read_only)

    def _hold(self, read_only: bool) -> None:
        if self._place.dialect == "sqlite":
            other: Any = sqlite3.connect(self._place.url, isolation_level=None)
            other.execute("BEGIN EXCLUSIVE")
        else:
            # In one process, DuckDB refuses to open a file in two ways.
            other = duckdb.connect(self._place.url, read_only=not read_only)
        self._held.enter_context(closing(other))


def open_query(place: Place, statement: str, options: str = "", ddl: str = DDL, keys: int = 0) -> Query:
    """A statement over a new table with rows of the keys from 0."""
    rows = [f"INSERT INTO t (k, v, s) VALUES ({key}, 0, 'old')" for key in range(keys)]
    place.execute(ddl, *rows)
    return Query(declare(place, options) + statement).open()


def count_statements(monkeypatch: pytest.MonkeyPatch, place: Place, method: str) -> list[int]:
    """The numbers of rows of the statements of a kind, from now on: `upsert`, `insert`, `update` or `delete`."""
    classes: dict[str, Any] = {
        "postgres": PostgresOperations,
        "mysql": MysqlOperations,
        "sqlite": SqliteOperations,
        "duckdb": DuckdbOperations,
    }
    sizes: list[int] = []
    plain = getattr(classes[place.dialect], method)

    def count(operations: Any, rows: pa.Table) -> Any:
        sizes.append(rows.num_rows)
        return plain(operations, rows)

    monkeypatch.setattr(classes[place.dialect], method, count)
    return sizes


def count_connections(place: Place, role: str) -> int:
    """The connections to PostgreSQL that a user has."""
    with psycopg.connect(place.url) as connection:
        [count] = (
            connection.execute("SELECT count(*) FROM pg_stat_activity WHERE usename = %s", [role]).fetchone() or []
        )
        return int(count)
