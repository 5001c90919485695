"""How an operator with state runs."""

from __future__ import annotations

from typing import TypeAlias, assert_never

from penstock.planner.physical.distinct_rows import DistinctRows
from penstock.planner.physical.key_groups import StreamGroups, TableSums, TableValues
from penstock.planner.physical.keyed_tables import KeyJoin, LatestRows, WindowJoin
from penstock.planner.physical.over_frames import RowFrames, TimeFrames
from penstock.planner.physical.reference_joins import AsOfLookup, CurrentLookup, ReferenceJoin
from penstock.planner.physical.stream_joins import PairJoin, PaneJoin
from penstock.planner.physical.stream_ranks import InstantRanks, WindowRanks
from penstock.planner.physical.table_ranks import KeyedRanks, MovingRanks
from penstock.planner.physical.window_groups import FixedWindows, PartialWindows, SessionBuckets, SparkSessions
from penstock.planner.plan import (
    Distinct,
    ForeignKeyJoin,
    GroupAggregate,
    IntervalJoin,
    Latest,
    Over,
    OverRows,
    Ranked,
    SessionWindow,
    Stateful,
    TableJoin,
    TableLookup,
    TableRanked,
    WindowAggregate,
)
from penstock.planner.plan.walk import is_retracting

Physical: TypeAlias = (
    FixedWindows
    | SparkSessions
    | SessionBuckets
    | PartialWindows
    | StreamGroups
    | TableSums
    | TableValues
    | DistinctRows
    | PairJoin
    | PaneJoin
    | TimeFrames
    | RowFrames
    | InstantRanks
    | WindowRanks
    | LatestRows
    | KeyJoin
    | WindowJoin
    | ReferenceJoin
    | CurrentLookup
    | AsOfLookup
    | MovingRanks
    | KeyedRanks
)
"""The ways of running. Code that tells them apart ends in `assert_never`."""


def choose(node: Stateful) -> Physical:
    """The way in which the operator runs."""
    match node:
        case WindowAggregate() if node.rows_leave:
            return SessionBuckets(node)
        case WindowAggregate() if node.merges_partials:
            return PartialWindows(node)
        case WindowAggregate():
            return (SparkSessions if isinstance(node.window, SessionWindow) else FixedWindows)(node)
        case GroupAggregate() if node.keeps_values:
            return TableValues(node)
        case GroupAggregate():
            return (TableSums if is_retracting(node) else StreamGroups)(node)
        case Distinct():
            return DistinctRows(node)
        case IntervalJoin():
            return (PairJoin if node.pane is None else PaneJoin)(node)
        case Over():
            return TimeFrames(node)
        case OverRows():
            return RowFrames(node)
        case Ranked():
            return (InstantRanks if node.pane is None else WindowRanks)(node)
        case Latest():
            return LatestRows(node)
        case TableJoin():
            return (WindowJoin if node.is_windowed else KeyJoin)(node)
        case ForeignKeyJoin():
            return ReferenceJoin(node)
        case TableLookup():
            return (CurrentLookup if node.as_of is None else AsOfLookup)(node)
        case TableRanked():
            return (KeyedRanks if node.is_by_key else MovingRanks)(node)
        case _:
            assert_never(node)
