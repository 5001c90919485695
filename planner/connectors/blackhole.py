"""Nowhere."""

from penstock.planner.connectors.option import Connector

BLACKHOLE = Connector(
    "blackhole",
    "nowhere: rows are computed and counted, and not kept, for measuring a query",
    appends=True,
    upserts=True,
    deletes=True,
    keeps_rows=False,
    outlives_process=False,
    own_options=(),
)
