"""Changes of what is in force: new definitions are built beside the old ones, and take their places all at once."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psycopg

from penstock import runtime
from penstock.diagnostics import CompileError, Diagnostic, Source, show_text
from penstock.diagnostics.codes.running import R060
from penstock.diagnostics.codes.server import V006, V020
from penstock.parser import ast, list_statements
from penstock.server.planning.statement_planner import PlannedStatement, describe_planned
from penstock.server.running.building_query import MOST_ROUNDS, BuildingQuery
from penstock.server.running.building_tables import check_buildable, drop_built, drop_left, redirect_output
from penstock.server.running.in_force import InForce
from penstock.server.running.live_script import LiveDefinition, LiveScript, Planned
from penstock.server.running.split_statements import command_tag
from penstock.server.running.steps import Steps, await_steps
from penstock.server.running.store import BuildingStatement
from penstock.server.running.swaps import Member, Replacement, rehearse_swap, swap_tables

LOG = logging.getLogger("penstock.engine")
TRY_SECONDS = 10.0
"""The pause before another attempt to swap, when a session holds a lock on the old table."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A statement that is to take effect with others. `replaces`: the definition whose place it takes."""

    number: int
    text: str
    author: str
    replaces: LiveDefinition | None
    file: str = "statement"


class Replacements:
    """The changes that have begun and have not taken effect. To be used by one thread."""

    def __init__(self, in_force: InForce) -> None:
        self._in_force = in_force
        self._changes: list[Replacement] = []

    @property
    def buildings(self) -> list[BuildingQuery]:
        """The queries of all changes."""
        return [query for each in self._changes for query in each.buildings]

    @property
    def paused(self) -> dict[int, bool]:
        """Whether the queries of a definition are paused, by the numbers of all definitions that are built."""
        members = [each for change in self._changes for each in change.members]
        return {it.definition.number: it.building is not None and it.building.state == "PAUSED" for it in members}

    def find(self, name: ast.Name) -> tuple[Replacement, BuildingQuery] | None:
        """The change whose queries have that name while they are built."""
        for change in self._changes:
            for query in change.buildings:
                if query.name.lower() == name.folded:
                    return change, query
        return None

    def find_numbered(self, number: int) -> Replacement:
        """The change whose first definition has that number."""
        return next(each for each in self._changes if each.number == number)

    def find_replacing(self, definition: LiveDefinition) -> Replacement | None:
        """The change that does nothing but take the place of a definition."""
        for change in self._changes:
            old = change.members[0].replaced
            if len(change.members) == 1 and old is not None and old.number == definition.number:
                return change
        return None

    def find_touching(self, names: Collection[str]) -> list[Replacement]:
        """The changes that make or take away something of these names, in lower case."""
        return [each for each in self._changes if not each.names.isdisjoint(names)]

    def check_untouched(self, made: frozenset[str], read: frozenset[str]) -> None:
        """Raises CompileError for a statement that makes, takes away or reads what a change is about."""
        for change in self._changes:
            if not (made & (change.names | change.reads) or read & change.names):
                continue
            member = change.members[0]
            found = V020.at(None, name=member.definition.relation)
            names = " and ".join(f"`{each.name}`" for each in change.buildings)
            raise CompileError([found.with_hint(f"wait until SHOW QUERIES has no {names}, or DROP QUERY it")])

    def begin(
        self, made: Sequence[tuple[PlannedStatement, LiveDefinition | None]], *, waits: bool
    ) -> Steps[Replacement]:
        """Begins to build definitions beside the ones that they take the places of.

        `waits`: until the first micro-batches, so that queries that fail at once are refused. Otherwise they are tried
        again, and held in the end. A change without queries takes effect at once.

        Raises:
            CompileError: a definition cannot be built beside the old one.
            RunError: a query fails at once.
        """
        store = self._in_force.store
        for planned, replaced in made:
            check_buildable(store.db, planned.planned.definition, replaced)
        folder = self._in_force.name_folder
        change = self._add([(each, replaced, folder(_number(each))) for each, replaced in made])
        try:
            drop_built(store.db, [each.definition for each in change.members])
            with store.db.transaction():
                for each in change.members:
                    store.keep_building(_row(change, each), _query_row(each))
            if not change.buildings:
                yield from self._swap(change)
            for query in change.buildings:
                LOG.info("%s is built beside the old one", query.definition.relation)
                if waits:
                    yield from query.start()
                else:
                    self._start(query)
        except Exception:
            if change in self._changes:
                yield from self.cancel(change)
            raise
        return change

    def restore(self) -> None:
        """Goes on with what the last engine was building. A change whose old definitions are gone is given up."""
        store, script = self._in_force.store, self._in_force.script
        rows = store.list_building()
        for number in dict.fromkeys(each.change for each in rows):
            own = [each for each in rows if each.change == number]
            old = [None if each.replaces is None else script.definitions.get(each.replaces) for each in own]
            wanted = [Wanted(each.number, each.text, each.author, it) for each, it in zip(own, old, strict=True)]
            try:
                if any(each.replaces is not None and it is None for each, it in zip(own, old, strict=True)):
                    raise CompileError([V006.at(None, name=f"of statement {number}")])
                made = plan_together(script, wanted)
            except CompileError as error:
                LOG.warning("a change is given up: %s", error)
                store.forget_change(number)
                for each in own:
                    shutil.rmtree(Path(each.folder), ignore_errors=True)
                continue
            change = self._add([(each, it, row.folder) for each, it, row in zip(made, old, own, strict=True)])
            for row, member in zip(own, change.members, strict=True):
                if member.building is None:
                    continue
                if row.is_paused:
                    await_steps(member.building.pause())
                else:
                    self._start(member.building)
        drop_left(store.db, [each.definition for change in self._changes for each in change.members])

    def cancel(self, change: Replacement) -> Steps[None]:
        """Gives a change up. The old definitions stay in force."""
        for query in change.buildings:
            yield from query.stop()
        store = self._in_force.store
        with store.db.transaction():  # a restart must not go on into an empty table
            drop_built(store.db, [each.definition for each in change.members])
            for each in change.members:
                store.forget_building(each.definition.number, each.building_name)
        self._leave(change)
        for each in change.members:
            shutil.rmtree(Path(each.folder), ignore_errors=True)

    def look(self) -> None:
        """Notices what has become of the queries, and begins with swaps that can be made."""
        works = self._in_force.works
        for change in list(self._changes):
            for query in change.buildings:
                name = frozenset({query.name.lower()})
                steps = None if works.forbid(name) else query.look()
                if steps is not None:
                    works.begin(steps, name)
            built = all(each.is_caught_up and each.state not in ("PAUSED", "HELD") for each in change.buildings)
            ready = built and time.monotonic() >= change.next_try
            if ready and not works.forbid(change.names):
                works.begin(self._try_to_swap(change), change.names)

    def _add(self, made: Sequence[tuple[PlannedStatement, LiveDefinition | None, str]]) -> Replacement:
        members = []
        for planned, replaced, folder in made:
            definition = planned.planned.definition
            building = None
            if planned.program is not None:
                program = redirect_output(planned.program, definition)
                policy, submit = self._in_force.settings.restarts, self._in_force.works.submit
                building = BuildingQuery(definition, partial(runtime.connect, None, folder), program, submit, policy)
                old = None if replaced is None else self._in_force.live.get(replaced.number)
                if old is not None:
                    old.explain_replacement = building.describe
            members.append(Member(planned, replaced, folder, building))
        change = Replacement(members)
        self._changes.append(change)
        return change

    def _start(self, query: BuildingQuery) -> None:
        self._in_force.works.begin(query.try_to_start(), frozenset({query.name.lower()}))

    def _leave(self, change: Replacement) -> None:
        self._changes.remove(change)
        for each in change.members:
            old = None if each.replaced is None else self._in_force.live.get(each.replaced.number)
            if old is not None:
                old.explain_replacement = None

    def _try_to_swap(self, change: Replacement) -> Steps[None]:
        """Swaps, or says why it cannot be done now. Queries that have waited long for others read on first.

        A change that fails as often as a query may fail is held.
        """
        try:
            yield from rehearse_swap(self._in_force.store, self._in_force.works.submit, change)
            if any(each.is_stale for each in change.buildings) and change.rounds < MOST_ROUNDS:
                change.rounds += 1
                for query in change.buildings:
                    yield from query.try_to_start()
                return
            yield from self._swap(change)
        except psycopg.Error as error:
            if self._in_force.store.db.closed:
                raise
            change.next_try = time.monotonic() + TRY_SECONDS
            for query in change.buildings:
                query.fault = _explain(query, error)
                LOG.warning("%s cannot take its place yet: %s", query.name, query.fault.message)
            if not isinstance(error, psycopg.errors.LockNotAvailable | psycopg.errors.DeadlockDetected):
                change.failures += 1
                if change.failures > self._in_force.settings.restarts.attempts:
                    for query in change.buildings[:1]:
                        query.hold()  # the others wait for it

    def _swap(self, change: Replacement) -> Steps[None]:
        """Puts all new definitions into force in one transaction.

        Raises psycopg.Error, and lets the old queries go on, while others hold locks on their tables. If the
        connection is lost, the swap may be committed: they stay stopped until the engine has looked at the catalog.
        """
        force = self._in_force
        stopped = []
        paused = set()
        for each in change.members:
            old = None if each.replaced is None else force.live.get(each.replaced.number)
            if old is not None and old.state == "PAUSED":
                paused.add(each.definition.number)
            if old is not None and old.state not in ("PAUSED", "HELD"):
                yield from old.stop()
                stopped.append(old)
        try:
            swap_tables(force.store, change, paused)
        except Exception:
            if not force.store.db.closed:
                for old in stopped:
                    yield from old.try_to_start()
            raise
        self._leave(change)
        for each in reversed(change.members):
            if each.replaced is not None:
                force.remove(each.replaced)
        for each in change.members:
            force.add(each.made.planned, each.folder)
        for each in change.members:
            live = force.make_live(each.definition, each.made.program)
            LOG.info("%s is in force", each.definition.relation)
            if live is not None:
                yield from live.pause() if each.definition.number in paused else live.try_to_start()
                force.report(live)


