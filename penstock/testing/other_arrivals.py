"""The rows of a test, arriving otherwise: in other micro-batches, and in other orders within the declared lateness.

Neither may change what comes out by the end. The rows that the test itself makes late or rejected are left out, and
arrivals by which another row would be late do not count. Lookups meet a table as it is when a row arrives, and a
changelog has an order. So queries over these are tried in other micro-batches or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from penstock.evaluator import Arrival, Row, clocks
from penstock.planner.plan import Column, KStream, RemoteLookup, RunningQuery, Scan, TableLookup
from penstock.planner.plan.walk import walk
from penstock.testing.query_runs import QueryRun
from penstock.testing.row_text import difference, give_rows

BORDERS = "where micro-batches begin"
ORDER = "the order in which rows arrive"
MICROSECOND = timedelta(microseconds=1)
ORDERS = 2
"""Random orders that are tried."""

Rows = list[tuple[str, Row]]
"""Rows with the names of their relations, in the order of their arrival."""


@dataclass(frozen=True)
class Dependence:
    """Rows that arrive otherwise, and what differs then."""

    cause: str
    rows: Rows
    table: list[str]


def find_dependence(query: RunningQuery, arrivals: Sequence[Arrival], start: datetime) -> Dependence | None:
    """An arrival by which other rows come out, with as few rows as were found to show it."""
    nodes = list(walk(query.root))
    if any(isinstance(node, TableLookup | RemoteLookup) for node in nodes):
        return None
    used = list_used(query, arrivals)
    if used is None or len(used) < 2:
        return None
    is_ordered = query.sink.table or any(isinstance(node, Scan) and not is_stream(node) for node in nodes)
    others = [] if is_ordered else [(ORDER, each) for each in draw_orders(query, used)]
    orders = [(BORDERS, used), *others]
    found = differ(query, orders, start)
    return None if found is None else shorten(query, found, start)


def is_stream(scan: Scan) -> bool:
    return isinstance(scan.shape, KStream)


def list_used(query: RunningQuery, arrivals: Sequence[Arrival]) -> Rows | None:
    """The rows that the query uses, None if it fails or is not known."""
    run = QueryRun(query)
    used: Rows = []
    for arrival in arrivals:
        run.step(arrival)
        left_out = [row for rows in (*run.late.values(), *run.rejected.values()) for row in rows]
        for name, rows in arrival.rows.items():
            used += [(name, row) for row in rows if run.reads(name) and not any(row is each for each in left_out)]
    return None if run.problem is not None or run.failure is not None else used


def differ(query: RunningQuery, orders: Sequence[tuple[str, Rows]], start: datetime) -> Dependence | None:
    """What differs between all rows at once, in the first order, and rows one by one, in any order."""
    whole = play(query, [Arrival(gather(orders[0][1]))])
    for cause, order in orders:
        single = play(query, [Arrival({name: [row]}) for name, row in order])
        if whole is not None and single is not None:
            table = difference(whole, single, query.root.schema, start)
            if table:
                return Dependence(cause, order, table)
    return None


def gather(rows: Rows) -> dict[str, list[Row]]:
    """The rows by relation."""
    gathered: dict[str, list[Row]] = {}
    for name, row in rows:
        gathered.setdefault(name, []).append(row)
    return gathered


def play(query: RunningQuery, arrivals: Sequence[Arrival]) -> list[Row] | None:
    """All rows by the end of the input, None if a row is late or the query does not get so far."""
    run = QueryRun(query)
    sent: list[Row] = []
    for arrival in (*arrivals, Arrival(is_end=True)):
        run.step(arrival)
        if run.problem is not None or run.failure is not None or run.late:
            return None
        sent += run.sent
    is_stream = isinstance(query.root.shape, KStream) and not query.sink.table
    return sent if is_stream else list(run.now.values())


def draw_orders(query: RunningQuery, used: Rows) -> Iterator[Rows]:
    """Orders in which no row is late: each row is moved back by less than its stream may be late."""
    chance = Random(0)
    times = clocks(query.root)

    def place(name: str, row: Row, share: Callable[[], float]) -> tuple[int, float]:
        clock = times.get(name)
        if clock is None:
            return 0, share()
        time: datetime = row[clock.time]
        return (time - datetime.min) // MICROSECOND + 1000 * int(clock.delay * share()), share()

    yield [used[i] for i in sorted(range(len(used)), key=lambda i: (place(*used[i], lambda: 0.0), i))]
    for _ in range(ORDERS):
        places = [place(name, row, chance.random) for name, row in used]
        yield [used[i] for i in sorted(range(len(used)), key=places.__getitem__)]


def shorten(query: RunningQuery, found: Dependence, start: datetime) -> Dependence:
    """Leaves out each row without which there is a difference as well."""
    place = 0
    while place < len(found.rows):
        rows = [*found.rows[:place], *found.rows[place + 1 :]]
        shorter = differ(query, [(found.cause, rows)], start) if len(rows) > 1 else None
        if shorter is None:
            place += 1
        else:
            found = Dependence(found.cause, rows, shorter.table)
    return found


def given_text(found: Dependence, columns: dict[str, tuple[Column, ...]], start: datetime) -> str:
    """The rows as statements of a test, in the order of their arrival."""
    return "\n".join(give_rows(name, [row], columns[name], start) for name, row in found.rows)
