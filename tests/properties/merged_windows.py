"""HOP over partial aggregates, and histories."""

from __future__ import annotations

from hypothesis import strategies as st
from msgspec.structs import replace

from penstock.evaluator.history import History
from penstock.planner.passes.merge_partials import can_merge
from penstock.planner.plan import Hop, WindowAggregate
from tests.model import plans
from tests.properties.streams import SECOND, histories, seconds, sources


@st.composite
def merged_windows(draw: st.DrawFn) -> tuple[WindowAggregate, History]:
    """Aggregates over windows that overlap and are merged of partial ones, and a history."""
    source, delays = draw(sources())
    mergeable = [each for each in plans.standard_aggregates() if not each.distinct]
    mergeable += [each for each in plans.other_aggregates() if each.name in ("name", "latest", "good")]
    node = plans.window_aggregate(
        source,
        draw(st.builds(lambda slide, more: Hop(slide, slide + more), seconds(1, 5), seconds(1, 7))),
        draw(st.sampled_from((tuple(mergeable), plans.standard_aggregates()[:1]))),
        keys=draw(st.sampled_from(((), ("k",), ("k", "v")))),
        grace=draw(st.sampled_from((0, 0, 2 * SECOND))),
    )
    assert can_merge(node)
    return replace(node, merges_partials=True), draw(histories(delays, max_rows=14))
