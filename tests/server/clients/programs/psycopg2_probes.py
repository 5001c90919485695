"""What psycopg2 does with the server that PGHOST and the other variables of libpq name."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg2
import psycopg2.extensions
import psycopg2.extras

from tests.server.clients.programs.reporting import listed, report, run_chosen

RUN = "SELECT line FROM penstock.run(%s)"


@contextmanager
def connect(**session: Any) -> Iterator[Any]:
    connection = psycopg2.connect("")
    connection.set_session(**session)
    yield connection
    connection.close()


def rows(connection: Any, text: str, values: Any = None) -> list[list[Any]]:
    with connection.cursor() as cursor:
        cursor.execute(text, values)
        return listed(cursor.fetchall())


def fault(connection: Any, text: str, values: Any = None) -> list[Any]:
    try:
        with connection.cursor() as cursor:
            cursor.execute(text, values)
    except psycopg2.Error as error:
        return [type(error).__name__, error.pgcode, error.diag.message_primary, error.diag.statement_position]
    return ["no error"]


def probe_cursors() -> None:
    with connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW STREAMS")
        report("columns", [[column.name, column.type_code] for column in cursor.description])
        report("rows", [cursor.statusmessage, cursor.rowcount, listed(cursor)])
        cursor.execute("CREATE STREAM a")
        report("no rows", [cursor.statusmessage, cursor.rowcount, cursor.description])
        cursor.execute("CREATE STREAM a AS SELECT STREAM * FROM clicks WHERE page = %s AND n %% 2 = %s", ["it's", 1])
        cursor.execute("SELECT 1; SELECT 2")
        report("a message of PostgreSQL", listed(cursor))
        cursor.execute("CREATE STREAM b; SHOW STREAMS")
        report("several statements", [cursor.statusmessage, listed(cursor)])
        cursor.execute("CREATE TABLE t WITH (connector = 'memory') AS SELECT 1")
        report("a warning", connection.notices)
        report("run", rows(connection, RUN, ["EXPLAIN PLAN x"]))
        report("an error", fault(connection, "  CREATE STREAM bad"))
        with connection.cursor(cursor_factory=psycopg2.extras.RealDictCursor) as dicts:
            dicts.execute("SHOW STREAMS")
            report("dicts", dicts.fetchone())


def probe_transactions() -> None:
    with connect() as connection:
        report("in a transaction", rows(connection, "SHOW STREAMS"))
        report("its state", connection.get_transaction_status() == psycopg2.extensions.TRANSACTION_STATUS_INTRANS)
        rows(connection, "SELECT 1 AS kept INTO TEMP own; SELECT * FROM own")
        report("its error", fault(connection, "CREATE STREAM bad"))
        report("after its error", fault(connection, "SHOW STREAMS"))
        connection.rollback()
        report("rolled back", rows(connection, "SELECT to_regclass('own')"))
        with connection.cursor() as cursor:
            cursor.execute("SAVEPOINT s")
            report("error behind a savepoint", fault(connection, "CREATE STREAM bad"))
            cursor.execute("ROLLBACK TO SAVEPOINT s")
        report("after the savepoint", rows(connection, "SHOW STREAMS"))
    with connect(readonly=True, isolation_level="SERIALIZABLE", deferrable=True) as connection:
        report("read-only", [rows(connection, "SHOW STREAMS"), rows(connection, RUN, ["CREATE STREAM a"])])


def probe_ways_to_read() -> None:
    with connect() as connection:
        with connection.cursor("named") as cursor:
            cursor.itersize = 1
            cursor.execute(RUN, ["EXPLAIN PLAN x"])
            report("cursor of the server", listed(cursor))
        with connection.cursor("held", withhold=True) as cursor:
            cursor.execute(RUN, ["EXPLAIN PLAN x"])
            connection.commit()
            report("cursor that outlives its transaction", listed(cursor.fetchmany(5)))
        report("cursor for SHOW", [fault_of_named(connection, text) for text in ("SHOW STREAMS", "SHOW timezone")])
        with connection.cursor() as cursor:
            text = io.StringIO()
            cursor.copy_expert("COPY (SELECT * FROM penstock.run('EXPLAIN PLAN x')) TO STDOUT", text)
            report("copy", text.getvalue())
            cursor.execute("CREATE TEMP TABLE own (a text)")
            cursor.copy_from(io.StringIO("SHOW STREAMS\n"), "own")
            report("copied", rows(connection, "SELECT * FROM own"))
            batch = [["CREATE STREAM a"], ["CREATE STREAM b"]]
            psycopg2.extras.execute_batch(cursor, "DROP STREAM a", [[], []])
            report(
                "values", psycopg2.extras.execute_values(cursor, "SELECT v FROM (VALUES %s) AS t (v)", [["é"]], fetch=1)
            )
            cursor.executemany(RUN, batch)
            report("many", cursor.statusmessage)
        report("batch of calls", fault(connection, "; ".join(["SELECT penstock.run('CREATE STREAM d')"] * 2))[:2])


def fault_of_named(connection: Any, text: str) -> Any:
    try:
        with connection.cursor("c") as cursor:
            cursor.execute(text)
    except psycopg2.Error as error:
        connection.rollback()
        return error.pgcode
    return None


def probe_cancel() -> None:
    with connect(autocommit=True) as connection:
        timer = threading.Timer(0.5, connection.cancel)
        timer.start()
        report("cancel", fault(connection, "PAUSE QUERY slow")[:2])
        timer.join()
        report("after it", rows(connection, "SHOW STREAMS"))


def statements() -> None:
    probe_cursors()
    probe_transactions()
    probe_ways_to_read()
    probe_cancel()


def looks() -> None:
    with connect(autocommit=True) as connection:
        names = ("server_version", "client_encoding", "TimeZone", "DateStyle", "is_superuser", "session_authorization")
        report("settings", [connection.get_parameter_status(name) for name in names])
        report("version", [connection.server_version, connection.encoding])
        psycopg2.extras.register_composite("alice.place", connection)
        psycopg2.extras.register_range("int8range", type("R", (psycopg2.extras.Range,), {}), connection)
        report("hstore", psycopg2.extras.HstoreAdapter.get_oids(connection))
        for text in ("SELECT * FROM alice.orders", "TABLE revenue", "SELECT int8range(1, 2)"):
            with connection.cursor() as cursor:
                cursor.execute(text)
                columns = [[str(part) for part in column] for column in cursor.description]
                columns += [[column.table_oid, column.table_column] for column in cursor.description]
                report(text, [columns, listed(cursor)])


if __name__ == "__main__":
    run_chosen(statements=statements, looks=looks)
