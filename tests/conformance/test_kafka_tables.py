"""Joins and aggregates of tables from Kafka Streams' own tests, run through the model, one record a micro-batch.

The table at the end has to be the same; what is sent on the way differs where `KAFKA_TABLES` says so.
"""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path

import pytest

import penstock
from penstock.planner.lower import write
from penstock.planner.plan import Node
from tests.conformance.differences import KAFKA_TABLES, Difference
from tests.model.changes import Changes
from tests.model.evaluate import evaluate
from tests.model.history import Tables
from tests.model.values import EPOCH, Row, Value, milliseconds

CASES = json.loads((Path(__file__).parent / "cases" / "kafka_tables.json").read_text(encoding="utf-8"))["cases"]
BASE = EPOCH + milliseconds(86_400_000)
KINDS = {"inner": "INNER", "left": "LEFT", "outer": "FULL"}
FOREIGN = "SELECT l.k AS k, l.v AS a, r.v AS b FROM l {kind} JOIN r ON l.f = r.k"
LOOKUP = "SELECT STREAM s.k AS k, s.v AS a, r.v AS b FROM s {kind} JOIN r {as_of} ON s.k = r.k"
Sent = list[tuple[Value, ...]]
"""Step, key and value."""


@functools.cache
def planned(sql: str, versioned: tuple[str, ...]) -> Node:
    """The plan of a query over the tables l and r and the stream s; newest by time are the tables named."""
    declared = "CREATE STREAM s (k STRING KEY, v STRING, time TIMESTAMP, WATERMARK FOR time AS time) WITH (connector ="
    declared += " 'files', path = 's', format = 'json');\n"
    for name, side in (("l", "left"), ("r", "right")):
        timed = side in versioned
        watermark, retention = (", WATERMARK FOR time AS time", ", retention = 1 DAY") if timed else ("", "")
        declared += f"CREATE TABLE {name} (k STRING PRIMARY KEY, v STRING, f STRING, n INT, time TIMESTAMP{watermark})"
        declared += f" WITH (connector = 'files', path = '{name}', format = 'json', operation = 'op'{retention});\n"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(write, "check_built", lambda root: None)
        (query,) = penstock.compile(declared + sql).queries
    return query.root


def record(key: Value, value: Value, time: int) -> Row:
    """An input; what stands behind | is the foreign key."""
    text = None if value is None else str(value)
    return {
        "k": None if key is None else str(key),
        "v": text,
        "f": None if text is None or "|" not in text else text.split("|")[1],
        "n": int(text) if text is not None and text.isdigit() else None,
        "time": BASE + milliseconds(time),
        "op": "delete" if value is None else None,
    }


def of_joins(kinds: list[str]) -> str:
    """The join of l with r, and of that with r once more."""
    text = f"FROM l a {KINDS[kinds[0]]} JOIN r b ON a.k = b.k"
    if kinds[1:]:
        left = "COALESCE(a.k, b.k)" if kinds[0] == "outer" else "a.k"
        text += f" {KINDS[kinds[1]]} JOIN r c ON {left} = c.k"
        return f"SELECT COALESCE(a.k, b.k, c.k) AS k, a.v AS a, b.v AS b, c.v AS c {text}"
    return f"SELECT COALESCE(a.k, b.k) AS k, a.v AS a, b.v AS b {text}"


def shown(row: Row, joiner: str) -> str:
    """A joined row as Kafka's tests print it: what is not there is null."""
    a, b = ("null" if row[name] is None else str(row[name]) for name in "ab")
    if "c" not in row:
        return f"({a},{b})" if joiner == "|" else f"{a}{joiner}{b}"
    first = "null" if row["a"] is row["b"] is None else f"{a}{joiner}{b}"
    return f"{first}{joiner}{'null' if row['c'] is None else row['c']}"


def batch_of(side: str, row: Row, stream: bool) -> Tables:
    """A micro-batch of one record."""
    name = ("s" if stream else "l") if side == "left" else "r"
    batch: Tables = {"s": [], "l": [], "r": []}
    batch[name] = [row]
    return batch


def compare(case: Value, sent: Sent, theirs: Sent) -> None:
    """Fails unless both sent the same but for the listed differences."""
    different = KAFKA_TABLES.get(case["id"], Difference("none"))
    for row in different.only_theirs:
        theirs.remove(row)
    for row in different.only_ours:
        sent.remove(row)
    assert sorted(sent, key=str) == sorted(theirs, key=str)


def of_kind(kind: str) -> list[Value]:
    return [pytest.param(case, id=case["id"]) for case in CASES if case["kind"] == kind]


