"""Where Penstock means to answer otherwise than the system that a case comes from, and which cases do not run yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Rows = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """Rows that only one of the two sends."""

    reason: str
    only_theirs: Rows = ()
    only_ours: Rows = ()


LATE_IS_LATE = (
    "Flink's joins use late rows as long as something is kept for them; Penstock counts them and sets them aside"
)

OVER_IS_AHEAD = (
    "r6 is exactly the delay behind: not late here, but Flink's OVER has answered its time already; "
    "r9 is late here, but the first of its key, where Flink looks at each key by itself"
)

FLINK = {
    "over-rows-1": Difference(
        OVER_IS_AHEAD,
        only_theirs=(("r7", 36, 2), ("r9", 1000, 1)),
        only_ours=(("r6", 20, 2), ("r7", 48, 2)),
    ),
    "over-range-10s": Difference(
        OVER_IS_AHEAD,
        only_theirs=(("r2", 7, 3), ("r3", 7, 3), ("r5", 47, 5), ("r7", 39, 4), ("r10", 174, 5), ("r9", 1000, 1)),
        only_ours=(("r2", 23, 4), ("r3", 23, 4), ("r5", 63, 6), ("r6", 23, 4), ("r7", 55, 5), ("r10", 190, 6)),
    ),
    "over-range-10s-state-cleared": Difference(
        "r5 is late; Flink takes it because it has cleared all it knew of that key, and then counts too few rows",
        only_theirs=(("r5", 4, 1),),
    ),
    "interval-left": Difference(LATE_IS_LATE, only_theirs=(("a4", None),)),
    "interval-right": Difference(LATE_IS_LATE, only_theirs=((None, "b6"),)),
    "interval-full": Difference(LATE_IS_LATE, only_theirs=(("a4", None), (None, "b6"))),
    "interval-inner-late-rows": Difference(LATE_IS_LATE, only_theirs=(("a2", "b1"), ("a2", "b4"), ("a3", "b4"))),
    "interval-left-late-rows": Difference(
        LATE_IS_LATE, only_theirs=(("a2", "b1"), ("a3", None), ("a4", None), ("a5", "b3"))
    ),
    "interval-left-then-tumble": Difference(LATE_IS_LATE, only_theirs=((0, 3, 1),), only_ours=((0, 2, 1),)),
    "session-merge": Difference(
        "r6 is late; Flink judges a window's rows by the window's end and not by their own time",
        only_theirs=((18, 23, 1),),
    ),
}

NOT_YET = {
    "flink: over-rows-unbounded": "refused: unbounded state",
    "flink: over-range-unbounded": "refused: unbounded state",
    "flink: interval-left-month": "refused: a month is not a fixed length",
    "flink: regular-left": "refused: a join without a time bound",
    "flink: interval-left-idle-timeout": "cases run to the end of what is there, where nobody is idle",
    "flink: temporal-inner, temporal-left": "joins with a versioned table",
    "kafka: StreamStreamJoinIntegrationTest.testMultiInner": (
        "the second join goes by the later time of each pair, Penstock's by the time of one of the two streams"
    ),
    "kafka: SuppressScenarioTest.shouldSupportFinalResultsForTimeWindows": (
        "Kafka judges a row by the end of its window, Penstock by its own time: the row at 0 ms after 2 ms is late"
    ),
    "kafka: TimeWindowedKStreamIntegrationTest": "an aggregate that depends on the order of rows",
}
"""Case or group of cases -> the reason."""


# Cases of Samza's planner that ask for nothing that Penstock has.
SAMZA_NOT_OURS = {
    "graph-roles": "counts the streams of a graph by role, whose counts the other cases compare one by one",
    "broadcast-input": "a stream that every task reads whole; Penstock has none",
    "task-app-graph": "an application without operators, in Samza's low-level interface",
    "legacy-task-app-graph": "an application that declares nothing at all, in Samza's low-level interface",
    "clear-previous-run": "removes what a batch run has left in a broker; here that is in the checkpoint",
}
_CAP = (
    "256 is the most that a stream is given because others have as many, in every mode; Samza caps in batch mode only"
)
# The counts that Penstock gives otherwise, and why.
SAMZA_COUNTS = {"window-app-512-to-16": ({"keyed-by-country": 256}, _CAP), "ism-streaming": ({"p": 256}, _CAP)}
# In a script, a lookup in a database is no join of its graph: it meets no other stream.
SAMZA_GRAPH_ONLY = {"d-remote-table-no-constraint"}
# They ask a broker, and so they run in tests/kafka.
SAMZA_OF_BROKERS = {"fetch-existing-counts", "stream-manager-counts", "monitor-one-failing-stream"}
ONE_JOIN = "Kafka chains two joins, and a record of the table that both read sends a row for each; here it is one join"
WAITS = "a row waits until the watermark has passed it, and so meets older records of the table that come after it, too"

KAFKA_TABLES = {
    "TableTableJoinIntegrationTest.testInnerOuter": Difference(
        ONE_JOIN, only_theirs=((3, "0", "A-a-a"), (5, "0", "B-b-b"), (9, "0", "C-c-c"), (10, "0", None))
    ),
    "TableTableJoinIntegrationTest.testLeftInner": Difference(
        ONE_JOIN, only_theirs=((3, "0", "A-a-a"), (5, "0", "B-b-b"), (9, "0", "C-c-c"))
    ),
    "TableTableJoinIntegrationTest.testLeftLeft": Difference(
        ONE_JOIN, only_theirs=((3, "0", "A-a-a"), (5, "0", "B-b-b"), (9, "0", "C-c-c"), (10, "0", "C-null-null"))
    ),
    "TableTableJoinIntegrationTest.testLeftOuter": Difference(
        ONE_JOIN, only_theirs=((3, "0", "A-a-a"), (5, "0", "B-b-b"), (9, "0", "C-c-c"), (10, "0", "C-null-null"))
    ),
    "TableTableJoinIntegrationTest.testOuterInner": Difference(
        f"{ONE_JOIN}; when all sides are gone at once, Kafka sends no tombstone",
        only_theirs=((3, "0", "A-a-a"), (5, "0", "B-b-b"), (9, "0", "C-c-c"), (13, "0", "null-d-d")),
        only_ours=((7, "0", None),),
    ),
    "TableTableJoinIntegrationTest.testOuterLeft": Difference(
        ONE_JOIN,
        only_theirs=(
            *((3, "0", "A-a-a"), (5, "0", "B-b-b"), (9, "0", "C-c-c")),
            *((10, "0", "C-null-null"), (13, "0", "null-d-d")),
        ),
    ),
    "KTableKTableForeignKeyJoinIntegrationTest.joinShouldProduceNullsWhenValueHasNonMatchingForeignKey[inner]": (
        Difference(
            "Kafka deletes rows that never were; here a tombstone comes when a row ceases to exist",
            only_theirs=((1, "lhs1", None), (2, "lhs1", None)),
        )
    ),
    "StreamTableJoinIntegrationTest.testInnerWithVersionedStore": Difference(WAITS, only_ours=(("0", "A-f"),)),
    "StreamTableJoinIntegrationTest.testLeftWithVersionedStore": Difference(
        WAITS, only_theirs=(("0", "A-null"),), only_ours=(("0", "A-f"),)
    ),
    "KStreamKTableJoinTest.shouldDelayJoinByGracePeriod": Difference(
        WAITS,
        only_theirs=(
            *(("0", "X0+Y0"), ("0", "X0+YY0"), ("1", "X1+Y1"), ("1", "X1+YY1")),
            *((("2", "X2+YY2"), ("3", "X3+YY3")) * 2),
        ),
        only_ours=tuple((str(key), f"X{key}+YYY{key}") for key in (0, 0, 1, 1, 2, 2, 3, 3)),
    ),
    "KStreamKTableJoinTest.shouldHandleLateJoinsWithGracePeriod": Difference(
        "Kafka still holds these rows back when the test ends", only_ours=(("2", "X2+Y2"), ("3", "X3+Y3"))
    ),
    "KTableAggregateTest.testAggOfVersionedStore": Difference(
        "a group without rows ceases to exist; Kafka keeps it with what its sum began with",
        only_theirs=(("1", 0), ("2", 0)),
        only_ours=(("1", None), ("2", None)),
    ),
    "KTableAggregateTest.testRemoveOldBeforeAddNew": Difference(
        "a group that stays the same is not sent again", only_theirs=(("1", 2),)
    ),
}
"""Rows are (step, key, value), of joins of streams with tables and of aggregates (key, value)."""

_MERGED = (
    "of several changes of a key in a micro-batch one is sent: from the row before to the row after; none if equal"
)
MICRO_BATCHES = {
    "table-table": _MERGED,
    "foreign-key": f"{_MERGED}; and several micro-batches of the query that writes the left table may be read as one",
    "stream-table": "a row meets all records of its micro-batch; none where no record comes after a row in it",
    "table-aggregate": f"{_MERGED}; and several micro-batches of the query that writes the table may be read as one",
}
"""Kind of case -> how micro-batches of several records change what is sent."""

SAMZA_TABLES_NOT_OURS = {
    "an argument or a function of Java is null or missing; SQL has no such thing": (
        *("rt-needs-a-function", "ar-failonnullreadfnandwritefn", "ry-null-id", "ry-null-table", "ry-null-executor"),
        *("ry-both-policies-null", "rl-notnulltableid", "rl-notnulltable", "rl-notnullratelimitingexecutor"),
        *("rl-notnullatleastoneratelimiter", "de-validateonlyreadorwritefn", "de-serializenullwritefunction"),
        "de-serializenullreadfunction",
    ),
    "a call has more arguments than key and value, or does something that only its own code knows": (
        *("rt-read", "rt-readasync", "rt-readasyncerror", "rt-write", "rt-writeasync", "rt-writeasyncerror"),
        *("ar-getasyncwithargs", "ar-getallasyncwithargs", "ar-readasync", "ar-putasyncwithargs", "ar-writeasync"),
        *("ar-putallasyncwithargs", "ar-deleteasyncwithargs", "ar-deleteallasyncwithargs", "batch-code-5"),
        *("rl-getasyncwithargs", "rl-getallasyncwithargs", "rl-readasync", "rl-putasyncwithargs", "rl-writeasync"),
        *("rl-putallasyncwithargs", "rl-deleteasyncwithargs", "rl-deleteallasyncwithargs"),
    ),
    "classes of Java are stacked, or call each other; SQL has statements and options": (
        *("rt-layering", "rt-getdelegation", "rt-putupdateanddeletedelegation", "ry-get-delegation"),
        *("ry-put-delegation", "de-deserializereadfunctionandlimiterreadwrite", "de-specifybothrateandratelimiter"),
    ),
    "a future is completed by a thread of its own; a micro-batch ends when its rows are written": (
        "rt-getwithcallbackexecutor",
    ),
    "what is written is flushed; a micro-batch is committed when it ends": (
        *("rt-flush", "ar-flush", "ry-flush-close", "rl-flushandclose"),
    ),
    "a message has another kind than its operator, or no default; both are said by the statement for all rows": (
        *("upd-without-options", "upd-code-1"),
    ),
    "a cache is used as a table; here it is an option of lookups": ("upd-code-6",),
    "the rows of an update go on; a statement that changes a table has no result": ("upd-code-7",),
    "an update goes to a table without an operator; all go through statements": ("upd-code-9",),
}
"""Why cases of Samza's remote tables ask for nothing that Penstock has -> these cases."""

