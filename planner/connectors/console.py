"""The terminal."""

from penstock.planner.connectors.option import INTEGER, Connector, ConnectorOption

CONSOLE = Connector(
    "console",
    "the terminal",
    appends=True,
    upserts=True,
    deletes=True,
    keeps_rows=False,
    outlives_process=False,
    own_options=(ConnectorOption("rows", INTEGER, "at most so many rows of each micro-batch", default=20),),
)
