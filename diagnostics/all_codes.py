"""Every code that Penstock can report. Each has a page docs/errors/<CODE>.md."""

from __future__ import annotations

from penstock.diagnostics.codes import (
    building,
    connectors,
    event_time,
    expression_types,
    joins,
    kinds,
    limits,
    names,
    partitions,
    running,
    server,
    syntax,
    testing,
)
from penstock.diagnostics.diagnostic import Code

CATALOG: tuple[Code, ...] = (
    *syntax.CODES,
    *limits.CODES,
    *names.CODES,
    *expression_types.CODES,
    *kinds.CODES,
    *joins.CODES,
    *partitions.CODES,
    *event_time.CODES,
    *connectors.CODES,
    *building.CODES,
    *running.CODES,
    *server.CODES,
    *testing.CODES,
)
