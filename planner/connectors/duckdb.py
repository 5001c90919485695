"""Tables of DuckDB files."""

from penstock.planner.connectors.database_options import PACKAGES, PATH, SHARED, TABLE, is_any, make_check
from penstock.planner.connectors.option import Connector

DUCKDB = Connector(
    "duckdb",
    "a table of a DuckDB file",
    is_database=True,
    packages=(*PACKAGES, ("duckdb", ""), ("duckdb_engine", "duckdb-engine")),
    only_tables=True,
    reads_now=True,
    looks_up=True,
    upserts=True,
    deletes=True,
    changes_rows=True,
    partial_updates=True,
    exactly_once=True,
    check=make_check("DuckDB", is_any),
    own_options=(PATH, TABLE, *SHARED),
)
