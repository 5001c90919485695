"""Tables of SQLite files."""

from penstock.planner.connectors.database_options import (
    PACKAGES,
    PATH,
    SHARED,
    TABLE,
    is_simple,
    make_check,
    make_database,
)

SQLITE = make_database(
    "sqlite",
    "a table of a SQLite file",
    packages=PACKAGES,
    one_row=True,
    check=make_check("SQLite", is_simple),  # its numbers have 64 bits: most decimals do not fit
    own_options=(PATH, TABLE, *SHARED),
)