SAMZA_OTHERWISE = {
    "the row of ELSE INSERT and its update are one row of one transaction, so that no default stays alone": (
        "upd-fails-after-put-default",
    ),
    "NULL is a value like any other; only DELETE and rows that leave a result delete": (
        *("upd-code-3", "upd-code-4", "sr-null-records"),
    ),
    "ELSE INSERT alone says that missing rows are put; on_missing is about updates without it": (
        "upd-default-given-but-update-only",
    ),
    "SQL has UPDATE": ("sr-update-op",),
    "what ON says beside the key is tested on the row that was found": ("sr-join-two-conjuncts",),
    "a micro-batch is the batch: its rows are written when it ends, and wait for no size or time": (
        *("bp-create", "bp-lookup", "bp-size-trigger", "bp-timer-trigger", "bt-put", "bt-update"),
    ),
    "a statement has up to 10,000 rows, because all rows of the micro-batch are there": ("batch-code-7",),
    "that a row is missing is kept as well: else a stream of unknown keys would not be spared": (
        "ca-missing-key-not-cached",
    ),
    "a table that the script writes has no cache: each worker has one, and none would see the writes": (
        "ca-write-through",
    ),
    "pauses double and are random up to that, so that many writers do not come back at once": ("rp-fixed", "rp-random"),
    "attempts are limited in number, not in time": ("ry-get-timeout", "ry-put-timeout"),
    "rate_limit is about rows that are written: a lookup asks once for all keys of a batch, which cache_ttl lessens": (
        *("rl-getasync", "rl-getallasync", "de-readwriteratelimittoconfig"),
    ),
}
"""Why Penstock means to answer cases of Samza's remote tables otherwise -> these cases. Tests show its answers."""
