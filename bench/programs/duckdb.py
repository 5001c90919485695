"""A query as a batch, with two threads: `duckdb.py SCRIPT OUT`."""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb


def main(script: str, out: str) -> None:
    """Run all but the last statement, and write what the last one answers."""
    *before, query = Path(script).read_text(encoding="utf-8").strip().removesuffix(";").split(";\n")
    Path(out).mkdir(parents=True)
    with duckdb.connect(config={"threads": 2}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for statement in before:
            connection.execute(statement)
        connection.execute(f"COPY ({query}) TO '{out}/part-0.csv' (HEADER false)")


if __name__ == "__main__":
    main(*sys.argv[1:])
