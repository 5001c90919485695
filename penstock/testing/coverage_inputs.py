"""Classes of what arrives: rows out of order, late or rejected, silence, and records of tables that replace others."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise

from penstock.evaluator import History, Tables, clocks, columns, evaluate_scalar, watermarks
from penstock.planner.connectors import connector_of
from penstock.planner.plan import KTable, Origin, RunningQuery, Scan
from penstock.planner.plan.scan import DELETES as DELETING
from penstock.planner.plan.walk import walk
from penstock.testing.coverage_classes import CoveredClass, WantedStep, Watched, want
from penstock.testing.given_values import START
from penstock.testing.solved_values import MILLISECOND, plain_value
from penstock.testing.wanted_rows import DELETES

MINUTE = START + timedelta(minutes=1)


def list_input_classes(scan: Scan, query: RunningQuery, delay: int | None) -> Iterator[CoveredClass]:
    """Classes of a declared relation. `delay`: how late its rows may be, None where the query does not wait for it."""
    if isinstance(scan.shape, KTable):
        yield from list_record_classes(scan)
    elif scan.origin.time is not None and scan.origin.delay is not None:
        yield from list_time_classes(scan, query, delay, scan.origin.time)
    types = columns(scan.origin.columns)
    names = [each.name for each in scan.origin.columns]
    for failure in scan.failures:
        yield CoveredClass(
            f"a row that is rejected because {failure.text} fails with {failure.code}",
            lambda each, failure=failure: any(  # type: ignore[misc]
                evaluate_scalar(failure.condition, row, types) is True
                for row in each.rejected.get(scan.origin.name, [])
            ),
            tuple(want((scan, {name: 0})) for name in names if plain_value(types[name]) == 1),
        )


def list_time_classes(scan: Scan, query: RunningQuery, delay: int | None, time: str) -> Iterator[CoveredClass]:
    """Classes of the event times of a stream."""
    name = scan.origin.name
    if delay is not None:
        if delay > 0:
            wanted = want((scan, {time: START + delay * MILLISECOND}), (scan, {time: START}))
            yield CoveredClass(
                f"a row of {name} out of order", lambda each: is_out_of_order(each, scan, time), (wanted,)
            )
        yield CoveredClass(
            f"a row of {name} that is late",
            lambda each: any(step.get(name) for step in each.late_steps),
            ((WantedStep(closes=True), WantedStep(((scan, {time: START}),))),),
        )
        if computes_no_time(scan):
            yield from list_watermark_classes(scan, query, time)
    if scan.origin.idle is not None and delay is not None:
        yield CoveredClass(
            f"silence of {name}, by which it is idle while other streams have rows",
            lambda each: any(name in idle and (others or is_alone(query)) for idle, others in each.idle),
            ((WantedStep(tuple((other, {}) for other in list_others(query, name)), silent=name),),),
        )
    if connector_of(scan.origin.connector).parses_records and scan.origin.computed_time is None:
        yield CoveredClass(
            f"a row of {name} without an event time",
            lambda each: any(row[time] is None for row in each.rejected.get(name, [])),
            (want((scan, {time: None})),),
        )


def computes_no_time(scan: Scan) -> bool:
    return scan.origin.computed_time is None


def list_watermark_classes(scan: Scan, query: RunningQuery, time: str) -> Iterator[CoveredClass]:
    """Rows of a later step exactly at the watermark, and one millisecond before it."""
    name, times = scan.origin.name, clocks(query.root)
    scans = {each.origin.name: each for each in walk(query.root) if isinstance(each, Scan)}
    moved = tuple(
        (scans[each], {clock.time: MINUTE + clock.delay * MILLISECOND})
        for each, clock in times.items()
        if each in scans
    )

    def in_force(watched: Watched) -> list[datetime]:
        batches = tuple({each: step.get(each, []) for each in times} for step in watched.steps)
        return watermarks(History(batches), times)

    def has_row(watched: Watched, steps: list[Tables], behind: timedelta) -> bool:
        limits = zip(in_force(watched), steps, strict=False)
        return any(row[time] == limit - behind for limit, step in limits for row in step.get(name, []))

    yield CoveredClass(
        f"a row of {name} at the watermark, the last one that is not late",
        lambda each: has_row(each, each.steps, timedelta()),
        ((WantedStep(moved), WantedStep(((scan, {time: MINUTE}),))),),
    )
    yield CoveredClass(
        f"a row of {name} one millisecond before the watermark, the first one that is late",
        lambda each: has_row(each, each.late_steps, MILLISECOND),
        ((WantedStep(moved), WantedStep(((scan, {time: MINUTE - MILLISECOND}),))),),
    )


def list_others(query: RunningQuery, name: str) -> list[Scan]:
    """The other streams that a query reads."""
    scans = (each for each in walk(query.root) if isinstance(each, Scan) and not isinstance(each.shape, KTable))
    return list({each.origin.name: each for each in scans if each.origin.name != name}.values())


def is_alone(query: RunningQuery) -> bool:
    return len({each.origin.name for each in walk(query.root) if isinstance(each, Scan)}) == 1


def is_out_of_order(watched: Watched, scan: Scan, time: str) -> bool:
    """Whether a row is earlier than one that has arrived before it."""
    times = [row[time] for step in watched.steps for row in step.get(scan.origin.name, [])]
    return any(later < earlier for earlier, later in pairwise(times))


def list_record_classes(scan: Scan) -> Iterator[CoveredClass]:
    """Classes of the records of a changelog."""
    origin = scan.origin

    def keys(watched: Watched) -> list[tuple[object, ...]]:
        records = (row for step in watched.steps for row in step.get(origin.name, []))
        return [tuple(repr(row[name]) for name in origin.key) for row in records]

    yield CoveredClass(
        f"a record of {origin.name} in the place of another one",
        lambda each: len(set(keys(each))) < len(keys(each)),
        (want((scan, {}), (scan, {})),),
    )
    if origin.operation is not None:
        yield CoveredClass(
            f"a record of {origin.name} that deletes a row",
            lambda each: any(is_deleting(row, origin) for step in each.steps for row in step.get(origin.name, [])),
            (want((scan, {}), (scan, {DELETES: True})),),
        )


def is_deleting(row: dict[str, object], origin: Origin) -> bool:
    return origin.operation is not None and str(row.get(origin.operation)).lower() in DELETING