def plan_together(script: LiveScript, wanted: Sequence[Wanted]) -> list[PlannedStatement]:
    """The plans of statements that take effect together, each over the ones before it. The script stays as it is.

    Raises:
        CompileError: one is refused.
    """
    after = script.copy()
    for each in reversed(wanted):
        if each.replaces is not None:
            after.remove(each.replaces)
    made = []
    for each in wanted:
        [(statement, _)] = list_statements(Source("kept", each.text))
        planned: Planned = after.plan(statement, Source(each.file, each.text), each.number, each.author, frozenset())
        after.add(planned)
        made.append(describe_planned(command_tag(statement), planned))
    return made


def _number(made: PlannedStatement) -> int:
    return made.planned.definition.number


def _row(change: Replacement, member: Member) -> BuildingStatement:
    definition = member.definition
    replaces = None if member.replaced is None else member.replaced.number
    return BuildingStatement(
        *(definition.number, change.number, replaces, definition.text, definition.author), False, member.folder
    )


def _query_row(member: Member) -> tuple[str, object] | None:
    return None if member.building_name is None else (member.building_name, member.made.graph)


def _explain(query: BuildingQuery, error: psycopg.Error) -> Diagnostic:
    message = (error.diag.message_primary or str(error)).strip()
    hint = "end the sessions that use the old table"
    if isinstance(error, psycopg.errors.DependentObjectsStillExist):
        hint = error.diag.message_hint or "drop the views that read the old table"
    return R060.at(None, query=query.name, reason=show_text(message)).with_hint(show_text(hint))
