"""Scan -> the views that lead from a registered source to the rows that a query computes with.

Each row has exactly one fate, counted as it is decided: rejected (malformed, or without a believable event time), late,
filtered (no operator above wants it) or used. A stateful query drops late rows itself, so that Spark has none to drop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from penstock.codegen.cut_queries import is_intermediate
from penstock.codegen.program import Input, Metric, Rejects, View, ViewWatermark
from penstock.codegen.record_reasons import FUTURE, MALFORMED, NO_KEY, NO_SEQUENCE, NO_TIME, NULL_IN, PAST
from penstock.codegen.sql.clock import read_row_watermark, read_watermark
from penstock.codegen.sql.printing import print_inline, print_sql
from penstock.codegen.sql.reasons import WHY
from penstock.codegen.sql.row_accounts import count_if
from penstock.codegen.sql.row_forms import DELETED, DELTA, ORDER, delta_views, is_delete, stored_changes, upserts_view
from penstock.codegen.sql.trees import (
    alias,
    both,
    call,
    cast,
    column,
    columns,
    either,
    is_null,
    null,
    number,
    only_if,
    select,
    struct,
    text,
)
from penstock.planner.connectors import connector_of
from penstock.planner.plan import Column, Expression, KTable, Origin, Scan, WTable
from penstock.planner.plan.late import LATENESS
from penstock.planner.types import BIGINT, STRING, TIMESTAMP

COMMIT = "_commit"
"""In a read: the place of a record's file among the files that a query has committed, NULL where none has
written them.
"""
TOMBSTONE = "_tombstone"
"""Whether a record has a key and no value, and so deletes the row."""
EXPLAINED = ("json", "csv", "parquet")
"""The formats whose records say why they are malformed."""

_EPOCH = "1970-01-01 00:00:00"  # where Spark's watermark begins
_HOUR = 3_600_000_000  # microseconds
# Spark's watermark is moved behind every event time by the end row; rows this late cannot be real, they are rejected.
_END_OF_TIME = "9000-01-01 00:00:00"


@dataclass(frozen=True, slots=True)
class Reading:
    """How a query reads a stream."""

    wanted: Expression | None
    """The condition under which some operator above uses a row, None if all are used."""
    delay: int | None
    """The delay of the watermark in milliseconds, None in a query without a watermark."""
    hold_back: int
    """The milliseconds by which Spark's watermark is behind the true one. Rows are late by the true one."""
    keeps_late: bool
    """Late rows are kept, with their lateness."""
    reports_newest: bool = False
    """The newest event time is reported as a metric."""
    own: tuple[str, ...] = ()
    """The columns that upserts or deltas of an intermediate changelog have beside the columns of the table."""
    uses_late: bool = False
    """Late rows are used like others."""


def input_of(scan: Scan, view: str, *, at_once: bool = False, by_arrival: bool = False) -> Input:
    """The source as the runtime registers it; `at_once`: without a limit on a micro-batch.

    `by_arrival`: each row carries the place of its record.
    """
    origin, is_table = scan.origin, isinstance(scan.shape, KTable)
    limits = [each.name for each in connector_of(origin.connector).options if each.limits_batch]
    options = tuple((name, value) for name, value in origin.options if not (at_once and name in limits))
    if is_table and is_intermediate(origin):
        return Input(origin.name, view, origin.connector, options, stored_changes(origin.columns))
    stored = tuple((each.name, str(each.type)) for each in _stored_columns(origin))
    if isinstance(scan.shape, WTable):
        stored = (*stored, (ORDER, str(BIGINT)))
    apart, marked = connector_of(origin.connector).keys_apart, connector_of(origin.connector).marks_deletes
    return Input(
        origin.name,
        view,
        origin.connector,
        options,
        stored,
        ordered=is_table or by_arrival,
        metadata=origin.metadata,
        key=origin.key if (marked and is_table) or (apart and "key_format" in dict(options)) else (),
        tombstones=marked and is_table,
        newest_by_place=apart and is_table and origin.newest is None,
        partitions=origin.partitions,
    )


