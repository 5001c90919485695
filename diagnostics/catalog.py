"""Every code that Penstock can report. Each has a page docs/errors/<CODE>.md."""

from __future__ import annotations

from penstock.diagnostics.codes import (
    building,
    connectors,
    joins,
    kinds,
    limits,
    names,
    partitions,
    running,
    serving,
    syntax,
    types,
    windows,
)
from penstock.diagnostics.diagnostic import Code

CATALOG: tuple[Code, ...] = (
    *syntax.CODES,
    *limits.CODES,
    *names.CODES,
    *types.CODES,
    *kinds.CODES,
    *joins.CODES,
    *partitions.CODES,
    *windows.CODES,
    *connectors.CODES,
    *building.CODES,
    *running.CODES,
    *serving.CODES,
)
