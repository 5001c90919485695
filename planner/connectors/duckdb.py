"""Tables of DuckDB files."""

from penstock.planner.connectors.database_options import (
    PACKAGES,
    PATH,
    SHARED,
    TABLE,
    is_any,
    make_check,
    make_database,
)

DUCKDB = make_database(
    "duckdb",
    "a table of a DuckDB file",
    packages=(*PACKAGES, ("duckdb", ""), ("duckdb_engine", "duckdb-engine")),
    check=make_check("DuckDB", is_any),
    own_options=(PATH, TABLE, *SHARED),
)