@pytest.mark.parametrize("case", of_kind("table-table"))
def test_join_of_tables(case: Value) -> None:
    query = Changes(planned(of_joins(case["joins"]), tuple(case["versioned"])))
    table: dict[str, str] = {}
    kafkas: dict[str, str] = {}
    sent, theirs = Sent(), Sent()
    for number, step in enumerate(case["steps"]):
        for side, *fields in step["inputs"]:
            for change in query.step(batch_of(side, record(*fields), stream=False)):
                value = None if change.new is None else shown(change.new, case["joiner"])
                sent.append((number, change.key[0], value))
                put(table, str(change.key[0]), value)
        for key, value in step["expected"]:
            theirs.append((number, str(key), value))
            put(kafkas, str(key), value)
    assert table == kafkas
    compare(case, sent, theirs)


def put(table: dict[str, str], key: str, value: str | None) -> None:
    """Takes a row into a table; None deletes."""
    if value is None:
        table.pop(key, None)
    else:
        table[key] = value


@pytest.mark.parametrize("case", of_kind("foreign-key"))
def test_join_on_a_foreign_key(case: Value) -> None:
    query = Changes(planned(FOREIGN.format(kind=KINDS[case["joins"][0]]), tuple(case["versioned"])))
    table: dict[str, str] = {}
    kafkas: dict[str, str] = {}
    sent, theirs = Sent(), Sent()
    for number, step in enumerate(case["steps"]):
        latest: dict[str, str | None] = {}
        for side, *fields in step["inputs"]:
            for change in query.step(batch_of(side, record(*fields), stream=False)):
                latest[str(change.key[0])] = None if change.new is None else shown(change.new, "|")
        sent += [(number, key, value) for key, value in latest.items()]
        theirs += [(number, key, value) for key, value in step["latest"].items()]
        for mine, changes in ((table, latest), (kafkas, step["latest"])):
            for key, value in changes.items():
                put(mine, key, value)
    assert table == kafkas
    compare(case, sent, theirs)


@pytest.mark.parametrize("case", of_kind("stream-table"))
def test_join_of_a_stream_with_a_table(case: Value) -> None:
    as_of = "FOR SYSTEM_TIME AS OF s.time" if "right" in case["versioned"] else ""
    plan = planned(LOOKUP.format(kind=KINDS[case["joins"][0]], as_of=as_of), tuple(case["versioned"]))
    query = Changes(plan)
    sent, theirs = Sent(), Sent()
    known: Tables = {"s": [], "l": [], "r": []}
    for step in case["steps"]:
        theirs += [(None if key is None else str(key), value) for key, value in step["expected"]]
        for side, *fields in step["inputs"]:
            row = record(*fields)
            if side == "left" and row["v"] is None:
                continue  # no row of a stream
            batch = batch_of(side, row, stream=True)
            known = {name: known[name] + batch[name] for name in known}
            if not as_of:
                sent += [(each["k"], shown(each, case["joiner"])) for each in query.send(batch)]
    if as_of:
        sent = [(each["k"], shown(each, case["joiner"])) for each in evaluate(plan, known)]
    compare(case, sent, theirs)


AGGREGATES = {
    "testAggBasic": "SELECT k, SUM(n) AS value FROM l GROUP BY k",
    "testAggOfVersionedStore": "SELECT n AS k, SUM(n) AS value FROM l GROUP BY n",
    "testCountOfVersionedStore": "SELECT v AS k, COUNT(*) AS value FROM l GROUP BY v",
    "testRemoveOldBeforeAddNew": (
        "SELECT SUBSTRING(k, 1, 1) AS k, SUM(CAST(SUBSTRING(k, 2, 1) AS INT)) AS value FROM l"
        " GROUP BY SUBSTRING(k, 1, 1)"
    ),
}


@pytest.mark.parametrize("case", of_kind("table-aggregate"))
def test_aggregate_of_a_table(case: Value) -> None:
    name = case["id"].split(".")[1]
    query = Changes(planned(AGGREGATES[name], ("left",) if "Versioned" in name else ()))
    sent = Sent()
    for _, key, value, time in case["inputs"]:
        if str(key).lower() == "null":
            continue  # a row of that test's grouping that is in no group
        for change in query.step(batch_of("left", record(key, value, time), stream=False)):
            sent.append((str(change.key[0]), None if change.new is None else change.new["value"]))
    compare(case, sent, [(key, number(name, value)) for key, value in case["expected"]])


def number(name: str, value: Value) -> Value:
    """What Kafka's test puts together as text, as the sum that it stands for."""
    if isinstance(value, int):
        return value
    return sum(int(each) for each in re.findall(r"[+-]?\d+" if name != "testRemoveOldBeforeAddNew" else r"\d", value))


def test_differences_are_of_cases_that_run() -> None:
    assert KAFKA_TABLES.keys() <= {case["id"] for case in CASES}
