"""Physical operators -> views: each way in which an operator with state runs has a module of its own."""

from __future__ import annotations

from typing import assert_never

from penstock.codegen.program import AnyView
from penstock.codegen.sql.aggregate_views import distinct_view, group_aggregate_view, window_aggregate_views
from penstock.codegen.sql.as_of import as_of_views
from penstock.codegen.sql.foreign_key import foreign_key_views
from penstock.codegen.sql.hop_panes import hop_pane_views
from penstock.codegen.sql.interval_join import join_views
from penstock.codegen.sql.latest_views import latest_views
from penstock.codegen.sql.lookup_views import lookup_views
from penstock.codegen.sql.multiset import multiset_views
from penstock.codegen.sql.over_panes import over_views
from penstock.codegen.sql.over_rows import over_rows_views
from penstock.codegen.sql.pane_join import pane_join_views
from penstock.codegen.sql.rank_panes import rank_views
from penstock.codegen.sql.retraction_sums import retraction_views
from penstock.codegen.sql.sessions import session_views
from penstock.codegen.sql.table_join import table_join_views
from penstock.codegen.sql.table_rank import table_rank_views
from penstock.planner.physical.choose import Physical
from penstock.planner.physical.distinct_rows import DistinctRows
from penstock.planner.physical.key_groups import StreamGroups, TableSums, TableValues
from penstock.planner.physical.keyed_tables import KeyJoin, LatestRows, WindowJoin
from penstock.planner.physical.over_frames import RowFrames, TimeFrames
from penstock.planner.physical.reference_joins import AsOfLookup, CurrentLookup, ReferenceJoin
from penstock.planner.physical.stream_joins import PairJoin, PaneJoin
from penstock.planner.physical.stream_ranks import InstantRanks, WindowRanks
from penstock.planner.physical.table_ranks import KeyedRanks, MovingRanks
from penstock.planner.physical.window_groups import FixedWindows, PartialWindows, SessionBuckets, SparkSessions


def stateful_views(
    operator: Physical, name: str, below: tuple[str, ...], own: tuple[str, ...], partitions: int, clock: str
) -> tuple[AnyView, ...]:
    """The views of an operator; the last one is called `name`.

    `below`: the views of its inputs. `own`: the columns that its form adds. `partitions`: the number of partitions of
    the state. The view `clock` has the watermark and the number of the micro-batch.
    """
    buckets = operator.count_buckets(partitions)
    match operator:
        case FixedWindows() | SparkSessions():
            return window_aggregate_views(operator.node, name, below[0], own)
        case SessionBuckets():
            return session_views(operator.node, name, below[0], buckets)
        case PartialWindows():
            assert not own, "rows that have an order, of partial aggregates"
            return hop_pane_views(operator.node, name, below[0], buckets)
        case StreamGroups():
            return (group_aggregate_view(operator.node, name, below[0], own),)
        case TableSums():
            return retraction_views(operator.node, name, *below)
        case TableValues():
            return multiset_views(operator.node, name, below[0], buckets)
        case DistinctRows():
            return (distinct_view(operator.node, name, *below),)
        case PairJoin():
            return join_views(operator.node, operator.bucket_length, name, *below)
        case PaneJoin():
            return pane_join_views(operator.node, operator.pane, name, *below)
        case TimeFrames():
            return over_views(operator.node, name, *below)
        case RowFrames():
            return over_rows_views(operator.node, name, below[0], buckets)
        case InstantRanks() | WindowRanks():
            return rank_views(operator.node, name, *below)
        case LatestRows():
            return latest_views(operator.node, name, *below)
        case KeyJoin() | WindowJoin():
            return table_join_views(operator.node, name, below, own)
        case ReferenceJoin():
            return foreign_key_views(operator.node, name, below[0], below[1], buckets, clock)
        case CurrentLookup():
            return lookup_views(operator.node, name, below[0], below[1], buckets, clock)
        case AsOfLookup():
            return as_of_views(operator.node, name, below[0], below[1], buckets)
        case MovingRanks() | KeyedRanks():
            return table_rank_views(operator.node, name, below[0], buckets, clock)
        case _:
            assert_never(operator)