def scan_views(scan: Scan, name: str, query: str, reading: Reading) -> tuple[View, ...]:
    """The views from `<name>_raw`, which the runtime registers, to `name`."""
    origin = scan.origin
    if isinstance(scan.shape, KTable):
        if is_intermediate(origin):
            return _changes(scan, name, reading.own)
        return _records(scan, name) if reading.delay is None else _timed_records(scan, name, query, reading)
    if isinstance(scan.shape, WTable):
        return _windows(scan, name, query, reading)
    place = [] if not reading.own else [each for each in _order_columns(origin) if each not in _shown_columns(origin)]
    read = View(f"{name}_read", _classify(scan, f"{name}_raw", beside=place))
    if reading.delay is None:
        sound = is_null(column("_reason"))
        order = [alias(struct(**_record_place(origin)), ORDER)] if reading.own else []
        kept = select([*columns(origin.columns), *order], read.name).where(sound, copy=False)
        counted = View(read.name, read.sql, metrics=_fates(origin, exp.Not(this=sound.copy()), sound, reading.wanted))
        return counted, View(name, print_sql(kept))
    timed = _with_end(origin, f"{name}_timed", read.name, query, reading.delay + reading.hold_back)
    split = _split_late(scan, f"{name}_split", timed.name, query, reading)
    is_used = exp.Not(this=is_null(column("_late"))) if reading.uses_late else _in_time()
    kept = select(columns(origin.columns), split.name).where(is_used, copy=False)
    return read, timed, split, View(name, print_sql(kept))


def _changes(scan: Scan, name: str, own: tuple[str, ...]) -> tuple[View, ...]:
    """What another query has sent, as deltas or as upserts."""
    origin = scan.origin
    counts = tuple(Metric(f"{fate}:{origin.name}", "COUNT(*)") for fate in ("in", "used"))
    items = (column(each) for each, _ in stored_changes(origin.columns))
    read = View(f"{name}_read", print_sql(select(items, f"{name}_raw")), metrics=counts)
    if DELTA in own:
        return read, *delta_views(origin.columns, name, read.name, own)
    return read, upserts_view(origin.columns, name, read.name)


def _windows(scan: Scan, name: str, query: str, reading: Reading) -> tuple[View, ...]:
    """The rows of windows that another query has sent, as upserts: none is deleted."""
    origin = scan.origin
    stored = [*columns(origin.columns), column(ORDER)]
    if reading.delay is None:
        counts = tuple(Metric(f"{fate}:{origin.name}", "COUNT(*)") for fate in ("in", "used"))
        read = View(f"{name}_read", print_sql(select(stored, f"{name}_raw")), metrics=counts)
        items = [*columns(origin.columns), column(ORDER), alias(exp.Boolean(this=False), DELETED)]
        return read, View(name, print_sql(select(items, read.name)))
    items = [*stored, alias(null(STRING), "_reason")]
    read = View(f"{name}_read", print_sql(select(items, f"{name}_raw")))
    delay = reading.delay + reading.hold_back
    timed = _with_end(origin, f"{name}_timed", read.name, query, delay, beside=[ORDER])
    split = _split_late(scan, f"{name}_split", timed.name, query, reading, beside=[ORDER])
    items = [*columns(origin.columns), column(ORDER), alias(exp.Boolean(this=False), DELETED)]
    return read, timed, split, View(name, print_sql(select(items, split.name).where(_in_time(), copy=False)))


def _records(scan: Scan, name: str) -> tuple[View, ...]:
    """The records of a changelog, each with its place in the order of the records: all of them are used."""
    origin, sound = scan.origin, is_null(column("_reason"))
    counts = _fates(origin, exp.Not(this=sound.copy()), sound.copy(), None)
    read = View(f"{name}_read", _classify(scan, f"{name}_raw"), metrics=counts)
    return read, View(name, print_sql(_order_records(origin, read.name).where(sound, copy=False)))


