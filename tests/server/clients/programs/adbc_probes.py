"""What ADBC's driver of PostgreSQL does with the server whose URL is the second argument."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import adbc_driver_postgresql
import pandas as pd
import pyarrow as pa
from adbc_driver_postgresql import dbapi

from tests.server.clients.programs.reporting import report, run_chosen

RUN = "SELECT line FROM penstock.run($1)"
USE_COPY = adbc_driver_postgresql.StatementOptions.USE_COPY.value


def connect(**options: Any) -> Any:
    return dbapi.connect(sys.argv[2], **options)


def table(connection: Any, text: str, values: Any = None, use_copy: bool = True) -> list[list[Any]]:
    """The rows of a statement, by way of Arrow."""
    with connection.cursor() as cursor:
        cursor.adbc_statement.set_options(**{USE_COPY: "true" if use_copy else "false"})
        cursor.execute(text, values)
        found = cursor.fetch_arrow_table()
        return [list(row.values()) for row in found.to_pylist()]


def fault(run: Callable[[], object]) -> list[Any]:
    try:
        run()
    except dbapi.Error as error:
        return [type(error).__name__, error.sqlstate]
    return ["no error"]


def probe(kind: str, **options: Any) -> None:
    with connect(**options) as connection:
        for use_copy in (True, False):
            way = f"{kind}, {'COPY' if use_copy else 'rows'}"
            run = "SELECT line FROM penstock.run('EXPLAIN PLAN x')"
            report(f"{way}: run", table(connection, run, use_copy=use_copy))
            report(f"{way}: run with a parameter", table(connection, RUN, ["EXPLAIN PLAN x"], use_copy))
        report(f"{kind}: rows", table(connection, "SHOW STREAMS", use_copy=False))
        report(f"{kind}: plan", table(connection, "EXPLAIN PLAN SELECT 1", use_copy=False))
        for text in ("SHOW STREAMS", "SHOW timezone"):
            report(f"{kind}: COPY of {text}", fault(partial(table, connection, text)))
            connection.rollback() if not options else None
        with connection.cursor() as cursor:
            cursor.execute("CREATE STREAM a")
            report(f"{kind}: no rows", [cursor.rowcount, cursor.description])
            cursor.executemany(RUN, [["CREATE STREAM b"], ["CREATE STREAM c"]])
            report(f"{kind}: parameters", fault(lambda: cursor.execute("CREATE STREAM a AS SELECT STREAM $1", ["x"])))
        connection.rollback() if not options else None
        report(f"{kind}: error", fault(lambda: table(connection, "CREATE STREAM bad")))


def statements() -> None:
    probe("transaction")
    probe("autocommit", autocommit=True)
    with connect() as connection:
        with connection.cursor() as cursor:
            cursor.execute("CREATE TEMP TABLE own (a int)")
            report("error in a transaction", fault(lambda: cursor.execute("CREATE STREAM bad")))
            report(
                "behind it", [fault(partial(cursor.execute, text)) for text in ("CREATE STREAM d", "DROP TABLE own")]
            )
            connection.rollback()
            report("rolled back", table(connection, "SELECT to_regclass('own')::text"))
        report(
            "pandas, run", pd.read_sql("SELECT line FROM penstock.run('EXPLAIN PLAN x')", connection)["line"].tolist()
        )
    with connect(autocommit=True) as connection, connection.cursor() as cursor:
        timer = threading.Timer(0.5, cursor.adbc_cancel)
        timer.start()
        report("cancel", fault(lambda: cursor.execute("PAUSE QUERY slow")))
        timer.join()
        report("after it", table(connection, "SHOW STREAMS", use_copy=False))


def looks() -> None:
    with connect() as connection:
        report("info", connection.adbc_get_info())
        report("kinds of tables", connection.adbc_get_table_types())
        for depth in ("catalogs", "db_schemas", "tables", "all"):
            found = connection.adbc_get_objects(depth=depth, db_schema_filter="alice" if depth == "all" else None)
            report(f"objects: {depth}", found.read_all().to_pylist())
        report("schema", str(connection.adbc_get_table_schema("orders", db_schema_filter="alice")))
        columns = "id, product, price, at, tags, note, discount"
        for text in (
            f"SELECT {columns} FROM alice.orders",
            "TABLE revenue",
            "SELECT now() - now() AS nothing, 1.5::float4",
        ):
            with connection.cursor() as cursor:
                cursor.execute(text)
                found = cursor.fetch_arrow_table()
                report(text, [str(found.schema), found.to_pylist()])
        rows = pa.table({"id": [1, 2], "name": ["é", None], "at": pa.array([0, 1], pa.timestamp("us", "UTC"))})
        with connection.cursor() as cursor:
            for mode in ("create", "append", "replace"):
                report(f"ingest: {mode}", cursor.adbc_ingest("own", rows, mode, temporary=True))
        report("ingested", table(connection, "SELECT * FROM own"))
        report("numbers", pd.read_sql("SELECT 2.5::float8 AS n", connection)["n"].tolist())


if __name__ == "__main__":
    run_chosen(statements=statements, looks=looks)
