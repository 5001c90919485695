"""Tables of Delta Lake: what is refused of them before anything runs."""

from __future__ import annotations

import pytest

from penstock.codegen import write_job
from penstock.compilation import compile, compile_read
from penstock.diagnostics import CompileError, Source

ORDERS = """CREATE STREAM orders (id BIGINT, product STRING, price DOUBLE)
WITH (connector = 'files', path = 'orders', format = 'json');"""
TABLE = "CREATE TABLE t (id BIGINT PRIMARY KEY, {column}) WITH (connector = 'delta', path = '{path}'{options});"


def refuse(sql: str) -> list[str]:
    with pytest.raises(CompileError) as refusal:
        compile(sql)
    return [f"{each.code}: {each.message}" for each in refusal.value.diagnostics]


def declare(column: str = "a STRING", path: str = "lake/t", options: str = "") -> str:
    return TABLE.format(column=column, path=path, options=options)


@pytest.mark.parametrize(
    "type_",
    [
        *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE"),
        *("STRING", "BINARY", "DATE", "TIMESTAMP"),
        *("DECIMAL(38, 10)", "ARRAY<INT>", "MAP<STRING, INT>", "STRUCT<a: DECIMAL(5, 2), b: ARRAY<DATE>>"),
    ],
)
def test_types_are_held(type_: str) -> None:
    compile(declare(f"a {type_}"))


@pytest.mark.parametrize(
    ("column", "refused"),
    [
        ("a TIME", "Delta Lake cannot hold the column a: TIME"),
        ("a ARRAY<TIME>", "Delta Lake cannot hold the column a: ARRAY<TIME>"),
        ("`a b` INT", "Delta Lake cannot hold the column a b: INT"),
        ("`a=b` INT", "Delta Lake cannot hold the column a=b: INT"),
    ],
)
def test_columns_are_refused(column: str, refused: str) -> None:
    assert refuse(declare(column)) == [f"C019: {refused}"]


@pytest.mark.parametrize("path", ["lake/t", "/lake/t", "file:///lake/t", "s3://bucket/t", "abfss://box@account.host/t"])
def test_paths_are_folders_and_object_stores(path: str) -> None:
    compile(declare(path=path))


@pytest.mark.parametrize(
    ("path", "code"), [("ftp://host/t", "C003"), ("memory:t", "C003"), ("s3://key:secret@bucket/t", "C020")]
)
def test_other_paths_are_refused(path: str, code: str) -> None:
    assert [each[:4] for each in refuse(declare(path=path))] == [code]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ("""storage_options = '{"region": "eu", "aws_access_key_id": "me"}', secret_key = ENV('S')""", None),
        ("""storage_options = '{"aws_secret_access_key": "hidden"}'""", "C020"),
        ("""storage_options = '{"azure_storage_account_key": "hidden"}'""", "C020"),
        ("""storage_options = '{"aws_session_token": "hidden"}'""", "C020"),
        ("storage_options = 'region=eu'", "C003"),
        ("""storage_options = '{"region": 1}'""", "C003"),
        ("secret_key = 'hidden'", "C020"),
        ("partition_by = 'a'", None),
        ("partition_by = 'a, b'", "C003"),
        ("partition_by = 'a, id'", "C003"),
        ("partition_by = 'a, a'", "C003"),
    ],
)
def test_options(options: str, code: str | None) -> None:
    sql = declare(options=f", {options}", path="s3://bucket/t")
    if code is None:
        compile(sql)
    else:
        found = refuse(sql)
        assert [each[:4] for each in found] == [code]
        assert "hidden" not in str(found)


def test_no_secret_is_in_a_program() -> None:
    options = ", create = 'if_missing', secret_key = ENV('LAKE_SECRET')"
    table = declare(path="s3://bucket/t", options=options)
    sql = f"{ORDERS}{table}INSERT INTO t SELECT STREAM id, product FROM orders;"
    made = write_job(compile(sql).program)["job.py"]
    assert '"secret_key": SecretOption("ENV", "LAKE_SECRET")' in made


