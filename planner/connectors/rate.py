"""Generated rows."""

from penstock.planner.connectors.option import INTEGER, Connector, ConnectorOption

RATE = Connector(
    "rate",
    "generated rows of a BIGINT and a TIMESTAMP column, for trying things out",
    reads_stream=True,
    has_partitions=True,
    rate_option="rows_per_second",
    own_options=(ConnectorOption("rows_per_second", INTEGER, "how many rows a second", default=1),),
)
