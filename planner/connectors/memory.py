"""The memory of the process that runs the queries."""

from penstock.planner.connectors.option import INTEGER, Connector, ConnectorOption

MEMORY = Connector(
    "memory",
    "the memory of the driver, to be read by Session.rows",
    reads_now=True,
    appends=True,
    upserts=True,
    deletes=True,
    outlives_process=False,
    own_options=(ConnectorOption("rows", INTEGER, "how many of the newest rows to keep", default=10_000),),
)