def records_now(scan: Scan, name: str) -> tuple[View, ...]:
    """The records of a changelog that a read finds there, in the order in which they were committed."""
    read = View(f"{name}_read", _classify(scan, f"{name}_raw", beside=[COMMIT]))
    records = _order_records(scan.origin, read.name, before=[COMMIT])
    return read, View(f"{name}_records", print_sql(records.where(is_null(column("_reason")), copy=False)))


def rows_now(scan: Scan, name: str) -> tuple[View, ...]:
    """The rows that a read finds in a place where rows are only added."""
    read = View(f"{name}_read", _classify(scan, f"{name}_raw"))
    return read, View(name, print_sql(select(columns(scan.schema), read.name).where(is_null(column("_reason")))))


def _timed_records(scan: Scan, name: str, query: str, reading: Reading) -> tuple[View, ...]:
    """The records of a changelog whose event time moves the watermark. Late ones are used: later rows ask for them."""
    origin = scan.origin
    assert reading.delay is not None
    read = View(f"{name}_read", _classify(scan, f"{name}_raw"))
    beside = [] if origin.operation is None else [origin.operation]
    beside += [*_order_columns(origin), *_tombstone_columns(scan)]
    delay = reading.delay + reading.hold_back
    timed = _with_end(origin, f"{name}_timed", read.name, query, delay, beside=beside)
    split = _split_late(scan, f"{name}_split", timed.name, query, reading, beside=beside)
    known = exp.Not(this=is_null(column("_late")))
    return read, timed, split, View(name, print_sql(_order_records(origin, split.name).where(known, copy=False)))


def _order_records(origin: Origin, source: str, *, before: Sequence[str] = ()) -> exp.Select:
    """SELECT the columns of the records, their places in the order of all, and whether they delete.

    `before`: columns that come before the files in that order.
    """
    place = {} if origin.newest is None else {"sequence": column(origin.newest)}
    place |= {each.removeprefix("_"): column(each) for each in before}
    place |= _record_place(origin)
    deletes: Expression = exp.Boolean(this=False)
    if connector_of(origin.connector).marks_deletes:
        deletes = call("COALESCE", column(TOMBSTONE), exp.Boolean(this=False))
    if origin.operation is not None:
        deletes = call("COALESCE", is_delete(column(origin.operation)), exp.Boolean(this=False))
    return select([*columns(origin.columns), alias(struct(**place), ORDER), alias(deletes, DELETED)], source)


def _record_place(origin: Origin) -> dict[str, Expression]:
    """The place of a record among all that have arrived."""
    return {name: column(each) for name, each in connector_of(origin.connector).record_place.order}


def _order_columns(origin: Origin) -> list[str]:
    """The columns beside a record that say its place among all."""
    return [each for _, each in connector_of(origin.connector).record_place.order]


def _tombstone_columns(scan: Scan) -> list[str]:
    """The column that says whether a record without a value deletes its key."""
    is_table = isinstance(scan.shape, KTable)
    return [TOMBSTONE] if is_table and connector_of(scan.origin.connector).marks_deletes else []


def _shown_columns(origin: Origin) -> list[str]:
    """The columns beside a record that say to people where it is from."""
    return [each for _, each, _ in connector_of(origin.connector).record_place.shown]


def rejects_of(scan: Scan, name: str, *, explains: bool = True) -> Rejects | None:
    """The query that writes out the rows set aside; None where the connector cannot deliver any.

    It classifies rows as the view `<name>_read` of the main query does, and takes that name. Without `explains` it says
    only that a record is malformed: no checkpoint depends on the words of reasons.
    """
    origin = scan.origin
    if not _can_reject(origin):
        return None
    explains = explains and dict(origin.options).get("format") in EXPLAINED
    source = replace(input_of(scan, f"{name}_raw"), explained=explains)
    read = View(f"{name}_read", _classify(scan, source.view, explains=explains))
    whole = call("TO_JSON", call("STRUCT", *columns(_stored_columns(origin))))
    places = connector_of(origin.connector).record_place.shown
    aside = select(
        [
            alias(column("_reason"), "reason"),
            alias(call("COALESCE", column("_malformed"), whole), "record"),
            *(alias(column(each), shown) for shown, each, _ in places),
        ],
        read.name,
    ).where(exp.Not(this=is_null(column("_reason"))), copy=False)
    view = f"{name}_rejected"
    made = (("reason", str(STRING)), ("record", str(STRING)), *((shown, str(type_)) for shown, _, type_ in places))
    return Rejects(origin.name, source, (read, View(view, print_sql(aside))), view, made)


