"""Tables that are not as declared are errors with a kind, before any row is written."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from penstock.kit.databases.address import Address, complete_address
from penstock.kit.databases.faults import TableError
from penstock.kit.databases.secret_refs import SecretRef
from penstock.kit.databases.target_table import TargetTable
from penstock.kit.databases.writer import TableWriter
from tests.databases.places import COLUMNS, DDL, POLICY, Place, rows_of

SECRET = "tr0ub4dor-canary"
K = ("k", "BIGINT", False)


def refusal(table: TargetTable) -> TableError:
    """Why the table is refused. That is no matter of trying again."""
    writer = TableWriter(table, "q", POLICY)
    with pytest.raises(TableError) as refused:
        writer.check()
    assert writer.counters.retries == 0
    assert table.name in str(refused.value)
    return refused.value


def test_a_missing_table_is_made_if_wanted(place: Place) -> None:
    place.execute("CREATE TABLE other (k BIGINT)")
    missing = refusal(place.table())
    assert (missing.kind, missing.hint) == ("missing_table", "create the table, or set create = 'if_missing'")
    columns = (*COLUMNS[:2], ("s", "STRING", False), ("day", "DATE", True), ("n", "DOUBLE", False))
    table = place.table(columns, ("s", "k"), create=True)
    if place.dialect == "mysql":
        error = refusal(table)
        assert (error.kind, "create the table before" in str(error.hint)) == ("types", True)
        columns = (*columns[:2], ("s", "DECIMAL(3, 1)", False), *columns[3:])
        table = place.table(columns, ("s", "k"), create=True)
    for _ in range(2):
        place.writer(table).close()
    made = 'INSERT INTO t (k, v, s, "day", n) VALUES (1, 1, {}, {}, {})'
    one, other = ("1.5", "2.5") if place.dialect == "mysql" else ("'a'", "'b'")
    place.execute(made.format(one, "'2020-01-01'", "1.5"))
    for bad in ((one, "NULL", "1"), ("NULL", "NULL", "1"), (other, "NULL", "NULL")):
        with pytest.raises(Exception, match=r"(?i)unique|duplicate|null"):
            place.execute(made.format(*bad))


def test_a_file_is_made_only_with_its_table(tmp_path: Path) -> None:
    for dialect in ("sqlite", "duckdb"):
        place = Place(dialect, str(tmp_path / f"rows {dialect} %41?#.db"))
        assert refusal(place.table()).kind == "connect"
        assert list(tmp_path.glob(f"*{dialect}*")) == []
        writer = place.writer(place.table(create=True))
        writer.write(0, "d", lambda changes: changes.upsert(rows_of((1, 1, "a"))))
        writer.close()
        assert place.rows("SELECT * FROM t") == [(1, 1, "a")]
        assert tmp_path.joinpath(f"rows {dialect} %41?#.db").exists()


def test_a_column_is_missing(place: Place) -> None:
    place.execute(DDL)
    missing = refusal(place.table((*COLUMNS, ("x", "INT", True))))
    assert (missing.kind, missing.hint) == ("columns", "its columns are k, v, s")
    assert "has no column x" in str(missing)


def test_a_column_that_is_required_is_not_declared(place: Place) -> None:
    place.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v INTEGER NOT NULL, s TEXT NOT NULL DEFAULT 'a')")
    error = refusal(place.table([K]))
    assert error.kind == "columns"
    assert "column v of" in str(error)


def test_a_column_may_be_null_and_is_declared_otherwise(place: Place) -> None:
    place.execute(DDL)
    error = refusal(place.table([K, ("v", "INT", False)]))
    assert (error.kind, error.hint) == ("columns", "declare it without NOT NULL")


def test_a_column_is_computed(postgres: Place) -> None:
    postgres.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v INTEGER GENERATED ALWAYS AS (k + 1) STORED)")
    assert refusal(postgres.table(COLUMNS[:2])).kind == "columns"
    postgres.writer(postgres.table(COLUMNS[:1])).close()


def test_a_key_is_another_one(place: Place) -> None:
    place.execute("CREATE TABLE t (k BIGINT, v INTEGER UNIQUE, s TEXT, PRIMARY KEY (k, s))")
    columns = [(name, type_, True) for name, type_, _ in COLUMNS]
    error = refusal(place.table(columns))
    assert (error.kind, error.hint) == ("key", "its keys are: k, s; v")
    place.writer(place.table(columns, key=("v",))).close()
    place.writer(place.table(columns, key=("s", "k"))).close()


def test_a_unique_index_is_a_key_unless_it_has_a_part_of_the_rows(postgres: Place) -> None:
    postgres.execute(
        "CREATE TABLE t (k BIGINT, v INTEGER, s TEXT)",
        "CREATE UNIQUE INDEX whole ON t (k)",
        "CREATE UNIQUE INDEX part ON t (v) WHERE v > 0",
        "CREATE UNIQUE INDEX computed ON t (lower(s))",
    )
    postgres.writer().write(0, "d", lambda changes: changes.upsert(rows_of((1, 1, "a"))))
    columns = [(name, type_, True) for name, type_, _ in COLUMNS]
    assert refusal(postgres.table(columns, key=("v",))).hint == "its keys are: k"


WRONG_TYPES = [
    *[(dialect, "BIGINT", "INTEGER") for dialect in ("postgres", "duckdb")],
    *[(dialect, "DECIMAL(10, 2)", "NUMERIC(10, 1)") for dialect in ("postgres", "duckdb")],
    *[(dialect, "DECIMAL(10, 2)", "NUMERIC(9, 2)") for dialect in ("postgres", "duckdb")],
    *[(dialect, "TIMESTAMP", "TIMESTAMP") for dialect in ("postgres", "duckdb")],
    *[(dialect, "STRING", "BIGINT") for dialect in ("postgres", "sqlite", "duckdb")],
    *[(dialect, "DOUBLE", "REAL") for dialect in ("postgres", "duckdb")],
    *[(dialect, "BINARY", "TEXT") for dialect in ("postgres", "sqlite")],
    ("postgres", "TIMESTAMP", "TIMESTAMPTZ(3)"),
    ("postgres", "STRING", "CHAR(5)"),
    ("postgres", "STRING", "JSONB"),
    ("postgres", "BOOLEAN", "INTEGER"),
    ("sqlite", "STRING", "NUMERIC"),
    ("sqlite", "DOUBLE", "NUMERIC"),
    ("duckdb", "ARRAY<INT>", "BIGINT[]"),
    ("duckdb", "STRUCT<a: INT>", "STRUCT(b INTEGER)"),
]


@pytest.mark.parametrize(("dialect", "declared", "column"), WRONG_TYPES)
def test_a_column_has_another_type(
    request: pytest.FixtureRequest, tmp_path: Path, dialect: str, declared: str, column: str
) -> None:
    place = request.getfixturevalue("postgres") if dialect == "postgres" else Place(dialect, str(tmp_path / "x"))
    place.execute(f"CREATE TABLE t (k BIGINT PRIMARY KEY, v {column})")
    error = refusal(place.table([K, ("v", declared, True)]))
    assert error.kind == "types"
    assert f"does not hold all values of {declared}" in str(error)


@pytest.mark.parametrize(
    ("dialect", "declared"),
    [
        *[(dialect, declared) for dialect in ("postgres", "sqlite", "duckdb") for declared in ("INTERVAL", "VOID")],
        *[(dialect, declared) for dialect in ("postgres", "sqlite") for declared in ("ARRAY<INT>", "STRUCT<a: INT>")],
        ("sqlite", "DECIMAL(10, 2)"),
    ],
)
def test_a_type_that_the_database_does_not_have(
    request: pytest.FixtureRequest, tmp_path: Path, dialect: str, declared: str
) -> None:
    table = Place(dialect, str(tmp_path / "x")).table([K, ("v", declared, True)], create=True)
    if dialect == "postgres":
        table = dataclasses.replace(table, address=request.getfixturevalue("postgres").address)
    writer = TableWriter(table, "q", POLICY)
    with pytest.raises(TableError, match=r"no (database has a )?column") as refused:
        writer.check()
    assert refused.value.kind == "types"


@pytest.fixture
def guarded(postgres: Place) -> Iterator[Place]:
    """A user without any privilege, who needs a password."""
    folder = Path(parse_qs(urlsplit(postgres.url).query)["host"][0])
    rules = folder / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"local all guarded scram-sha-256\n{before}")
    postgres.execute(DDL, f"CREATE ROLE guarded LOGIN PASSWORD '{SECRET}'", "SELECT pg_reload_conf()")
    yield Place("postgres", postgres.url.replace("postgres@", "guarded@"))
    rules.write_text(before)
    postgres.execute("DROP OWNED BY guarded", "DROP ROLE guarded", "SELECT pg_reload_conf()")


def with_password(place: Place, kind: str, name: str) -> TargetTable:
    table = place.table()
    return dataclasses.replace(table, address=dataclasses.replace(table.address, password=SecretRef(kind, name)))  # type: ignore[arg-type]


def test_passwords(guarded: Place, postgres: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RIGHT", SECRET)
    monkeypatch.setenv("WRONG", "not it")
    monkeypatch.delenv("NONE", raising=False)
    (tmp_path / "secret").write_text(SECRET + "\n")
    missing = str(tmp_path / "missing")
    [(schema,)] = postgres.rows("SELECT current_schema()")
    postgres.execute(f"GRANT USAGE ON SCHEMA {schema} TO guarded")
    for kind, name, error, text in [
        ("ENV", "WRONG", "password", "password authentication failed"),
        ("ENV", "NONE", "password", "there is no variable NONE"),
        ("FILE", missing, "password", "missing of the password cannot be read: No such file or directory"),
        ("ENV", "RIGHT", "permission", "the user has no privilege SELECT on table t of database postgres"),
        ("FILE", str(tmp_path / "secret"), "permission", "no privilege SELECT"),
    ]:
        writer = TableWriter(with_password(guarded, kind, name), "q", POLICY)
        with pytest.raises(TableError, match=text) as refused:
            writer.check()
        assert refused.value.kind == error
        assert writer.counters.retries == 0


def test_privileges(guarded: Place, postgres: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RIGHT", SECRET)
    table = with_password(guarded, "ENV", "RIGHT")
    [(schema,)] = postgres.rows("SELECT current_schema()")
    postgres.execute(f"GRANT USAGE ON SCHEMA {schema} TO guarded", "GRANT SELECT, INSERT, UPDATE ON t TO guarded")
    assert str(refusal(table)).startswith("the user has no privilege DELETE")
    postgres.execute("GRANT DELETE ON t TO guarded")
    error = refusal(table)
    assert error.hint == f"grant CREATE on schema {schema}, or create the table penstock_ledger"
    postgres.execute(f"GRANT CREATE ON SCHEMA {schema} TO guarded")
    writer = guarded.writer(table)
    writer.write(0, "d", lambda changes: changes.upsert(rows_of((1, 1, "a"))))
    postgres.execute(f"REVOKE CREATE ON SCHEMA {schema} FROM guarded", "REVOKE INSERT ON t FROM guarded")
    with pytest.raises(TableError, match="permission denied for table t") as refused:
        writer.write(1, "e", lambda changes: changes.upsert(rows_of((2, 2, "a"))))
    assert refused.value.kind == "permission"


def test_no_secret_is_told(guarded: Place, postgres: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RIGHT", SECRET)
    table = with_password(guarded, "ENV", "RIGHT")
    texts = [repr(table), str(refusal(table))]
    postgres.execute("GRANT ALL ON t TO guarded", "GRANT USAGE, CREATE ON SCHEMA public TO guarded")
    [(schema,)] = postgres.rows("SELECT current_schema()")
    postgres.execute(f"GRANT ALL ON SCHEMA {schema} TO guarded")
    writer = guarded.writer(table, on_retry=texts.append)
    texts += [repr(writer), repr(vars(writer)), repr(vars(writer._connection))]
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'guarded'"
    postgres.execute(end)
    writer.write(0, "d", lambda changes: changes.upsert(rows_of((1, 1, "a"))))
    assert writer.counters.retries >= 1
    postgres.execute("DROP TABLE t")
    with pytest.raises(TableError, match=r"relation .* does not exist") as refused:
        writer.write(1, "d", lambda changes: changes.upsert(rows_of((1, 1, "a"))))
    assert refused.value.kind == "missing_table"
    texts += [str(refused.value), str(refused.value.hint), str(refused.value.__cause__)]
    texts += map(str, postgres.rows("SELECT * FROM pg_stat_activity") + postgres.rows("SELECT * FROM penstock_ledger"))
    assert len(texts) > 8
    assert [text for text in texts if SECRET in text] == []


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("postgresql://me:" + SECRET + "@h/db", "password"),
        ("postgresql://me@h/db?password=" + SECRET, "password"),
        ("mysql://me@h/db", "connect"),
        (SECRET, "connect"),
        ("postgresql://me@h:port/db", "connect"),
    ],
)
def test_urls(url: str, kind: str) -> None:
    table = dataclasses.replace(Place("postgres", "").table(), address=Address("postgres", url))
    writer = TableWriter(table, "q", POLICY)
    with pytest.raises(TableError) as refused:
        writer.check()
    assert refused.value.kind == kind
    assert SECRET not in str(refused.value)


def test_an_address_for_others_has_the_variables_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"PGHOST": "/run/a b", "PGPORT": "7", "PGUSER": "me@x", "PGDATABASE": "shop"}.items():
        monkeypatch.setenv(name, value)

    def complete(url: str) -> tuple[object, ...]:
        url = complete_address(Address("postgres", url)).url
        read = Address("postgres", url).parse_url()
        return read.username, read.host, read.port, read.database, dict(read.query)

    own = {"host": "/run/a b", "port": "7"}
    assert complete("postgresql://") == ("me@x", None, None, "shop", own)
    assert complete("postgresql://you@h:8/db?options=-c%20x%3Dy") == ("you", "h", 8, "db", {"options": "-c x=y"})
    assert complete("postgresql:///db?host=/tmp") == ("me@x", None, None, "db", {"host": "/tmp", "port": "7"})


def test_a_missing_database_and_a_missing_user(postgres: Place) -> None:
    nowhere = Place("postgres", postgres.url.replace("/postgres?", "/nowhere?"))
    assert refusal(nowhere.table()).kind == "missing_database"
    assert refusal(Place("postgres", postgres.url.replace("postgres@", "nobody@")).table()).kind == "password"
    with pytest.raises(psycopg.OperationalError):
        nowhere.connect()
