"""Tables of PostgreSQL."""

from penstock.planner.connectors.option import STRING, Connector, ConnectorOption

POSTGRES = Connector(
    "postgres",
    "a PostgreSQL table",
    built=False,
    reads_table=True,
    reads_now=True,
    looks_up=True,
    appends=True,
    upserts=True,
    deletes=True,
    partial_updates=True,
    exactly_once=True,
    has_partitions=True,
    own_options=(
        ConnectorOption("url", STRING, "connection address, postgresql://…", required=True, identifies=True),
        ConnectorOption("table", STRING, "name of the table", required=True, identifies=True),
    ),
)
