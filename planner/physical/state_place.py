"""Where an operator keeps its state."""

from __future__ import annotations

from penstock.planner.physical.choose import choose
from penstock.planner.plan import Settings, Stateful, StateStore

LONGEST_ON_HEAP = 7_200_000
"""If operators keep rows for at most so many milliseconds of event time, their state is on the heap."""


def state_store(node: Stateful, settings: Settings) -> StateStore:
    """Where the operator keeps its state: where SET says, else on the heap what two hours fill, in RocksDB the rest.

    On the heap a micro-batch costs less, but takes a copy of the whole map of keys; in RocksDB it touches what changed.
    """
    if settings.state_store is not None:
        return settings.state_store
    reach = choose(node).horizon
    return StateStore.MEMORY if reach is not None and reach <= LONGEST_ON_HEAP else StateStore.ROCKSDB
