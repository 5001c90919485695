"""Tables of SQLite files."""

from penstock.planner.connectors.database_options import PACKAGES, PATH, SHARED, TABLE, is_simple, make_check
from penstock.planner.connectors.option import Connector

SQLITE = Connector(
    "sqlite",
    "a table of a SQLite file",
    is_database=True,
    packages=PACKAGES,
    only_tables=True,
    one_row=True,
    reads_now=True,
    looks_up=True,
    upserts=True,
    deletes=True,
    changes_rows=True,
    partial_updates=True,
    exactly_once=True,
    check=make_check("SQLite", is_simple),  # its numbers have 64 bits: most decimals do not fit
    own_options=(PATH, TABLE, *SHARED),
)
