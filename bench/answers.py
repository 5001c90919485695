"""The files that a run has written -> how many rows, and a digest that does not depend on their order."""

from __future__ import annotations

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


def answer(out: Path, columns: dict[str, str]) -> Answer:
    """What is in the CSV files of a folder."""
    files = [str(path) for path in sorted(out.glob("part-*")) if path.stat().st_size]
    if not files:
        return Answer(0, 0)
    compared = (
        f"printf('%.9e', {_quoted(name)})" if type_ == "DOUBLE" else _quoted(name) for name, type_ in columns.items()
    )
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        rows = connection.read_csv(files, header=False, columns=dict(columns))  # type: ignore[arg-type]
        [(count, digest)] = rows.aggregate(f"count(*), sum(hash({', '.join(compared)})::HUGEINT)").fetchall()
    return Answer(count, digest)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
