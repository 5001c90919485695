"""Queries as they are now -> the reasons why rows do not come out of them, with numbers. The functions are pure.

A query of a script may run as a chain of several queries of Spark. They are looked at together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from penstock.codegen.program import Closing, SparkQuery
from penstock.diagnostics import hide_credentials
from penstock.runtime.progress.seen_fields import unseen_text
from penstock.runtime.progress.status import CAUSES, InputAccount, Number, Reason, Status
from penstock.runtime.progress.times import moment_text, span_text
from penstock.runtime.query.drain import END_OF_TIME, EPOCH

SILENCE = timedelta(seconds=10)
"""Inputs that rest for less time are not called silent."""
BEHIND = timedelta(seconds=1)
"""Inputs that are less far apart are not called behind."""

Part: TypeAlias = tuple[SparkQuery, Status]


@dataclass(frozen=True, slots=True)
class InputProgress:
    """An input of a query, how much was read of it, and the watermark that its rows alone would give.

    `heard`: when its last rows came. `is_own`: another query of the chain writes it. `level`: the watermark of the
    input, None if nothing is known of it. `behind`: how far that is behind its newest event time.
    """

    report: InputAccount
    heard: datetime | None
    is_own: bool
    idle: timedelta | None = None
    level: datetime | None = None
    behind: timedelta = timedelta()

    @property
    def name(self) -> str:
        return self.report.name

    def is_idle(self, status: Status, now: datetime) -> bool:
        """Whether it no longer holds the watermark back."""
        since = self.heard or status.started
        return self.idle is not None and since is not None and now - since >= self.idle


def list_reasons(parts: Sequence[Part], now: datetime) -> tuple[Reason, ...]:
    """The reasons why rows do not come out of a chain of queries, what matters most first; empty if nothing holds them.

    `parts`: the queries of the chain, writers before readers, each with its status. `now`: by the clock of the machine.
    """
    found = [*_find_starting(parts, now), *_find_retrying(parts, now)]
    if parts and not any(each.cause == "starting" for each in found):
        waits = [*_find_of_watermarks(parts, now)]
        silent = {each.numbers["input"] for each in waits if each.cause == "silent"}
        found += waits
        found += (each for each in _find_of_inputs(parts, now) if each.numbers.get("input") not in silent)
        found += _find_growth(parts)
        if parts[-1][1].out == 0 and (not found or any(_has_ended(*part) for part in parts)):
            found += _find_no_result(parts)
    distinct: dict[object, Reason] = {}
    for each in found:
        distinct.setdefault((each.cause, each.numbers.get("input", each.text)), each)
    return tuple(sorted(distinct.values(), key=lambda each: CAUSES.index(each.cause)))


def find_chain(query: SparkQuery, queries: Sequence[SparkQuery]) -> list[SparkQuery]:
    """The query and the queries that write what it reads, writers before readers."""
    writers = {each.output.name: each for each in queries if each.output.is_intermediate}
    chain: dict[str, SparkQuery] = {}
    pending = [query]
    while pending:
        each = pending.pop()
        chain[each.name] = each
        pending += [writers[source.name] for source in each.inputs if source.is_intermediate]
    return [each for each in queries if each.name in chain]


def _find_starting(parts: Sequence[Part], now: datetime) -> Iterator[Reason]:
    for _, status in parts:
        if status.running and not status.has_looked and status.started is not None:
            text = f"The query was started {_since(status.started, now)}. It has not finished its first micro-batch."
            yield Reason("starting", text, _ago(status.started, now))


def _find_retrying(parts: Sequence[Part], now: datetime) -> Iterator[Reason]:
    for query, status in parts:
        if status.retrying is not None:
            since = status.retrying_since or now
            text = f"The database has not taken the rows {_for(since, now)}: {hide_credentials(status.retrying)}."
            text += " Penstock tries again, as retry_attempts and retry_max_delay say."
            yield Reason("retrying", text, {"query": query.name, **_ago(since, now)})


def _find_of_inputs(parts: Sequence[Part], now: datetime) -> Iterator[Reason]:
    """What the rows that were read say: there are none, they have ended, they were left out."""
    read = {each.name: each for query, status in parts for each in _list_inputs(query, status) if not each.is_own}
    heard = [each.heard for each in read.values() if each.heard is not None]
    started = min((status.started for _, status in parts if status.started is not None), default=now)
    is_running = any(status.running for _, status in parts)
    empty = [each.name for each in read.values() if not each.report.read]
    if len(empty) == len(read) or (empty and parts[-1][1].out == 0):
        paths = {each.name: each.values.get("path") for query, _ in parts for each in query.inputs}
        looked = [str(paths[name]) for name in empty if paths[name] is not None]
        where = f" Files are read from {_and(looked)}." if looked else ""
        time = f" since the start {_since(started, now)}" if is_running else ""
        names = {"input": empty[0]} if len(empty) < len(read) else {}
        yield Reason("no_rows", f"No row of {_and(empty)} has come{time}.{where}", {**names, **_ago(started, now)})
    elif heard and is_running and now - max(heard) >= SILENCE:
        count = sum(each.report.read for each in read.values())
        text = f"No new row of {_and(read)} has come {_for(max(heard), now)}. There were {count:,} before."
        yield Reason("no_new_rows", text, {"rows": count, **_ago(max(heard), now)})
    for each in read.values():
        yield from _find_left_out(each.report)
        if each.report.unseen is not None:
            unseen_names = ", ".join(column for column, _ in each.report.unseen.columns)
            count = each.report.unseen.records
            unseen: dict[str, Number] = {"input": each.name, "fields": unseen_names, "records": count}
            yield Reason("unseen_fields", unseen_text(each.name, each.report.unseen), unseen)


def _find_left_out(report: InputAccount) -> Iterator[Reason]:
    counts = {"filtered": report.filtered, "late": report.late, "rejected": report.rejected}
    told = [f"{count:,} {name}" for name, count in counts.items() if count]
    numbers: dict[str, Number] = {"input": report.name, "in": report.read, **counts, "used": report.used}
    most = max(counts, key=lambda name: counts[name])
    hints = {
        "filtered": "WHERE and conditions of ON filter rows, and LATE INTO takes late rows alone.",
        "late": "A longer delay in WATERMARK FOR, or a GRACE PERIOD, waits for such rows.",
        "rejected": "Rejected rows are kept with their reasons.",
    }
    if report.read and not report.used and told:
        text = f"No row of {report.name} was used: {report.read:,} rows were read, {_and(told)}. {hints[most]}"
        yield Reason("all_left_out", text, numbers)
    elif report.late or report.rejected:
        told = [f"{counts[name]:,} {name}" for name in ("late", "rejected") if counts[name]]
        most = max("late", "rejected", key=lambda name: counts[name])
        text = f"{_and(told)} of {report.read:,} rows of {report.name} were left out. {hints[most]}"
        yield Reason("some_left_out", text, numbers)


def _find_of_watermarks(parts: Sequence[Part], now: datetime) -> Iterator[Reason]:
    """What waits for the watermark, and which input holds that back."""
    if not any(query.closing and status.state_rows for query, status in parts):
        return
    for query, status in parts:
        watermark = status.watermark
        if not query.timed or (watermark is not None and watermark >= END_OF_TIME):
            continue
        known = None if watermark is None or watermark <= EPOCH else watermark
        inputs = _list_timed(query, status)
        yield from _find_slowest((query, status), inputs, parts, now)
        if query.closing is not None and status.state_rows and known is not None:
            yield from _find_open(query.closing, status, inputs, known)


def _find_slowest(
    part: Part, inputs: Sequence[InputProgress], parts: Sequence[Part], now: datetime
) -> Iterator[Reason]:
    """The input that holds the watermark back, if the others alone would let rows come out."""
    query, status = part
    waiting = sorted((each for each in inputs if not each.is_idle(status, now)), key=_level)
    if len(waiting) < 2 or waiting[1].level is None:
        return
    level, others = _level(waiting[0]), waiting[1].level
    closing = query.closing
    if closing is not None and closing.every:
        is_holding = _next_end(closing, level) <= others
    else:
        is_holding = others - level >= BEHIND
    slowest = _find_source(waiting[0], parts)
    if not is_holding or slowest is None:
        return
    since = slowest.heard or status.started or now
    later = (each.heard for each in inputs if each.heard is not None and each.heard > since)
    numbers: dict[str, Number] = {"input": slowest.name, "others": others.isoformat()}
    if level > EPOCH:
        numbers |= {"watermark": level.isoformat(), "behind_seconds": (others - level).total_seconds()}
    if slowest.report.read == 0 or (status.running and now - since >= SILENCE and any(True for _ in later)):
        at = f"the watermark stays at {moment_text(level)}" if level > EPOCH else "there is no watermark"
        came = f" {_for(since, now)}" if status.running else ""
        text = f"No row of {slowest.name} has come{came}, so {at}; the other inputs are at {moment_text(others)}."
        yield Reason("silent", f"{text} {_idle_hint(slowest)}", {**numbers, **_ago(since, now)})
    else:
        apart = span_text((others - level).total_seconds())
        text = f"{slowest.name} is {apart} behind: its watermark is {moment_text(level)}, the watermark of the other "
        text += f"inputs is {moment_text(others)}. What they have waits until it has caught up."
        yield Reason("behind", text, numbers)


def _find_source(slowest: InputProgress, parts: Sequence[Part]) -> InputProgress | None:
    """The input itself, or the slowest one of the query of the chain that writes it."""
    while slowest.is_own:
        inputs = [each for part in parts if part[0].name == slowest.name for each in _list_timed(*part)]
        if not inputs:
            return None
        slowest = min(inputs, key=_level)
    return slowest


def _level(each: InputProgress) -> datetime:
    return each.level or EPOCH


def _idle_hint(silent: InputProgress) -> str:
    if silent.idle is not None:
        return f"It counts as idle after {span_text(silent.idle.total_seconds())} of silence."
    return "With IDLE AFTER in its WATERMARK FOR, the others go on without it."


def _find_open(
    closing: Closing, status: Status, inputs: Sequence[InputProgress], watermark: datetime
) -> Iterator[Reason]:
    """The window or pane that the watermark has not passed."""
    newest = max(status.newest.values(), default=None)
    offset = timedelta(milliseconds=closing.offset)
    at = f"the watermark is at {moment_text(watermark)}"
    if closing.every:
        end = _next_end(closing, watermark)
        text = f"The next {closing.noun} ends at {moment_text(end)}, and {at}."
    elif newest is not None and newest + offset > watermark:
        end = newest + offset
        past = f"is {span_text(offset.total_seconds())} past" if offset else "has passed"
        text = f"A {closing.noun} comes out when the watermark {past} its newest time."
        text += f" The newest row is at {moment_text(newest)}, and {at}."
    else:
        return
    reach = max((each.behind for each in inputs), default=timedelta())
    names = _and(each.name for each in inputs if not each.is_own)
    if not status.running:
        hint = "With --drain, penstock run --once takes the input as complete."
    elif names:
        hint = f"Rows of {names} with times from {moment_text(end + reach)} on move it there."
    else:
        hint = ""
    if closing.noun == "window":
        hint += " A table with EMIT EARLY shows windows before they end."
    numbers = {"watermark": watermark.isoformat(), "end": end.isoformat()}
    missing = (end - watermark).total_seconds()
    yield Reason("not_final", f"{text} {hint}".strip(), {**numbers, "missing_seconds": missing})


def _next_end(closing: Closing, watermark: datetime) -> datetime:
    """The first end behind the watermark."""
    every, offset = timedelta(milliseconds=closing.every), timedelta(milliseconds=closing.offset)
    return EPOCH + offset + ((watermark - EPOCH - offset) // every + 1) * every


def _find_growth(parts: Sequence[Part]) -> Iterator[Reason]:
    for query, status in parts:
        if len(status.recent) < 2:
            continue
        first, last = status.recent[0], status.recent[-1]
        if last.state_rows > first.state_rows and last.out == first.out:
            batches = len(status.recent) - 1
            last_batches = f"last {batches} micro-batches" if batches > 1 else "last micro-batch"
            text = f"The state of {query.name} has grown from {first.state_rows:,} to {last.state_rows:,} rows in the "
            text += f"{last_batches}, and no row came out. EXPLAIN STATE says what bounds it."
            numbers = {"rows": last.state_rows, "rows_before": first.state_rows, "batches": batches}
            yield Reason("state_grows", text, {"query": query.name, **numbers})


def _has_ended(query: SparkQuery, status: Status) -> bool:
    """Whether the watermark has passed a window or pane of rows that were used."""
    closing, watermark, oldest = query.closing, status.watermark, status.oldest
    if closing is None or watermark is None or oldest is None or status.out:
        return False
    if any(each.used < each.read for each in status.inputs):
        return False  # the oldest row may be one that was left out
    end = _next_end(closing, oldest) if closing.every else oldest + timedelta(milliseconds=closing.offset)
    return end <= watermark


def _find_no_result(parts: Sequence[Part]) -> Iterator[Reason]:
    """The last query used rows, and some of them do not wait any more; or it filtered all rows that reached it."""
    inputs = parts[-1][1].inputs
    used = sum(each.used for each in inputs)
    if not used:
        for each in inputs:
            yield from _find_left_out(each)
    else:
        text = f"{used:,} rows were used, and no final row is in the result."
        yield Reason("no_result", f"{text} Conditions of joins, HAVING and QUALIFY leave out rows.", {"used": used})


def _list_inputs(query: SparkQuery, status: Status) -> list[InputProgress]:
    """The inputs of a query, each once."""
    watermark = None if status.watermark is None or status.watermark <= EPOCH else status.watermark
    own = {each.name for each in query.inputs if each.is_intermediate}
    timed = {each.name: each for each in query.watermark_inputs}
    listed = []
    for report in status.inputs:
        heard, is_own = status.heard.get(report.name), report.name in own
        given = timed.get(report.name)
        if given is None:
            listed.append(InputProgress(report, heard, is_own))
            continue
        behind = timedelta(milliseconds=given.delay + given.grace)
        newest = status.newest.get(report.name)
        # No input is behind the watermark of the query.
        levels = [each for each in (watermark, None if newest is None else newest - behind) if each is not None]
        idle = None if given.idle is None else timedelta(milliseconds=given.idle)
        listed.append(InputProgress(report, heard, is_own, idle, max(levels, default=None), behind))
    return listed


def _list_timed(query: SparkQuery, status: Status) -> list[InputProgress]:
    """The inputs that the watermark depends on."""
    names = {each.name for each in query.watermark_inputs}
    return [each for each in _list_inputs(query, status) if each.name in names]


def _and(parts: Iterable[str]) -> str:
    *first, last = [*parts] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def _since(moment: datetime, now: datetime) -> str:
    return f"{span_text((now - moment).total_seconds())} ago, at {moment_text(moment)}"


def _for(moment: datetime, now: datetime) -> str:
    return f"for {span_text((now - moment).total_seconds())}, since {moment_text(moment)}"


def _ago(moment: datetime, now: datetime) -> dict[str, Number]:
    return {"since": moment.isoformat(), "seconds": round((now - moment).total_seconds(), 3)}
