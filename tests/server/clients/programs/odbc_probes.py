"""What psqlODBC does by way of pyodbc, with the options of the driver that are the second argument."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

import pyodbc

from tests.server.clients.programs.reporting import listed, report, run_chosen

RUN = "SELECT line FROM penstock.run(?)"


def connect(**options: Any) -> Any:
    names = {"Server": "PGHOST", "Port": "PGPORT", "UID": "PGUSER", "PWD": "PGPASSWORD", "Database": "PGDATABASE"}
    parts = [f"{name}={os.environ[variable]}" for name, variable in names.items()]
    text = ";".join([f"Driver={os.environ['ODBC_DRIVER']}", *parts, f"SSLmode={os.environ['PGSSLMODE']}", sys.argv[2]])
    return pyodbc.connect(text, **options)


def rows(connection: Any, text: str, *values: Any) -> list[list[Any]] | None:
    cursor = connection.execute(text, *values)
    return listed(cursor.fetchall()) if cursor.description else None


def fault(connection: Any, text: str, *values: Any) -> list[str]:
    try:
        connection.execute(text, *values)
    except pyodbc.Error as error:
        return [error.args[0], error.args[1].partition(";")[0].split("ERROR: ")[-1]]
    return ["no error"]


def probe(connection: Any, kind: str) -> None:
    """What has to work in each way of running statements."""
    report(f"{kind}: rows", rows(connection, "SHOW STREAMS"))
    cursor = connection.execute("SHOW STREAMS")
    report(f"{kind}: columns", [[column[0], column[1].__name__] for column in cursor.description])
    cursor.close()
    report(f"{kind}: no rows", rows(connection, "CREATE STREAM a"))
    report(f"{kind}: plan", rows(connection, "EXPLAIN PLAN SELECT 1"))
    report(f"{kind}: run", rows(connection, "SELECT line FROM penstock.run('EXPLAIN PLAN x')"))
    report(f"{kind}: run with a parameter", [rows(connection, RUN, "EXPLAIN PLAN x") for _ in range(7)][-1])
    report(f"{kind}: error", fault(connection, "CREATE STREAM bad"))
    report(f"{kind}: after an error", rows(connection, "SELECT product FROM revenue WHERE product = ?", "Äpfel"))
    several = connection.execute("CREATE STREAM b; SHOW STREAMS")
    report(f"{kind}: several", [several.description is None, several.nextset(), listed(several.fetchall())])
    several.close()
    many = connection.cursor()
    many.executemany(RUN, [["CREATE STREAM c"], ["CREATE STREAM d"]])
    many.close()
    report(f"{kind}: after many", rows(connection, "SHOW STREAMS"))


def statements() -> None:
    committing = connect(autocommit=True)
    probe(committing, "autocommit")
    report("parameter", fault(committing, "CREATE STREAM a AS SELECT STREAM 1 FROM clicks WHERE page = ?", "it's"))
    cursor = committing.cursor()
    timer = threading.Timer(0.5, cursor.cancel)
    timer.start()
    try:
        cursor.execute("PAUSE QUERY slow")
    except pyodbc.Error as error:
        report("cancel", error.args[0])
    timer.join()
    committing.close()
    manual = connect(autocommit=False)
    probe(manual, "transaction")
    rows(manual, "CREATE TEMP TABLE own (a int)")
    manual.rollback()
    report("rolled back", rows(manual, "SELECT to_regclass('own')"))
    manual.close()
    reading = connect(autocommit=False, readonly=True)
    report("read-only", [rows(reading, "SHOW STREAMS"), rows(reading, RUN, "CREATE STREAM a")])
    reading.close()


def looks() -> None:
    connection = connect(autocommit=True)
    cursor = connection.cursor()
    table = {"table": "orders", "schema": "alice"}
    report("tables", listed(cursor.tables()))
    report("views of alice", listed(cursor.tables(schema="alice", tableType="VIEW")))
    report("columns", listed(cursor.columns(**table)))
    report("all columns", listed(cursor.columns(schema="public")))
    report("primary keys", listed(cursor.primaryKeys(**table)))
    report("foreign keys", listed(cursor.foreignKeys(foreignTable="orders", foreignSchema="alice")))
    report("foreign keys to it", listed(cursor.foreignKeys(table="revenue", schema="public")))
    report("indexes", listed(cursor.statistics(**table)))
    report("unique indexes", listed(cursor.statistics(**table, unique=True)))
    report("row ids", listed(cursor.rowIdColumns(**table)))
    report("versions", listed(cursor.rowVerColumns(**table)))
    report("procedures", listed(cursor.procedures(schema="alice")))
    report("their columns", listed(cursor.procedureColumns(schema="alice")))
    report("types", listed(cursor.getTypeInfo()))
    for name in ("SQL_DBMS_NAME", "SQL_DBMS_VER", "SQL_DRIVER_VER", "SQL_USER_NAME", "SQL_IDENTIFIER_QUOTE_CHAR"):
        report(name, connection.getinfo(getattr(pyodbc, name)))
    for text in (
        "SELECT * FROM alice.orders",
        "SELECT * FROM revenue ORDER BY 1",
        "SELECT * FROM alice.large WHERE id = ?",
    ):
        found = cursor.execute(text, *([1] if "?" in text else []))
        report(text, [[str(part) for column in found.description for part in column], listed(found.fetchall())])
    connection.close()


if __name__ == "__main__":
    run_chosen(statements=statements, looks=looks)
