"""The streams that queries of a script write for each other."""

from penstock.planner.connectors.option import Connector

INTERMEDIATE = Connector(
    "intermediate", "an intermediate stream", (), reads_stream=True, appends=True, exactly_once=True
)
"""No script can name it."""
