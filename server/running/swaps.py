"""The moment at which new definitions take the places of others, in the catalog and in its tables."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import psycopg

from penstock.server.planning.statement_planner import PlannedStatement
from penstock.server.running.building_query import BuildingQuery
from penstock.server.running.building_tables import find_holders, lock_tables, take_over
from penstock.server.running.live_script import LiveDefinition
from penstock.server.running.public_tables import list_relations
from penstock.server.running.reading_views import put_aside, put_back
from penstock.server.running.steps import Steps, Submit
from penstock.server.running.store import Store

LOCK_SECONDS, ATTEMPTS = 0.5, 6
"""How long a swap waits for its locks at once, and how often. PostgreSQL ends one of two sessions that wait for each
other after a second. The swap gives way before."""


@dataclass(frozen=True, slots=True)
class Member:
    """A new definition of a change. `building`: the queries that fill its table, None if it has none."""

    made: PlannedStatement
    replaced: LiveDefinition | None
    folder: str
    building: BuildingQuery | None

    @property
    def definition(self) -> LiveDefinition:
        """The new definition."""
        return self.made.planned.definition

    @property
    def building_name(self) -> str | None:
        """What the queries are called while they are built."""
        return None if self.building is None else self.building.name


@dataclass(eq=False)
class Replacement:
    """New definitions that take effect in one transaction.

    next_try: when the swap may be tried. failures: how often it could not be made, though nobody held a lock.
    rounds: how often its queries have read on, as some have waited long for others.
    """

    members: Sequence[Member]
    next_try: float = field(default=0.0)
    failures: int = field(default=0)
    rounds: int = field(default=0)

    @property
    def number(self) -> int:
        """The number of its first definition."""
        return self.members[0].definition.number

    @property
    def definitions(self) -> Iterator[LiveDefinition]:
        """All definitions that it makes or takes away."""
        for each in self.members:
            yield each.definition
            if each.replaced is not None:
                yield each.replaced

    @property
    def names(self) -> frozenset[str]:
        """What it makes and takes away, in lower case, with its queries as they are called meanwhile."""
        building = (each.building_name.lower() for each in self.members if each.building_name is not None)
        return frozenset[str]().union(*(each.names for each in self.definitions), building)

    @property
    def reads(self) -> frozenset[str]:
        """What its new definitions name, in lower case."""
        return frozenset[str]().union(*(each.definition.reads for each in self.members))

    @property
    def buildings(self) -> list[BuildingQuery]:
        """The queries that fill its tables."""
        return [each.building for each in self.members if each.building is not None]


def rehearse_swap(store: Store, submit: Submit, change: Replacement) -> Steps[None]:
    """Makes the swap and takes it back, while the old queries go on.

    Raises psycopg.Error if it cannot be made. Locks of the old queries do not count: the swap stops them.
    """
    db = store.db
    for left in reversed(range(ATTEMPTS)):
        try:
            with db.transaction(force_rollback=True):
                db.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS * 1000:.0f}ms'")
                _write_swap(store, change, ())
            return
        except psycopg.errors.LockNotAvailable:
            if left:
                yield submit(partial(time.sleep, LOCK_SECONDS / 4))
    holders = find_holders(db, [each.replaced for each in change.members if each.replaced is not None])
    if holders:
        raise psycopg.errors.LockNotAvailable(holders)


def swap_tables(store: Store, change: Replacement, paused: Collection[int]) -> None:
    """Puts all new tables into the places of the old ones. Raises psycopg.Error."""
    for left in reversed(range(ATTEMPTS)):
        try:
            with store.db.transaction():
                store.db.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS * 1000:.0f}ms'")
                _write_swap(store, change, paused)
            return
        except psycopg.errors.LockNotAvailable:
            if not left:
                raise
            time.sleep(LOCK_SECONDS / 4)


def _write_swap(store: Store, change: Replacement, paused: Collection[int]) -> None:
    replaced = [each.replaced for each in change.members if each.replaced is not None]
    put_aside(store.db, [name for each in replaced for name in list_relations(each)])
    lock_tables(store.db, replaced)
    made = [each.definition for each in change.members]
    versions = {each.number: 1 + store.find_version(each.relation or "") for each in made}
    for each in change.members:
        take_over(store.db, each.definition, each.replaced)
    put_back(store.db)
    for old in replaced:
        store.forget(old)
    for each in change.members:
        number, definition = each.definition.number, each.definition
        store.forget_building(number, each.building_name)
        store.keep(definition, each.folder, each.made.columns, each.made.graph, versions[number])
        if number in paused:
            store.pause(definition, True)
