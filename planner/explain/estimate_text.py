"""The estimate of an operator's state, and what it kept in the last run, as lines of EXPLAIN STATE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil

import msgspec

from penstock.planner.explain.rates import find_rates
from penstock.planner.explain.state_estimate import estimate_state
from penstock.planner.physical.estimates import UnknownFlow
from penstock.planner.physical.state_place import state_store
from penstock.planner.plan import KStream, Node, RunningQuery, Scan, Settings, Stateful, StateStore
from penstock.planner.plan.walk import list_nodes


class KeptState(msgspec.Struct, frozen=True):
    """The most that Spark reported of an operator's state in a run. Entries are rows, or tables of rows.

    `is_shared`: these are of all operators of its Spark query.
    """

    entries: int
    bytes: int
    is_shared: bool = False


class LastRun(msgspec.Struct, frozen=True):
    """What the last run of a script observed: rows per second of event time by stream, and by query its operators."""

    rates: Mapping[str, float] = {}
    kept: Sequence[Mapping[Node, KeptState]] = ()

    def find(self, query: int, node: Node) -> KeptState | None:
        """What the operator of a query, which is at this place of the script, has kept."""
        return self.kept[query].get(node) if query < len(self.kept) else None


NO_RUN = LastRun()


def list_estimates(
    node: Stateful, query: RunningQuery, settings: Settings, observed: Mapping[str, float], kept: KeptState | None
) -> Iterator[str]:
    """The lines; none where no stream of the query has a rate and nothing was observed."""
    rates = find_rates(query, observed)
    scans = (each for each in list_nodes(query.root) if isinstance(each, Scan) and isinstance(each.shape, KStream))
    if any(rates.find(each.origin.name) is not None for each in scans):
        found = estimate_state(node, query, settings, rates)
        if isinstance(found, UnknownFlow):
            yield f"no estimate: {found.reason}"
        else:
            limit = "about" if found.is_exact else "at most"
            size = size_text(found.bytes, at_most=not found.is_exact)
            rows = f"{_round(found.rows, at_most=not found.is_exact)} {'row' if found.rows == 1 else 'rows'}"
            packed = "packed in " if found.is_packed else ""
            place = "" if state_store(node, settings) is StateStore.MEMORY else " on disk"
            source = rates.describe(found.streams)
            yield f"estimate: {limit} {rows}, {packed}{size}{place} at {source}"
    if kept is not None:
        entries = "1 entry" if kept.entries == 1 else f"{kept.entries:,} entries"
        beside = ", with the other operators of its Spark query" if kept.is_shared else ""
        yield f"last run: at most {entries}, {size_text(kept.bytes)} in memory{beside}"


def size_text(size: float, *, at_most: bool = False) -> str:
    """`830 B`, `9.4 MB`: two digits. `at_most`: rounded up."""
    units = ("B", "kB", "MB", "GB", "TB", "PB")
    place = 0
    while (size > 990 if at_most else size >= 995) and place < len(units) - 1:
        size, place = size / 1000, place + 1
    if place and size < 9.9:
        return f"{(ceil(size * 10) / 10 if at_most else size):.1f} {units[place]}"
    return f"{_round(size, at_most=at_most)} {units[place]}"


def _round(number: float, *, at_most: bool) -> str:
    """A whole number, two digits of it."""
    unit = 10 ** max(len(str(int(number))) - 2, 0)
    return f"{(ceil if at_most else round)(number / unit) * unit:,}"
