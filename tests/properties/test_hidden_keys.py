"""What a SELECT list does not show is in no set, in no group and under no star: answers are those of DuckDB."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import duckdb
import pyarrow as pa
import pytest

import penstock
from penstock.compilation import compile_read
from penstock.diagnostics import CompileError, Source
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.history import History
from penstock.evaluator.typed_values import Row
from penstock.planner.plan import Listing
from penstock.runtime import answer_locally
from tests.model.arrivals import write_json_lines
from tests.model.rows import difference
from tests.properties import hidden_keys
from tests.properties.streams import tried

pytestmark = pytest.mark.draws
SCRIPTS = int(os.environ.get("PENSTOCK_SCRIPTS", "60"))
_ARROW = {"STRING": pa.string(), "BIGINT": pa.int64(), "BOOLEAN": pa.bool_()}


def answer(
    tables: tuple[hidden_keys.Table, ...], contents: dict[str, list[Row]], statements: list[str]
) -> tuple[list[str], list[Row]]:
    """The columns of DuckDB's answer to the last of the statements, and its rows."""
    with duckdb.connect(":memory:") as connection:
        for table in tables:
            columns = {
                name: pa.array([row[name] for row in contents[table.name]], _ARROW[hidden_keys.TYPES[name]])
                for name in table.columns
            }
            connection.register(table.name, pa.table(columns))
        for each in statements[:-1]:
            connection.execute(each)
        found = connection.sql(statements[-1]).to_arrow_table()
        return found.column_names, found.to_pylist()


def compare(seed: int) -> str:
    """How the answer to a script differs from DuckDB's, or why the script is refused; "" if neither."""
    chance = Random(seed)
    tables = tuple(hidden_keys.draw_table(chance, name) for name in hidden_keys.NAMES)
    writer = hidden_keys.Writer(chance, tables)
    query = writer.query()
    script = "\n".join([*map(hidden_keys.declare, tables), *writer.views, f"CREATE TABLE result AS {query};"])
    records = {table.name: hidden_keys.draw_records(chance, table) for table in tables}
    try:
        (compiled,) = penstock.compile(script).queries
    except CompileError as refused:
        return f"{seed}: {script}\n{refused}"
    contents = {table.name: hidden_keys.fold_records(table, records[table.name]) for table in tables}
    columns, expected = answer(tables, contents, [*writer.views, query])
    found = [{name: row[name] for name in columns} for row in evaluate(compiled.root, records)]
    differing = difference(found, expected)
    return f"{seed}: {script}\n{records}\n{differing}" if differing else ""


def read_without_spark(seed: int, folder: Path) -> tuple[str, str | None]:
    """A query, and how what is read for it differs from DuckDB's answer. None where Spark is asked, and of IN."""
    chance = Random(seed)
    tables = tuple(hidden_keys.draw_table(chance, name) for name in hidden_keys.NAMES)
    writer = hidden_keys.Writer(chance, tables)
    query = writer.query()
    if " IN (SELECT" in query:
        return query, None
    records = {table.name: hidden_keys.draw_records(chance, table) for table in tables}
    write_json_lines(History((records,)), folder)
    script = "\n".join([*(hidden_keys.declare(each, str(folder)) for each in tables), *writer.views])
    found = answer_locally(compile_read(Source("", query), penstock.compile(script).catalog, memory=False).local)
    if found is None:
        return query, None
    contents = {table.name: hidden_keys.fold_records(table, records[table.name]) for table in tables}
    columns, expected = answer(tables, contents, [*writer.views, query])
    rows = list(found)
    assert [*found.columns] == columns, query
    return query, difference(rows, expected)


def test_reads_without_spark_show_the_same(tmp_path: Path) -> None:
    answers = [read_without_spark(seed, tmp_path / str(seed)) for seed in range(SCRIPTS)]
    answered = [(query, differing) for query, differing in answers if differing is not None]
    tried["hidden keys, read without Spark"] += len(answered)
    assert len(answered) > SCRIPTS // 3
    assert [each for each in answered if each[1]] == []


def test_what_is_not_shown_counts_nowhere() -> None:
    failures = list(filter(None, map(compare, range(SCRIPTS))))
    tried["hidden keys"] += SCRIPTS
    assert not failures, f"{len(failures)} of {SCRIPTS}\n" + "\n\n".join(failures)


def test_describe_leaves_out_what_a_view_hides() -> None:
    table = hidden_keys.Table("p", ("a", "b", "k"), ("k",))
    script = f"{hidden_keys.declare(table)} CREATE VIEW v AS SELECT a, b FROM p; DESCRIBE v; SHOW VIEWS;"
    described, listed = penstock.compile(script).answers
    assert isinstance(described, Listing)
    assert isinstance(listed, Listing)
    assert [row[0] for row in described.rows] == ["a", "b"]
    assert listed.rows == (("v", "a STRING, b BIGINT"),)