def _can_reject(origin: Origin) -> bool:
    return connector_of(origin.connector).parses_records


def _stored_columns(origin: Origin) -> tuple[Column, ...]:
    """The columns that the records have, with the column of their operation."""
    return origin.stored if origin.operation is None else (*origin.stored, Column(origin.operation, STRING))


def _classify(scan: Scan, raw: str, *, beside: Sequence[str] = (), explains: bool = False) -> str:
    """All columns, the columns `beside`, and the reason why the row is set aside, NULL for a sound one."""
    origin = scan.origin
    if not _can_reject(origin):
        return print_sql(_compute_time(origin, select([*columns(origin.columns), alias(null(STRING), "_reason")], raw)))
    malformed = text(MALFORMED)
    if explains:
        malformed = call("CONCAT", malformed, call("COALESCE", call("CONCAT", text(": "), column(WHY)), text("")))
    reasons = [exp.If(this=exp.Not(this=is_null(column("_malformed"))), true=malformed)]
    if origin.time is not None and origin.delay is not None:
        # As numbers: Spark adds an interval to a time by way of its calendar, which takes as long as reading the row.
        latest = exp.Add(this=call("UNIX_MICROS", column("_arrived")), expression=number(_HOUR))
        reasons += [
            exp.If(this=is_null(column(origin.time)), true=text(NO_TIME)),
            exp.If(this=exp.GT(this=call("UNIX_MICROS", column(origin.time)), expression=latest), true=text(FUTURE)),
            exp.If(this=exp.LT(this=column(origin.time), expression=cast(text(_EPOCH), TIMESTAMP)), true=text(PAST)),
        ]
    origin_of = ["_malformed", *_shown_columns(origin)]
    if isinstance(scan.shape, KTable):
        reasons += [exp.If(this=is_null(column(each)), true=text(NO_KEY)) for each in origin.key]
        if origin.newest is not None:
            reasons.append(exp.If(this=is_null(column(origin.newest)), true=text(NO_SEQUENCE)))
        origin_of += [each for each in _order_columns(origin) if each not in origin_of]
        origin_of += _tombstone_columns(scan)
    keys = origin.key if isinstance(scan.shape, KTable) else ()
    filled = {*keys, *dict(origin.metadata)}
    required = [each.name for each in origin.columns if not each.nullable and each.name not in filled]
    wrong = [(is_null(column(each)), NULL_IN.format(column=each)) for each in required]
    wrong += [(each.condition, f"{each.code}: {each.text}") for each in scan.failures]
    for condition, told in wrong:
        for tombstone in _tombstone_columns(scan):  # it has no values that could be wrong
            condition = exp.And(this=exp.Not(this=column(tombstone)), expression=exp.Paren(this=condition))
        reasons.append(exp.If(this=condition, true=text(told)))
    reason = alias(exp.Case(ifs=reasons), "_reason")
    items = [*columns(origin.columns), *columns(_stored_columns(origin)[len(origin.stored) :])]
    return print_sql(_compute_time(origin, select([*items, *map(column, [*origin_of, *beside]), reason], raw)))


def _compute_time(origin: Origin, rows: exp.Select) -> exp.Select:
    """The rows, with an event time beside the columns of their records where that is computed."""
    if origin.computed_time is None:
        return rows
    source = rows.args["from_"].this
    whole = exp.select(exp.Star(), alias(origin.computed_time, origin.time or "")).from_(source)
    return rows.from_(whole.subquery(source.name), copy=False)


