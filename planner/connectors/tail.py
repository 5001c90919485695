"""The newest rows of a stream. A server keeps them in its PostgreSQL, where users can look at them."""

from penstock.planner.connectors.database_options import SHARED, TABLE
from penstock.planner.connectors.option import INTEGER, NAME, SECRET, Connector, ConnectorOption

TAIL = Connector(
    "tail",
    "the newest rows of a stream",
    appends=True,
    exactly_once=True,
    own_options=(
        ConnectorOption("url", NAME, "address of the database", required=True),
        TABLE,
        ConnectorOption("password", SECRET, "password of the user"),
        ConnectorOption("rows", INTEGER, "how many of the newest rows to keep", default=1_000),
        *SHARED,
    ),
)
"""No script can name it."""
