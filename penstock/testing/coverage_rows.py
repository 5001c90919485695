"""A class that no test meets -> rows that meet it, as few as were found.

First come the rows that the class itself wants. They are traced to the declared relations, and what is left open is
filled in: at first with plain values, then by chance. Then come rows drawn by chance. Whatever is given was tried.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import takewhile
from random import Random

from sqlglot import exp

from penstock.compilation import Compilation
from penstock.evaluator import Arrival, QueryFailure, Row, Tables, Unsupported, clocks
from penstock.parser import name_text, string_text
from penstock.planner import interval_sql
from penstock.planner.catalog import Declared
from penstock.planner.plan import Column, Origin, RemoteLookup, RunningQuery, Scan
from penstock.planner.plan.walk import walk
from penstock.testing.coverage_classes import CoveredClass, Wanted, WantedStep, Watched, watch
from penstock.testing.drawn_rows import draw_row, list_values
from penstock.testing.given_values import START, convert
from penstock.testing.row_text import give_rows, time_text
from penstock.testing.script_relations import complete_row, list_stored
from penstock.testing.solved_values import MILLISECOND, vary_value
from penstock.testing.wanted_rows import Traced, trace

FILLINGS = 24
"""How often what a class leaves open is filled in."""
PLAIN_FILLINGS = 2
"""Fillings with plain values."""
HISTORIES = 80
"""Histories that are drawn for what is left."""
SECONDS = 5.0
"""How long rows are searched for one query. Only large scripts take so long."""
CLOSED = START + timedelta(hours=23)
"""The watermark behind which all usual rows are late."""
FAILURES = (Unsupported, QueryFailure, TypeError, ValueError, LookupError, ArithmeticError)
"""What guesses are given up for."""


@dataclass(frozen=True)
class GivenStep:
    """What is given together: rows, by relation; a watermark for all streams; and a stream that is silent."""

    rows: tuple[tuple[str, Row], ...] = ()
    closes: bool = False
    silent: str | None = None
    partners: int = 0
    """How many rows, the first ones, are there only for others to have a partner."""


History = tuple[GivenStep, ...]


def leave_out(history: History, number: int, place: int) -> History:
    """The history without one row of a step."""
    step = history[number]
    rows = (*step.rows[:place], *step.rows[place + 1 :])
    shorter = replace(step, rows=rows, partners=step.partners - (place < step.partners))
    return (*history[:number], shorter, *history[number + 1 :])


@dataclass
class ClassFinder:
    """Searches rows for the classes of one query."""

    compilation: Compilation
    query: RunningQuery
    name: str
    """What the query computes, as a test calls it."""
    chance: Random = field(default_factory=lambda: Random(0))

    def __post_init__(self) -> None:
        nodes = list(walk(self.query.root))
        self.remote = {node.origin.name for node in nodes if isinstance(node, RemoteLookup)}
        read = {node.origin.name for node in nodes if isinstance(node, Scan | RemoteLookup)}
        declared = (each for each in self.compilation.catalog.entries.values() if isinstance(each, Declared))
        self.origins: dict[str, Origin] = {
            each.origin.name: each.origin for each in declared if each.origin.name in read
        }
        self.clocks = clocks(self.query.root)
        self.traced = self.trace_partners()
        self.partners = dict(self.traced)
        self.values = list_values((self.compilation,))

    def find_all(self, classes: Iterable[CoveredClass]) -> Iterator[tuple[CoveredClass, list[str]]]:
        """The classes for which rows were found, with these as statements of a test."""
        left, end = list(classes), time.monotonic() + SECONDS
        for each in list(left):
            wanted = takewhile(lambda _: time.monotonic() < end, self.list_wanted(each))
            found = next((history for history in wanted if self.meets(history, each)), None)
            if found is not None:
                left.remove(each)
                yield each, self.write(self.shorten(found, each))
        for _ in range(HISTORIES if left else 0):
            if time.monotonic() > end:
                return
            history = self.draw()
            watched = self.watch(history)
            for each in [each for each in left if watched is not None and is_met(each, watched)]:
                left.remove(each)
                yield each, self.write(self.shorten(history, each))

    def meets(self, history: History, covered: CoveredClass) -> bool:
        watched = self.watch(history)
        return watched is not None and is_met(covered, watched)

    def watch(self, history: History) -> Watched | None:
        """What the query gets of these rows, None if the evaluator does not know."""
        try:
            return watch(self.query, self.list_arrivals(history))
        except FAILURES:
            return None

    def trace_partners(self) -> Traced:
        """Rows of all relations by which a row of the result is likely to come: joins and HAVING need several."""
        try:
            return trace(self.query.root, {}, partners=True)
        except FAILURES:
            return []

    def list_wanted(self, covered: CoveredClass) -> Iterator[History]:
        """What the class wants, filled in: at first beside rows of the other relations, so that the result shows it."""
        for filling in range(FILLINGS):
            for wanted in covered.wanted:
                history = self.fill(wanted, filling)
                if history is not None:
                    if filling < PLAIN_FILLINGS:
                        yield self.add_partners(history)
                    yield history

    def fill(self, wanted: Wanted, filling: int) -> History | None:
        try:
            return tuple(self.fill_step(each, filling) for each in wanted)
        except FAILURES:
            return None

    def add_partners(self, history: History) -> History:
        """The history, whose first step has more rows of the relations that have too few. Tables have a row once."""
        given = Counter(name for step in history for name, _ in step.rows)
        others = []
        for name, row in self.traced:
            if given[name]:
                given[name] -= 1
            else:
                others.append((name, row))
        try:
            rows = [(name, self.fill_row(self.origins[name], row, 0, 0)) for name, row in others]
        except FAILURES:
            return history
        rows = [each for place, each in enumerate(rows) if not self.origins[each[0]].key or each not in rows[:place]]
        first = replace(history[0], rows=(*rows, *history[0].rows), partners=len(rows))
        return (first, *history[1:])

    def fill_step(self, wanted: WantedStep, filling: int) -> GivenStep:
        traced = [each for node, values in wanted.rows for each in trace(node, values)]
        rows = [
            (name, self.fill_row(self.origins[name], row, filling, place if filling == 0 else 0))
            for place, (name, row) in enumerate(traced)
        ]
        return GivenStep(tuple(rows), wanted.closes, wanted.silent)

    def fill_row(self, origin: Origin, known: Row, filling: int, place: int) -> Row:
        """The row with plain values where nothing is wanted, or with drawn ones.

        Plain values differ from column to column, and at first from row to row, so that a wrong column shows.
        """
        known = fit_row(known, origin)
        if filling >= PLAIN_FILLINGS:
            return draw_row(origin, self.values, self.chance, known)
        stored = [each for each in list_stored(origin) if each.name != origin.operation]
        row = {each.name: vary_value(each.type, place + number) for number, each in enumerate(stored)}
        return complete_row(row | fit_row(self.partners.get(origin.name, {}), origin) | known, origin)

    def draw(self) -> History:
        """A few rows of each relation in two or three steps."""
        rows: list[list[tuple[str, Row]]] = [[] for _ in range(self.chance.randint(2, 3))]
        for name, origin in self.origins.items():
            for _ in range(self.chance.randint(0, 4)):
                try:
                    self.chance.choice(rows).append((name, draw_row(origin, self.values, self.chance)))
                except FAILURES:
                    continue
        return tuple(GivenStep(tuple(each)) for each in rows if each)

    def list_arrivals(self, history: History) -> list[Arrival]:
        tables: Tables = {}
        arrivals = []
        for step in history:
            rows: Tables = {}
            for name, row in step.rows:
                if name in self.remote:
                    tables[name] = [*self.drop_key(tables.get(name, []), name, row), row]
                else:
                    rows.setdefault(name, []).append(row)
            newest = {name: CLOSED + clock.delay * MILLISECOND for name, clock in self.clocks.items() if step.closes}
            idle = frozenset() if step.silent is None else frozenset({step.silent})
            arrivals.append(Arrival(rows, newest, idle, {name: list(each) for name, each in tables.items()}))
        return arrivals

    def drop_key(self, rows: list[Row], name: str, row: Row) -> list[Row]:
        """The rows of a table of a database with other keys than the row."""
        key = self.origins[name].key
        return [each for each in rows if any(each[part] != row[part] for part in key)]

    def shorten(self, history: History, covered: CoveredClass) -> History:
        """Leaves out each row without which the class is met as well, and steps without anything.

        Where partners bring rows of the result, it stays with rows. Partners go last, and only if it keeps its form.
        """
        is_shown = any(each.partners for each in history) and any(self.show_form(history))
        for number, step in enumerate(history):
            for place in reversed(range(step.partners, len(step.rows))):
                shorter = leave_out(history, number, place)
                if self.meets(shorter, covered) and (not is_shown or any(self.show_form(shorter))):
                    history = shorter
        form = self.show_form(history) if is_shown else []
        for number, step in enumerate(history if is_shown else ()):
            for place in reversed(range(step.partners)):
                shorter = leave_out(history, number, place)
                if self.meets(shorter, covered) and self.show_form(shorter) == form:
                    history = shorter
        kept = tuple(each for each in history if each.rows or each.closes or each.silent)
        together = (GivenStep(tuple(row for each in kept for row in each.rows)),)
        if len(kept) > 1 and not any(each.closes or each.silent for each in kept) and self.meets(together, covered):
            return together
        return kept if self.meets(kept, covered) else history

    def show_form(self, history: History) -> list[Counter[tuple[bool, ...]]]:
        """How many rows the result has after each step, by which of their values are NULL. Empty if it is unknown."""
        watched = self.watch(history)
        try:
            steps = [] if watched is None else [watched.rows(self.query.root, n) for n in range(len(watched.steps))]
        except FAILURES:
            return []
        return [Counter(tuple(value is None for value in row.values()) for row in rows) for rows in steps]

    def write(self, history: History) -> list[str]:
        """The rows as statements of a test. THEN stands between steps, for the test to say what comes."""
        lines: list[str] = []
        for step, arrival in zip(history, self.list_arrivals(history), strict=True):
            if lines:
                lines.append(f"THEN {name_text(self.name)} NOTHING;")
            lines += self.write_step(step, arrival)
        return [*lines, "GIVEN END;"] if self.clocks else lines

    def list_shown(self, origin: Origin) -> list[Column]:
        """The columns that the query reads, and the ones that a row has to have."""
        scans = [node for node in walk(self.query.root) if isinstance(node, Scan) and node.origin.name == origin.name]
        names = {each.name for scan in scans for each in scan.schema}
        names |= {part.name for scan in scans for each in scan.failures for part in each.condition.find_all(exp.Column)}
        names |= {*origin.key, *(each.name for each in origin.columns if not each.nullable)}
        names |= {name for name in (origin.time, origin.newest, origin.operation) if name is not None}
        if origin.computed_time is not None:
            names |= {each.name for each in origin.computed_time.find_all(exp.Column)}
        return [each for each in list_stored(origin) if each.name in names]

    def write_step(self, step: GivenStep, arrival: Arrival) -> Iterator[str]:
        given = {name for name, _ in step.rows}
        for name, rows in arrival.tables.items():
            if name in given:
                text = give_rows(name, rows, list_stored(self.origins[name]), START)
                yield text.replace("GIVEN ", "GIVEN TABLE ", 1)
        for name, rows in arrival.rows.items():
            yield give_rows(name, rows, self.list_shown(self.origins[name]), START)
        if step.closes:
            graces = {name: clock.delay - (self.origins[name].delay or 0) for name, clock in self.clocks.items()}
            texts = {name: time_text(CLOSED + grace * MILLISECOND, START) for name, grace in graces.items()}
            moments = ", ".join(f"{name_text(name)} {string_text(text)}" for name, text in texts.items())
            yield f"GIVEN WATERMARK OF {moments};"
        if step.silent is not None:
            length = interval_sql(self.origins[step.silent].idle or 0)
            yield f"GIVEN SILENCE OF {name_text(step.silent)} FOR {length};"


def fit_row(known: Row, origin: Origin) -> Row:
    """Values as a test can give them. Raises one of FAILURES for a value that its column cannot have."""
    types = {each.name: each.type for each in list_stored(origin) if each.name != origin.operation}
    return {name: convert(value, types[name], START) if name in types else value for name, value in known.items()}


def is_met(covered: CoveredClass, watched: Watched) -> bool:
    """Whether the rows have one of the class. What the evaluator does not know is none."""
    try:
        return covered.is_met(watched)
    except FAILURES:
        return False
