"""Lines on standard output."""

from penstock.planner.connectors.option import STRING, Connector, ConnectorOption

PRINT = Connector(
    "print",
    "standard output, with a line for each row as Flink's `print` writes it, but without a `-U` before each `+U`",
    appends=True,
    upserts=True,
    deletes=True,
    keeps_rows=False,
    outlives_process=False,
    own_options=(ConnectorOption("print_identifier", STRING, "text in front of each line, and `> ` behind it"),),
)
