"""Two versions of a script -> rows over which they come to other results, as few as were found.

Rows are drawn from the values at which scripts change their mind: the literals of both, the lengths of their intervals,
and what lies beside these. Both versions get the same rows in the same steps, up to the end of the input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from penstock.compilation import Compilation
from penstock.evaluator import Arrival, Row, Unsupported
from penstock.parser import name_text
from penstock.planner.catalog import Declared
from penstock.planner.plan import KStream, RemoteLookup, RunningQuery, Scan
from penstock.planner.plan.walk import walk
from penstock.testing.drawn_rows import draw_row, list_values
from penstock.testing.given_values import START
from penstock.testing.query_runs import QueryRun
from penstock.testing.row_text import difference, give_rows
from penstock.testing.script_relations import list_stored

Rows = list[tuple[int, str, Row]]
"""Rows with the steps in which they arrive, and the names of their relations."""


@dataclass(frozen=True)
class Found:
    """Rows over which a relation differs, and what differs."""

    relation: str
    rows: Rows
    table: list[str]


@dataclass
class Versions:
    """Two versions of a script, with the inputs and the outputs that both have."""

    old: Compilation
    new: Compilation

    unknown: dict[str, str] = field(default_factory=dict)
    """The relations that could not be compared so far, and why."""

    def __post_init__(self) -> None:
        self.pairs = dict(self.list_pairs())
        self.inputs = [each for each in self.old.catalog.entries.values() if isinstance(each, Declared)]
        self.read = {
            scan.origin.name
            for pair in self.pairs.values()
            for query in pair
            for scan in walk(query.root)
            if isinstance(scan, Scan)
        }
        self.values = list_values((self.old, self.new))

    def list_pairs(self) -> Iterator[tuple[str, tuple[RunningQuery, RunningQuery]]]:
        """The queries of both versions that write a relation, with columns of the same names."""
        others = {each.sink.name.lower(): each for each in self.new.queries}
        for query in self.old.queries:
            other = others.get(query.sink.name.lower())
            if other is None or shown_columns(query) != shown_columns(other):
                continue
            if not any(isinstance(node, RemoteLookup) for each in (query, other) for node in walk(each.root)):
                yield query.sink.name, (query, other)

    def find(self, seed: int) -> Found | None:
        """The difference over one drawn history."""
        rows = self.draw(Random(seed))
        for name in self.pairs:
            table = self.compare(name, rows)
            if table:
                return self.shorten(Found(name, rows, table))
        return None

    def compare(self, name: str, rows: Rows) -> list[str]:
        """What differs between the rows of a relation, no lines if nothing does or the evaluator does not know it."""
        query = self.pairs[name][0]
        try:
            old, new = (play(each, list_arrivals(rows)) for each in self.pairs[name])
        except Unsupported as problem:
            self.unknown[name] = str(problem)
            return []
        if isinstance(old, str) or isinstance(new, str):
            return [] if old == new else [f"before: {describe(old)}", f"after: {describe(new)}"]
        columns = [each for each in query.root.schema if not each.hidden]
        return difference(old, new, columns, START, ("only before", "only after"))

    def shorten(self, found: Found) -> Found:
        """Leaves out each row without which there is a difference as well."""
        place = 0
        while place < len(found.rows):
            rows = [*found.rows[:place], *found.rows[place + 1 :]]
            table = self.compare(found.relation, rows)
            if table:
                found = Found(found.relation, rows, table)
            else:
                place += 1
        together = [(0, name, row) for _, name, row in found.rows]
        table = self.compare(found.relation, together)
        return Found(found.relation, together, table) if table else found

    def draw(self, chance: Random) -> Rows:
        """A few rows of each input in two steps. In half of the histories they arrive in the order of their times."""
        rows: Rows = []
        for declared in self.inputs:
            if declared.origin.name in self.read:
                for _ in range(chance.randint(0, 4)):
                    rows.append(
                        (chance.randint(0, 1), declared.origin.name, draw_row(declared.origin, self.values, chance))
                    )
        if chance.random() < 0.5:
            times = {each.origin.name: each.origin.time for each in self.inputs}
            rows.sort(key=lambda each: str(each[2].get(times[each[1]] or "")))
            rows = [(int(place > len(rows) // 2), name, row) for place, (_, name, row) in enumerate(rows)]
        return sorted(rows, key=lambda each: each[0])


def shown_columns(query: RunningQuery) -> list[str]:
    return [each.name for each in query.root.schema if not each.hidden]


def list_arrivals(rows: Rows) -> list[Arrival]:
    """The rows in their steps, and the end of the input."""
    steps = sorted({step for step, _, _ in rows})
    arrivals = []
    for number in steps:
        arrived: dict[str, list[Row]] = {}
        for step, name, row in rows:
            if step == number:
                arrived.setdefault(name, []).append(row)
        arrivals.append(Arrival(arrived))
    return [*arrivals, Arrival(is_end=True)]


def play(query: RunningQuery, arrivals: Sequence[Arrival]) -> list[Row] | str:
    """All rows by the end of the input, or the code with which the query fails. Raises Unsupported."""
    run = QueryRun(query)
    sent: list[Row] = []
    for arrival in arrivals:
        run.step(arrival)
        if run.problem is not None:
            raise Unsupported(run.problem)
        if run.failed_with is not None:
            return run.failed_with
        sent += run.sent
    return sent if isinstance(query.root.shape, KStream) and not query.sink.table else list(run.now.values())


def describe(result: list[Row] | str) -> str:
    return f"it fails with {result}" if isinstance(result, str) else f"{len(result)} rows"


def list_given(found: Found, inputs: Sequence[Declared]) -> Iterator[str]:
    """The rows as statements of a test."""
    columns = {each.origin.name: list_stored(each.origin) for each in inputs}
    step = found.rows[0][0] if found.rows else 0
    for number, name, row in found.rows:
        if number != step:
            yield f"THEN {name_text(found.relation)} NOTHING;"
            step = number
        yield give_rows(name, [row], columns[name], START)
    yield "GIVEN END;"