FOLLOWED = """CREATE STREAM lake (id BIGINT) WITH (connector = 'delta', path = 'lake/t', starting = '{starting}');
SELECT STREAM id FROM lake;"""


@pytest.mark.parametrize("starting", ["newest", "earliest", "latest", "0", "12"])
def test_queries_begin_with_a_version(starting: str) -> None:
    compile(FOLLOWED.format(starting=starting))


@pytest.mark.parametrize("starting", ["", "-1", "Newest", "1.5"])
def test_queries_begin_with_nothing_else(starting: str) -> None:
    assert [each[:4] for each in refuse(FOLLOWED.format(starting=starting))] == ["C003"]


@pytest.mark.parametrize("path", ["lake/t", "./lake//t"])
def test_no_query_reads_what_it_writes(path: str) -> None:
    """It would never come to an end."""
    sql = f"""CREATE STREAM lake (id BIGINT) WITH (connector = 'delta', path = 'lake/t');
    CREATE STREAM again WITH (connector = 'delta', path = '{path}') AS SELECT STREAM id FROM lake WHERE id > 0;"""
    assert refuse(sql) == ["K009: again would read the rows that it writes"]


def test_several_queries_write_one_table() -> None:
    """Each micro-batch is a transaction."""
    insert = "INSERT INTO t SELECT STREAM id, product FROM orders WHERE price {} 3;"
    compile(ORDERS + declare("product STRING") + insert.format(">") + insert.format("<"))


def test_rows_of_a_version_have_no_order() -> None:
    sql = f"""CREATE STREAM lake (id BIGINT, a STRING) WITH (connector = 'delta', path = 'lake/s');
    {declare()} INSERT INTO t SELECT STREAM id, a FROM lake;"""
    assert [each[:4] for each in refuse(sql)] == ["K008"]


def test_metadata_is_for_queries_that_keep_running() -> None:
    asked = Source("<read>", "SELECT id FROM t")
    with pytest.raises(CompileError) as refusal:
        compile_read(asked, compile(declare("at TIMESTAMP METADATA FROM 'timestamp'")).catalog, memory=False)
    (found,) = refusal.value.diagnostics
    assert (found.code, found.message) == ("B002", "not supported yet: reading METADATA columns through delta")
    compile_read(asked, compile(declare("at TIMESTAMP")).catalog, memory=False)


def test_the_event_time_of_a_table_is_that_of_its_versions() -> None:
    """A deleted row has the values that it had, and so no time at which it was deleted."""
    table = """CREATE TABLE t (id BIGINT PRIMARY KEY, at TIMESTAMP{known}, WATERMARK FOR at AS at)
        WITH (connector = 'delta', path = 'lake/t');"""
    compile(table.format(known=" METADATA FROM 'timestamp'"))
    assert refuse(table.format(known="")) == [
        "B002: not supported yet: an event time in the values of a table through delta"
    ]


def test_rows_are_deleted_and_not_updated() -> None:
    sql = f"{ORDERS}{declare()}"
    (query,) = compile(f"{sql}DELETE FROM t USING orders AS o WHERE t.id = o.id;").program.queries
    assert query.change is not None
    assert query.change.kind == "delete"
    update = "UPDATE t SET a = o.product FROM orders AS o WHERE t.id = o.id;"
    assert refuse(f"{sql}{update}") == ["K021: UPDATE t: the connector delta cannot change single rows"]


@pytest.mark.parametrize("name", ["iceberg", "Iceberg"])
def test_iceberg_waits_for_a_release(name: str) -> None:
    with pytest.raises(CompileError, match=r"C024: connector (?i:iceberg) waits for a release") as refusal:
        compile(f"CREATE STREAM s (id BIGINT) WITH (connector = '{name}', path = 'lake')")
    assert "1.12.0, is for Spark 4.1" in str(refusal.value.diagnostics[0].detail)
