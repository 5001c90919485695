"""What is MySQL's own: its keys, types and modes, its implicit commits, its locks and lost connections."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pymysql
import pytest
import sqlalchemy as sa

from penstock.kit.databases.address import Address
from penstock.kit.databases.batch_changes import Changes
from penstock.kit.databases.engines import ENGINES
from penstock.kit.databases.faults import TableError
from penstock.kit.databases.finder import FindPolicy, RowFinder
from penstock.kit.databases.mysql import MysqlOperations
from penstock.kit.databases.row_values import limit_row
from penstock.kit.databases.secret_refs import SecretRef
from penstock.kit.databases.writer import TableWriter, WritePolicy
from tests.databases.places import COLUMNS, DDL, POLICY, Place, keys_of, rows_of

SECRET = "tr0ub4dor-canary"
ALL = "SELECT * FROM t ORDER BY k"
PATIENT = WritePolicy(attempts=20, backoff_ms=50, max_delay_ms=200)


def refusal(place: Place, *columns: tuple[str, str, bool]) -> TableError:
    with pytest.raises(TableError) as refused:
        TableWriter(place.table(columns or COLUMNS), "q", POLICY).check()
    return refused.value


def test_a_put_replaces_no_row_of_another_unique_key(mysql: Place) -> None:
    mysql.execute(
        "CREATE TABLE t (k BIGINT PRIMARY KEY, v INTEGER UNIQUE, s TEXT)", "INSERT INTO t VALUES (1, 10, 'a')"
    )
    writer = mysql.writer()
    writer.write(0, "d", lambda changes: changes.upsert(rows_of((1, 11, "b"), (2, 11, "c"), (3, 12, "d"))))
    assert mysql.rows(ALL) == [(1, 11, "b"), (3, 12, "d")]
    [(reason, record)] = mysql.rejected()
    assert "Duplicate entry '11' for key" in reason
    assert record == '{"k": 2, "v": 11, "s": "c"}'


def test_a_table_without_transactions_is_refused(mysql: Place) -> None:
    mysql.execute(f"{DDL} ENGINE = MyISAM")
    refused = refusal(mysql)
    assert refused.kind == "types"
    assert "is kept by MyISAM, which has no transactions" in str(refused)
    assert refused.hint == 'ALTER TABLE "t" ENGINE = InnoDB'


@pytest.mark.parametrize("collation", ["utf8mb4_general_ci", "utf8mb4_bin", "utf8mb4_unicode_nopad_ci"])
def test_a_key_whose_collation_folds_texts_is_refused(mysql: Place, collation: str) -> None:
    """Also by blanks at the end, as most do."""
    mysql.execute(f"CREATE TABLE t (k VARCHAR(9) COLLATE {collation} PRIMARY KEY, v INTEGER)")
    refused = refusal(mysql, ("k", "STRING", False), ("v", "INT", True))
    assert (refused.kind, "by its collation" in str(refused)) == ("key", True)


@pytest.mark.parametrize(
    ("declared", "column"),
    [
        ("TIMESTAMP", "TIMESTAMP(6) NULL"),
        ("TIMESTAMP", "DATETIME(3)"),
        ("TIMESTAMP", "DATETIME"),
        ("TIME", "TIME"),
        ("FLOAT", "FLOAT"),
        ("DOUBLE", "FLOAT"),
        ("BIGINT", "INT"),
        ("INT", "INT UNSIGNED"),
        ("INT", "MEDIUMINT"),
        ("STRING", "VARCHAR(9) CHARACTER SET latin1"),
        ("STRING", "CHAR(9)"),
        ("STRING", "VARBINARY(9)"),
        ("BINARY", "VARCHAR(9)"),
        ("BINARY", "BINARY(9)"),
        ("DECIMAL(10, 2)", "DECIMAL(9, 2)"),
        ("DECIMAL(10, 2)", "DECIMAL(10, 1)"),
    ],
)
def test_a_column_has_another_type(mysql: Place, declared: str, column: str) -> None:
    mysql.execute(f"CREATE TABLE t (k BIGINT PRIMARY KEY, v {column})")
    refused = refusal(mysql, ("k", "BIGINT", False), ("v", declared, True))
    assert refused.kind == "types"
    assert f"does not hold all values of {declared}" in str(refused)


def test_a_column_that_numbers_rows_or_is_computed(mysql: Place) -> None:
    mysql.execute(
        "CREATE TABLE t (k BIGINT UNIQUE, n BIGINT AUTO_INCREMENT PRIMARY KEY, v INTEGER AS (k + 1) STORED, "
        "s VARCHAR(5) NOT NULL DEFAULT 'a')"
    )
    table = mysql.table([("k", "BIGINT", True)])
    mysql.writer(table).write(0, "d", lambda changes: changes.upsert(keys_of(7)))
    assert mysql.rows("SELECT k, v, s FROM t") == [(7, 8, "a")]
    assert "is computed by the database" in str(refusal(mysql, ("k", "BIGINT", True), ("v", "INT", True)))


def test_what_the_server_prefers_does_not_matter(mysql: Place) -> None:
    """Values that do not fit are refused, names are quoted, and times are in UTC."""
    before = mysql.rows("SELECT @@GLOBAL.sql_mode, @@GLOBAL.time_zone")[0]
    mysql.execute("SET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES'", "SET GLOBAL time_zone = '+05:00'")
    try:
        mysql.execute('CREATE TABLE t (k BIGINT PRIMARY KEY, "to" VARCHAR(3), at DATETIME(6))')
        columns = (("k", "BIGINT", False), ("to", "STRING", True), ("at", "TIMESTAMP", True))
        rows = pa.table(
            {"k": [1, 2], "to": ["\\'", "four"], "at": pa.array([0, 1], pa.int64()).cast(pa.timestamp("us", "UTC"))}
        )
        writer = mysql.writer(mysql.table(columns))
        writer.write(0, "d", lambda changes: changes.upsert(rows))
        writer.close()
    finally:
        mysql.execute(f"SET GLOBAL sql_mode = '{before[0]}'", f"SET GLOBAL time_zone = '{before[1]}'")
    assert mysql.rows('SELECT k, "to", CAST(at AS CHAR) FROM t') == [(1, "\\'", "1970-01-01 00:00:00.000000")]
    assert "Data too long" in mysql.rejected()[0][0]


def test_making_the_table_of_rejected_rows_commits_nothing(mysql: Place) -> None:
    """CREATE TABLE ends a transaction of MySQL. It is run in another one."""
    mysql.execute(DDL)
    tries: list[int] = []

    def work(changes: Changes) -> None:
        changes.upsert(rows_of((1, 1, "a")))
        changes.reject([("no reason", "{}")])
        changes.write_rejected("q_rejected", 0)
        tries.append(len(mysql.rows(ALL)))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        mysql.writer().write(0, "d", work)
    assert tries == [0]
    assert mysql.rows(ALL) == []
    assert mysql.rejected() == []


def test_a_row_that_is_larger_than_a_packet(mysql: Place) -> None:
    mysql.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v INTEGER, s LONGTEXT)")
    writer = mysql.writer()
    writer.write(0, "d", lambda changes: changes.upsert(rows_of((1, 1, "x" * 9_000_000), (2, 2, "b"))))
    assert mysql.rows("SELECT k FROM t") == [(2,)]
    assert "larger than max_allowed_packet" in mysql.rejected()[0][0]


def test_all_texts_of_a_row_count() -> None:
    rows = pa.table({"k": [1, 2], "a": ["x" * 700, "y"], "b": ["x", None], "c": [b"", b"z" * 900]})
    assert limit_row(rows) == 700 + 1 + 900


def add_one(changes: Changes) -> None:
    before = changes.fetch(keys_of(1, 2), ["v"])
    changes.upsert(rows_of(*((row["k"], row["v"] + 1) for row in before.to_pylist()), names=["k", "v"]))


@pytest.fixture
def counters(mysql: Place) -> Place:
    mysql.execute(DDL, "INSERT INTO t VALUES (1, 0, 'a'), (2, 0, 'b')")
    return mysql


def test_a_connection_that_is_killed(counters: Place) -> None:
    texts: list[str] = []
    writer = counters.writer(policy=PATIENT, on_retry=texts.append)
    killed: list[int] = []

    def work(changes: Changes) -> None:
        add_one(changes)
        if not killed:
            asked = "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()"
            killed.extend(number for (number,) in counters.rows(asked))
            counters.execute(*(f"KILL {number}" for number in killed))

    writer.write(0, "d", work)
    assert counters.rows(ALL) == [(1, 1, "a"), (2, 1, "b")]
    assert len(texts) == 1


def hold(place: Place, statement: str, seconds: float) -> threading.Thread:
    """A transaction of another session that changes a row, and ends after a time."""
    other = place.connect()
    other.execute("START TRANSACTION")
    other.execute(statement)

    def end() -> None:
        time.sleep(seconds)
        other.execute("COMMIT")
        other.close()

    thread = threading.Thread(target=end)
    thread.start()
    return thread


def test_a_lock_is_waited_for(counters: Place) -> None:
    """Longer than a statement waits."""
    writer = counters.writer(policy=PATIENT)
    thread = hold(counters, "UPDATE t SET v = 10 WHERE k = 2", 7)
    writer.write(0, "d", add_one)
    thread.join()
    assert counters.rows(ALL) == [(1, 1, "a"), (2, 11, "b")]
    assert writer.counters.retries >= 1


def test_a_row_that_another_writer_adds_meanwhile(counters: Place) -> None:
    writer = counters.writer(policy=PATIENT)
    thread = hold(counters, "INSERT INTO t VALUES (3, 5, 'c')", 1)
    writer.write(0, "d", lambda changes: changes.upsert(rows_of((3, 6, "d"))))
    thread.join()
    assert counters.rows("SELECT * FROM t WHERE k = 3") == [(3, 6, "d")]
    assert (writer.counters.rejected, writer.counters.puts) == (0, 1)


@pytest.fixture
def guarded(mysql: Place) -> Iterator[Place]:
    """A user with a password, who may read alone."""
    mysql.execute(DDL, "INSERT INTO t VALUES (1, 1, 'a')")
    user = f"u{mysql.url.rpartition('/')[2]}"
    mysql.execute(f"CREATE USER {user} IDENTIFIED BY '{SECRET}'", f"GRANT SELECT ON t TO {user}")
    yield Place("mysql", mysql.url.replace("root@", f"{user}@"))
    mysql.execute(f"DROP USER {user}")


def with_secret(place: Place, secret: SecretRef) -> Any:
    table = place.table()
    return dataclasses.replace(table, address=dataclasses.replace(table.address, password=secret))


def test_passwords_and_privileges(guarded: Place, mysql: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RIGHT", SECRET)
    monkeypatch.setenv("WRONG", f"not {SECRET}")
    found = RowFinder(with_secret(guarded, SecretRef("ENV", "RIGHT")), ["s"], FindPolicy()).find(keys_of(1, 2))
    assert found.to_pylist() == [{"k": 1, "s": "a"}]
    user = guarded.url.partition("//")[2].partition("@")[0]
    for name, grant, kind, part in (
        ("WRONG", "", "password", "Access denied for user"),
        ("RIGHT", "", "permission", "INSERT command denied"),
        ("RIGHT", "GRANT INSERT, UPDATE ON t TO {}", "permission", "DELETE command denied"),
        ("RIGHT", "GRANT DELETE ON t TO {}", "permission", "Access denied for user"),  # for temporary tables
    ):
        if grant:
            mysql.execute(grant.format(user))
        writer = TableWriter(with_secret(guarded, SecretRef("ENV", name)), "q", POLICY)
        with pytest.raises(TableError, match=part) as refused:
            writer.check()
        assert (refused.value.kind, writer.counters.retries) == (kind, 0)
        assert SECRET not in str(refused.value)


def test_a_server_that_only_reads(guarded: Place, mysql: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RIGHT", SECRET)
    user, database = (guarded.url.replace("mysql://", "").replace("@", "/").split("/")[each] for each in (0, 2))
    mysql.execute(f"GRANT ALL ON {database}.* TO {user}", "SET GLOBAL read_only = ON")
    try:
        writer = TableWriter(with_secret(guarded, SecretRef("ENV", "RIGHT")), "q", POLICY)
        with pytest.raises(TableError, match="read-only") as refused:
            writer.open("id", "t")
        assert refused.value.kind == "permission"
        found = RowFinder(with_secret(guarded, SecretRef("ENV", "RIGHT")), ["s"], FindPolicy()).find(keys_of(1))
        assert found.num_rows == 1
    finally:
        mysql.execute("SET GLOBAL read_only = OFF")


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        (f"mysql://me:{SECRET}@h/db", "password"),
        (f"mysql://me@h/db?password={SECRET}", "password"),
        ("postgresql://me@h/db", "connect"),
        (SECRET, "connect"),
        ("mysql://me@h:port/db", "connect"),
    ],
)
def test_urls(url: str, kind: str) -> None:
    table = dataclasses.replace(Place("mysql", "").table(), address=Address("mysql", url))
    with pytest.raises(TableError) as refused:
        TableWriter(table, "q", POLICY).check()
    assert refused.value.kind == kind
    assert SECRET not in str(refused.value)


def test_a_database_and_a_server_that_are_not_there(mysql: Place) -> None:
    missing = Place("mysql", mysql.url + "_nowhere")
    assert refusal(missing).kind == "missing_database"
    away = dataclasses.replace(mysql.table(), address=Address("mysql", "mysql://me@127.0.0.1:1/db", connect_timeout=1))
    writer = TableWriter(away, "q", WritePolicy(attempts=2, backoff_ms=1))
    with pytest.raises(TableError, match="Can't connect") as refused:
        writer.check()
    assert (refused.value.kind, writer.counters.retries) == ("connect", 1)


NUMBERS = {
    (1205, pymysql.OperationalError): ("timeout", "retry", True),
    (1213, pymysql.OperationalError): ("conflict", "retry", False),
    (2006, pymysql.OperationalError): ("connect", "retry", False),
    (2013, pymysql.OperationalError): ("connect", "retry", False),
    (1114, pymysql.OperationalError): ("full", "retry", False),
    (1062, pymysql.IntegrityError): ("rejected", "refuse", False),
    (1406, pymysql.DataError): ("rejected", "refuse", False),
    (1644, pymysql.OperationalError): ("rejected", "refuse", False),
    (1290, pymysql.OperationalError): ("permission", "stop", False),
    (1045, pymysql.OperationalError): ("password", "stop", False),
    (1146, pymysql.ProgrammingError): ("missing_table", "stop", False),
    (1064, pymysql.ProgrammingError): ("other", "stop", False),
    (9999, pymysql.DataError): ("rejected", "refuse", False),
}


@pytest.mark.parametrize(("number", "error"), NUMBERS)
def test_numbers_of_errors(number: int, error: type[pymysql.Error]) -> None:
    plain = error(number, "it says so")
    for each in (plain, sa.exc.DBAPIError("SELECT 1", {}, plain)):
        fault = ENGINES["mysql"].find_fault(each)
        assert fault is not None
        assert (fault.kind, fault.action, fault.is_lock) == NUMBERS[number, error]
        assert fault.text == "it says so"


def test_a_disk_that_is_full() -> None:
    fault = ENGINES["mysql"].find_fault(
        pymysql.OperationalError(1030, 'Got error 28 "No space left on device" from InnoDB')
    )
    assert fault is not None
    assert (fault.kind, fault.action) == ("full", "retry")


def test_an_index_over_the_key_is_told_from_others(mysql: Place) -> None:
    """What it refuses was not there a moment ago. That is no fault of the row."""
    mysql.execute('CREATE TABLE t (k BIGINT, v INTEGER, s VARCHAR(9), UNIQUE KEY "a.b\'s" (k), UNIQUE KEY c (v))')
    found: list[bool] = []

    def work(changes: Changes) -> None:
        operations = changes._operations
        assert isinstance(operations, MysqlOperations)
        found.extend(
            operations._is_key(f"Duplicate entry '1' for key '{name}'")
            for name in ("a.b's", "t.a.b's", "t.c", "c", "x")
        )

    mysql.writer(mysql.table([(name, type_, True) for name, type_, _ in COLUMNS])).write(0, "d", work)
    assert found == [True, True, False, False, False]
