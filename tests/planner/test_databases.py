"""Tables of databases: which types they hold, what reads and writes of them are refused, where secrets stay."""

from __future__ import annotations

import pytest

from penstock.codegen.job_layout import write_value
from penstock.compilation import compile
from penstock.diagnostics import CompileError
from penstock.planner.catalog import Declared
from penstock.planner.connectors import find_connector
from penstock.planner.plan import SecretOption

TABLES = {
    "postgres": "connector = 'postgres', url = 'postgresql://db', table = 't'",
    "sqlite": "connector = 'sqlite', path = 'x.db', table = 't'",
    "duckdb": "connector = 'duckdb', path = 'x.db', table = 't'",
}
INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
SIMPLE = ("BOOLEAN", *INTEGERS, "FLOAT", "DOUBLE", "STRING", "BINARY", "DATE", "TIMESTAMP", "TIME")
NESTED = ("ARRAY<INT>", "MAP<STRING, INT>", "STRUCT<a: DECIMAL(5, 2), b: ARRAY<DATE>>")
HELD = {
    "postgres": (*SIMPLE, "DECIMAL(38, 10)"),
    "sqlite": SIMPLE,
    "duckdb": (*SIMPLE, "DECIMAL(38, 10)", *NESTED),
}
STREAM = "CREATE STREAM s (id BIGINT KEY) WITH (connector = 'rate');"
TIMES = """CREATE STREAM times (id BIGINT KEY, since TIMESTAMP, until TIMESTAMP)
WITH (connector = 'files', path = 'in', format = 'json');"""


def declare(database: str, type_: str = "BIGINT", key: str = "BIGINT", options: str = "") -> str:
    return f"CREATE TABLE t (id {key} PRIMARY KEY, a {type_}) WITH ({TABLES[database]}{options});\n"


def codes(sql: str) -> list[str]:
    with pytest.raises(CompileError) as refusal:
        compile(sql)
    return [f"{each.code}: {each.message}" for each in refusal.value.diagnostics]


@pytest.mark.parametrize("database", TABLES)
@pytest.mark.parametrize("type_", [*SIMPLE, "DECIMAL(38, 10)", *NESTED])
def test_columns_are_of_types_that_the_database_holds(database: str, type_: str) -> None:
    if type_ in HELD[database]:
        compile(declare(database, type_))
    else:
        assert [each[:4] for each in codes(declare(database, type_))] == ["C019"]


@pytest.mark.parametrize("database", TABLES)
def test_keys_are_not_nested(database: str) -> None:
    assert [each[:4] for each in codes(declare(database, key="ARRAY<INT>"))] == ["C019"]


@pytest.mark.parametrize("database", TABLES)
@pytest.mark.parametrize(
    ("query", "column"),
    [
        ("SELECT k, COUNT(*) AS n FROM (SELECT STREAM ARRAY(id) AS k FROM times) GROUP BY k", "k: ARRAY<BIGINT>"),
        ("SELECT id, MAX(until - since) AS longest FROM times GROUP BY id", "longest: INTERVAL"),
        ("SELECT id, MAX(ARRAY(until - since)) AS lengths FROM times GROUP BY id", "lengths: ARRAY<INTERVAL>"),
    ],
)
def test_results_have_types_that_the_database_holds(database: str, query: str, column: str) -> None:
    (found,) = codes(f"{TIMES} CREATE TABLE o WITH ({TABLES[database]}) AS {query};")
    assert found.startswith("C019: ")
    assert found.endswith(f"cannot hold the column {column}")


@pytest.mark.parametrize("database", TABLES)
@pytest.mark.parametrize(
    ("sql", "refusal"),
    [
        ("SELECT id, a FROM t;", "B002: not supported yet: reading a table through {}"),
        (
            f"{STREAM} SELECT STREAM s.id, n.c FROM s JOIN (SELECT a, COUNT(*) AS c FROM t GROUP BY a) n ON id = a;",
            "B002: not supported yet: reading a table through {}",
        ),
        (
            f"{STREAM} CREATE STREAM o WITH (<place>) AS SELECT STREAM id FROM s;",
            "C005: connector {} cannot be used for a stream",
        ),
    ],
)
def test_what_databases_cannot_do_yet(database: str, sql: str, refusal: str) -> None:
    found = codes(declare(database) + sql.replace("<place>", TABLES[database]))
    assert found == [refusal.format(database)]


@pytest.mark.parametrize("database", TABLES)
def test_a_table_of_one_row_has_no_key(database: str) -> None:
    counts = f"{STREAM} CREATE TABLE o WITH ({TABLES[database]}) AS SELECT COUNT(*) AS n FROM s;"
    if database == "duckdb":
        assert codes(counts) == ["B002: not supported yet: a table of one row, which has no key, through duckdb"]
    else:
        (query,) = compile(counts).queries
        assert (query.sink.connector, query.key) == (database, ())


@pytest.mark.parametrize("database", TABLES)
def test_results_with_a_key_are_written(database: str) -> None:
    counts = f"CREATE TABLE n WITH ({TABLES[database]}) AS SELECT id, COUNT(*) AS n FROM s GROUP BY id;"
    (query,) = compile(STREAM + counts).queries
    assert (query.sink.connector, query.key) == (database, ("id",))


def test_a_secret_is_in_the_plan_by_its_name_alone() -> None:
    compilation = compile(declare("postgres", options=", password = ENV('PGPASSWORD')"))
    table = compilation.catalog.find("t")
    assert isinstance(table, Declared)
    assert dict(table.origin.options)["password"] == SecretOption("ENV", "PGPASSWORD")
    assert write_value(SecretOption("FILE", "/run/it's")) == 'SecretOption("FILE", "/run/it\'s")'


@pytest.mark.parametrize("database", TABLES)
def test_no_secret_identifies_a_table(database: str) -> None:
    connector = find_connector(database)
    assert connector is not None
    assert {each.name for each in connector.options if each.identifies} == {
        "postgres": {"url", "table"},
        "sqlite": {"path", "table"},
        "duckdb": {"path", "table"},
    }[database]
    assert [each.name for each in connector.options if each.secret] == ["password"] * (database == "postgres")
