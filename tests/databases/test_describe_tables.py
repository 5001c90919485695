"""`penstock describe --connect` of a table in each database: its columns, its key, and its first rows."""

from __future__ import annotations

import pytest
from click.testing import CliRunner, Result

from penstock import compile
from penstock.commands.cli import main
from penstock.planner.catalog import Declared
from tests.databases.places import Place


def describe(place: Place, table: str) -> Result:
    return CliRunner().invoke(main, ["describe", "--connect", place.url, "--name", "found", table])


def test_a_table_is_declared_with_its_key(place: Place) -> None:
    text = "VARCHAR(20)" if place.dialect == "mysql" else "TEXT"
    place.execute(
        f"CREATE TABLE t (k BIGINT NOT NULL, n INTEGER NOT NULL, s {text}, d DOUBLE PRECISION, PRIMARY KEY (k, n))",
        "INSERT INTO t VALUES (1, 2, 'Ana', 0.5), (2, 3, NULL, NULL)",
    )
    result = describe(place, "t")
    assert result.exit_code == 0, result.output
    entry = compile(result.stdout).catalog.find("found")
    assert isinstance(entry, Declared)
    types = {each.name: str(each.type) for each in entry.origin.columns}
    assert {types["k"], types["s"], types["d"]} == {"BIGINT", "STRING", "DOUBLE"}
    assert types["n"] in ("INT", "BIGINT")
    assert (entry.kind, entry.origin.key, entry.origin.connector) == ("TABLE", ("k", "n"), place.dialect)
    assert "-- 1  2  Ana   0.5" in result.stdout


def test_a_table_without_a_key_and_one_that_is_missing(place: Place) -> None:
    place.execute("CREATE TABLE t (v INTEGER)")
    keyless, missing = describe(place, "t"), describe(place, "nobody")
    assert (keyless.exit_code, "the table has no primary key" in keyless.stderr) == (1, True)
    assert (missing.exit_code, "its tables are t" in missing.stderr) == (3, True)


@pytest.mark.parametrize("place", ["postgres", "mysql"], indirect=True)
def test_an_exact_number_keeps_its_digits(place: Place) -> None:
    place.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, price NUMERIC(10, 2))", "INSERT INTO t VALUES (1, 2.50)")
    assert "price DECIMAL(10, 2)" in describe(place, "t").stdout