def _with_end(origin: Origin, name: str, read: str, query: str, delay: int, *, beside: Sequence[str] = ()) -> View:
    """All rows, the heartbeats and, when the query is drained, the row that ends all time.

    A rejected row has lost its event time. `beside`: the columns that rows have beside the columns of the origin.
    """
    time = origin.time
    assert time is not None, f"{origin.name} has no event time, but a watermark is needed"
    believed = alias(only_if(is_null(column("_reason")), column(time)), time)
    own = [believed if each.name == time else column(each.name) for each in origin.columns]
    rows = select([*own, *map(column, beside), alias(exp.Boolean(this=False), "_heartbeat")], read)
    for_all = is_null(column("input"))
    mine = exp.EQ(this=column("input"), expression=text(origin.name))
    end = select(
        [
            *(alias(column("time") if each.name == time else null(each.type), each.name) for each in origin.columns),
            *(alias(exp.Null(), each) for each in beside),
            alias(exp.Not(this=for_all), "_heartbeat"),
        ],
        f"{query}_end",
    ).where(exp.Or(this=for_all.copy(), expression=mine), copy=False)
    return View(name, print_sql(exp.Union(this=rows, expression=end, distinct=False)), ViewWatermark(time, delay))


def _split_late(scan: Scan, name: str, timed: str, query: str, reading: Reading, *, beside: Sequence[str] = ()) -> View:
    """Marks the late rows, rejected ones with NULL. The end row and heartbeats go no further than the watermark."""
    origin, time = scan.origin, column(scan.origin.time or "")
    clock = f"{query}_clock"
    watermark = read_row_watermark(clock) if reading.hold_back else read_watermark(clock)
    late = exp.LT(this=time, expression=watermark)
    # All in one condition on the time: Spark would move another one below the watermark, which then saw nothing.
    end = either(column("_heartbeat"), cast(text(_EPOCH), TIMESTAMP), cast(text(_END_OF_TIME), TIMESTAMP))
    before_end = exp.Or(this=is_null(time.copy()), expression=exp.LT(this=time.copy(), expression=end))
    marks = [alias(late, "_late")]
    if reading.keeps_late:
        marks.append(alias(_lateness(time.copy(), watermark.copy()), LATENESS))
    tree = select([*columns(origin.columns), *map(column, beside), *marks], timed).where(before_end, copy=False)
    rejected = is_null(column("_late"))
    if isinstance(scan.shape, KTable) or reading.uses_late:
        metrics = [*_fates(origin, rejected, exp.Not(this=rejected.copy()), reading.wanted)]
    else:
        metrics = [*_fates(origin, rejected, _in_time(), reading.wanted)]
        metrics.append(Metric(f"late:{origin.name}", count_if(column("_late"))))
    if reading.reports_newest:
        metrics.append(Metric("newest", print_inline(call("MAX", call("UNIX_MILLIS", time.copy())))))
    return View(name, print_sql(tree), metrics=tuple(metrics))


def _lateness(time: Expression, watermark: Expression) -> Expression:
    """By how many milliseconds a time is behind the watermark, rounded up."""
    behind = exp.Sub(this=call("UNIX_MICROS", watermark), expression=call("UNIX_MICROS", time))
    return exp.IntDiv(this=exp.Add(this=behind, expression=number(999)), expression=number(1000))


def _in_time() -> Expression:
    """Whether a row is neither late nor rejected; never NULL, so that Spark asks nothing more of one that is."""
    return exp.NullSafeEQ(this=column("_late"), expression=exp.Boolean(this=False))


def _fates(origin: Origin, rejected: Expression, kept: Expression, wanted: Expression | None) -> tuple[Metric, ...]:
    """How many rows were read and rejected, and how many of the `kept` rows were filtered out above or used."""
    name = origin.name
    metrics = [Metric(f"in:{name}", "COUNT(*)"), Metric(f"rejected:{name}", count_if(rejected))]
    if wanted is not None:
        unwanted = exp.Not(this=call("COALESCE", wanted, exp.Boolean(this=False)))
        metrics.append(Metric(f"filtered:{name}", count_if(exp.And(this=kept, expression=unwanted))))
    return (*metrics, Metric(f"used:{name}", count_if(both(kept, wanted) or kept)))
