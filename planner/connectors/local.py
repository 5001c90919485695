"""Places on this machine: generated rows, the terminal, the driver's memory."""

from penstock.planner.connectors.option import INTEGER, Connector, ConnectorOption

RATE = Connector(
    "rate",
    "generated rows of a BIGINT and a TIMESTAMP column, for trying things out",
    reads=True,
    writes=False,
    built=True,
    options=(
        ConnectorOption("rows_per_second", INTEGER, "how many rows a second; 1 unless set"),
        ConnectorOption("partitions", INTEGER, "number of partitions by the key"),
    ),
)

CONSOLE = Connector(
    "console",
    "tables on the terminal",
    reads=False,
    writes=True,
    built=True,
    options=(ConnectorOption("rows", INTEGER, "at most so many rows of each micro-batch; 20 unless set"),),
)

MEMORY = Connector(
    "memory",
    "the memory of the driver, to be read by Session.rows",
    reads=False,
    writes=True,
    built=True,
    options=(ConnectorOption("rows", INTEGER, "how many of the newest rows to keep; 10000 unless set"),),
)
