"""Operators and the rates of their streams -> how many rows and bytes each keeps when it keeps most."""

from __future__ import annotations

from penstock.planner.explain.rates import Rates, find_flow
from penstock.planner.physical.choose import choose
from penstock.planner.physical.estimates import Load, StateEstimate, UnknownFlow, seconds
from penstock.planner.physical.state_place import state_store
from penstock.planner.plan import RunningQuery, Settings, Stateful, StateStore
from penstock.planner.state import find_delay


def estimate_state(
    node: Stateful, query: RunningQuery, settings: Settings, rates: Rates
) -> StateEstimate | UnknownFlow:
    """The rows and bytes that the operator keeps at its peak, or why they are not known."""
    operator = choose(node)
    if not operator.FOLLOWS_RATES:
        return UnknownFlow("how many keys a table has does not follow from a rate")
    flows = []
    for below in node.inputs:
        flow = find_flow(below, rates)
        if isinstance(flow, UnknownFlow):
            return flow
        flows.append(flow)
    batch = settings.realtime_batch if settings.real_time else query.every or settings.trigger_interval
    lag = max(map(find_delay, node.inputs)) + operator.grace + batch
    on_heap = state_store(node, settings) is StateStore.MEMORY
    return operator.estimate(Load(flows, seconds(batch), seconds(lag), on_heap, settings.state_partitions))
