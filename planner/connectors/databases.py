"""Tables of databases."""

from penstock.planner.connectors.option import INTEGER, STRING, Connector, ConnectorOption

POSTGRES = Connector(
    "postgres",
    "a PostgreSQL table",
    reads=True,
    writes=True,
    built=False,
    options=(
        ConnectorOption("url", STRING, "connection address, postgresql://…", required=True),
        ConnectorOption("table", STRING, "name of the table", required=True),
        ConnectorOption("partitions", INTEGER, "number of partitions by the key"),
    ),
)
