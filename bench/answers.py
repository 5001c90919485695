"""The files that a run has written -> how many rows, and a digest that does not depend on their order.

Of a table that is sent as changes the rows are those that are there in the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb


@dataclass(frozen=True, slots=True)
class Answer:
    """Equal for equal multisets of rows. Numbers with a point count to their tenth digit."""

    rows: int
    digest: int


def columns_of(script: str) -> dict[str, str]:
    """The names and types of the rows that a script for DuckDB answers with its last statement."""
    *before, query = script.strip().removesuffix(";").split(";\n")
    with duckdb.connect() as connection:
        for statement in before:
            connection.execute(statement)
        described = connection.execute(f"DESCRIBE {query}").fetchall()
    return {name: type_ for name, type_, *_ in described}


def answer(out: Path, columns: dict[str, str], key: Sequence[str] = ()) -> Answer:
    """What is in the CSV files of a folder.

    `key`: the rows are changes of a table with this key, and their last column says what they do. Of two changes of a
    row the newer one is in the file that was written later, or further down.
    """
    written = sorted(out.glob("part-*"), key=lambda path: path.stat().st_mtime_ns)
    files = [str(path) for path in written if path.stat().st_size]
    if not files:
        return Answer(0, 0)
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        rows = connection.read_csv(files, header=False, columns=dict(columns))  # type: ignore[arg-type]
        if key:
            *_, operation = columns
            columns = {name: type_ for name, type_ in columns.items() if name != operation}
            rows = rows.project("*, row_number() OVER () AS place")
            newest = f"row_number() OVER (PARTITION BY {', '.join(map(_quoted, key))} ORDER BY place DESC) AS newest"
            there = f"newest = 1 AND lower({_quoted(operation)}) <> 'delete'"
            rows = rows.project(f"*, {newest}").filter(there)
        return digest_rows(rows, columns)


def digest_rows(rows: duckdb.DuckDBPyRelation, columns: Mapping[str, str]) -> Answer:
    """What the columns of the rows come to."""
    compared = [
        f"printf('%.9e', {_quoted(name)})" if type_ == "DOUBLE" else _quoted(name) for name, type_ in columns.items()
    ]
    [(count, digest)] = rows.aggregate(f"count(*), sum(hash({', '.join(compared)})::HUGEINT)").fetchall()
    return Answer(count, digest or 0)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
