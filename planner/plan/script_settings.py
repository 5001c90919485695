"""What SET can change, as plain data."""

from __future__ import annotations

from enum import Enum

import msgspec


class StateStore(Enum):
    """Where Spark keeps an operator's state: on the heap of the JVM, or in RocksDB on the disks."""

    MEMORY = "memory"
    ROCKSDB = "rocksdb"

    @property
    def on_disk(self) -> bool:
        """Whether it is RocksDB."""
        return self is StateStore.ROCKSDB


class Settings(msgspec.Struct, frozen=True):
    """What SET can change.

    `state_partitions`: the number of partitions of a stateful operator's state, where a join's streams do not say it.
    `state_store`: where all state is kept; None leaves it to the rule of `planner.state`. `intermediate_partitions`:
    how many partitions a stream gets that PARTITION BY makes, where nothing else says it. `auto_repartition`: whether
    to re-key what does not fit a join. `rejects_failing`: whether rows for which an expression fails are set aside.
    `real_time`: whether queries run in Spark's real-time mode, with batches of `realtime_batch` milliseconds. Otherwise
    a micro-batch starts `trigger_interval` milliseconds after the start of the last one, or when that has ended.
    `partial_aggregates`: whether windows of HOP are merged from partial aggregates; None leaves it to the run.
    """

    state_partitions: int = 4
    state_store: StateStore | None = None
    intermediate_partitions: int | None = None
    auto_repartition: bool = False
    rejects_failing: bool = False
    real_time: bool = False
    realtime_batch: int = 30_000
    trigger_interval: int = 1_000
    partial_aggregates: bool | None = None


DEFAULTS = Settings()
