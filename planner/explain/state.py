"""Operators -> the bound on the state that each keeps, as text. A plan has one for every operator."""

from __future__ import annotations

from penstock.planner.connectors import connector_of
from penstock.planner.durations import duration_text
from penstock.planner.physical.choose import choose
from penstock.planner.physical.fuse import find_fused
from penstock.planner.physical.row_form import RowForm
from penstock.planner.physical.state_place import LONGEST_ON_HEAP, state_store
from penstock.planner.plan import (
    Intermediate,
    Node,
    RemoteLookup,
    RunningQuery,
    Settings,
    Stateful,
    StateStore,
    TableJoin,
)
from penstock.planner.plan.walk import stateful, walk
from penstock.planner.state import sends_changes

ROWS_AT_ONCE = 10_000
"""A lookup asks for the keys of one Arrow batch at once, which has so many rows unless --conf says otherwise."""


def state_bound(node: Node) -> str:
    """What the operator keeps at most; `none` for an operator that looks at single rows."""
    return choose(node).bound if isinstance(node, Stateful) else "none"


def state_of_changes(query: RunningQuery) -> dict[Node, str]:
    """What each operator of a query keeps beside its state, so that rows before and after can be sent."""
    fused = find_fused(query.root)
    # A join in the same query takes the rows of its sides as they are.
    below = [
        node.input
        for node in walk(query.root)
        if isinstance(node, Intermediate) and not isinstance(fused.get(node), TableJoin)
    ]
    kept: dict[Node, str] = {}
    upserts = connector_of(query.sink.connector).upserts
    for root, replaces in ((query.root, upserts), *((each, False) for each in below)):
        node = stateful(root)
        if isinstance(node, Stateful) and sends_changes(root, upserts=replaces) and not _knows_rows_before(node):
            kept[node] = "for its changes the last two rows" + " per key, forever" * bool(root.shape.key)
    return kept


def _knows_rows_before(node: Stateful) -> bool:
    """Whether the operator itself keeps the rows that it has sent."""
    return choose(node).find_form(is_kept=True, is_numbered=False) is RowForm.CHANGES


def lookup_cost(node: RemoteLookup, below: str) -> tuple[str, str]:
    """What the lookup asks the database in a micro-batch, and what it keeps. `below`: the relation of its rows."""
    options = {**connector_of(node.origin.connector).defaults, **dict(node.origin.options)}
    keys, size, time = (options.get(name) for name in ("batch_size", "cache_size", "cache_ttl"))
    assert isinstance(keys, int)
    assert isinstance(size, int)
    statement = count_text(min(keys, ROWS_AT_ONCE), "key")
    asked = f"≤ one key per row of {below}: one statement per {statement}, at least one per task"
    if not isinstance(time, int):
        return asked, "nothing is kept"
    return asked, f"≤ {count_text(size, 'answer')} in the cache of each worker, for {duration_text(time)}"


def count_text(number: int, noun: str) -> str:
    """`1 key`, `2 keys`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def store_text(node: Stateful, settings: Settings, *, has_table: bool) -> str:
    """The store and the reason for it. `has_table`: the same query computes a table that the operator reads."""
    where = {StateStore.MEMORY: "in memory", StateStore.ROCKSDB: "in RocksDB"}[state_store(node, settings)]
    if settings.state_store is not None:
        return f"{where}, as SET state_store says"
    reach = choose(node).horizon
    if has_table and reach is not None:
        return "in RocksDB, as the table that it reads"
    if reach is None:
        return f"{where}, as it grows with the keys"
    relation = "at most" if reach <= LONGEST_ON_HEAP else "more than"
    return f"{where}, as it spans {relation} {duration_text(LONGEST_ON_HEAP)}"
