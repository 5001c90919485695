"""Nowhere."""

from penstock.planner.connectors.option import Connector

BLACKHOLE = Connector(
    "blackhole",
    "no place at all: rows are computed, counted and dropped",
    appends=True,
    upserts=True,
    deletes=True,
    keeps_rows=False,
    outlives_process=False,
    own_options=(),
)
