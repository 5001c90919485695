"""Joins and aggregates of tables from Kafka Streams' own tests: the SQL of each, its records, and what Kafka sends."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from penstock.evaluator.typed_values import EPOCH, Row, Value, milliseconds
from tests.conformance.differences import KAFKA_TABLES, Difference

CASES = json.loads((Path(__file__).parent / "cases" / "kafka_tables.json").read_text(encoding="utf-8"))["cases"]
BASE = EPOCH + milliseconds(86_400_000)
INPUTS = ("s", "l", "r")
Sent = list[tuple[Value, ...]]
"""Step, key and value; of joins of streams with tables and of aggregates key and value."""
_KINDS = {"inner": "INNER", "left": "LEFT", "outer": "FULL"}
# What those tests group by and add up, of a key and a value.
_GROUPINGS: dict[str, Callable[[str, str], tuple[str, int]]] = {
    "testAggBasic": lambda key, value: (key, int(value)),
    "testAggOfVersionedStore": lambda key, value: (value, int(value)),
    "testCountOfVersionedStore": lambda key, value: (value, 1),
    "testRemoveOldBeforeAddNew": lambda key, value: (key[0], int(key[1])),
}


def of_kind(kind: str) -> list[Value]:
    return [pytest.param(case, id=case["id"]) for case in CASES if case["kind"] == kind]


def script(case: Value, folder: str = "") -> str:
    """The declarations of the stream s and the tables l and r, whose files come one by one, and the query `result`."""
    declared = f"""CREATE STREAM s (k STRING KEY, v STRING, time TIMESTAMP, WATERMARK FOR time AS time)
WITH (connector = 'files', path = '{folder}/s', format = 'json', files_per_batch = 1);
"""
    for name, side in (("l", "left"), ("r", "right")):
        timed = side in newest_by_time(case)
        watermark, retention = (", WATERMARK FOR time AS time", ", retention = 1 DAY") if timed else ("", "")
        declared += f"""CREATE TABLE {name} (k STRING PRIMARY KEY, v STRING, f STRING, n INT, time TIMESTAMP{watermark})
WITH (connector = 'files', path = '{folder}/{name}', format = 'json', operation = 'op', files_per_batch = 1{retention});
"""
    return declared + query(case)


def query(case: Value) -> str:
    match case["kind"]:
        case "table-table":
            return f"CREATE TABLE result AS {_of_joins(case['joins'])}"
        case "foreign-key":
            kind = _KINDS[case["joins"][0]]
            return f"CREATE TABLE result AS SELECT l.k AS k, l.v AS a, r.v AS b FROM l {kind} JOIN r ON l.f = r.k"
        case "stream-table":
            as_of = "FOR SYSTEM_TIME AS OF s.time" if newest_by_time(case) else ""
            join = f"{_KINDS[case['joins'][0]]} JOIN r {as_of} ON s.k = r.k"
            return f"CREATE STREAM result AS SELECT STREAM s.k AS k, s.v AS a, r.v AS b FROM s {join}"
        case _:
            return "CREATE TABLE result AS SELECT f AS k, SUM(n) AS value FROM l GROUP BY f"


def newest_by_time(case: Value) -> list[str]:
    """The sides whose older records do not replace newer ones."""
    if case["kind"] == "table-aggregate" and "versioned" not in case:
        return ["left"] if "Versioned" in case["id"] else []
    sides: list[str] = case["versioned"]
    return sides


def _name(case: Value) -> str:
    return str(case["id"]).split(".")[1]


def _of_joins(kinds: list[str]) -> str:
    """The join of l with r, and of that with r once more."""
    text = f"FROM l a {_KINDS[kinds[0]]} JOIN r b ON a.k = b.k"
    if kinds[1:]:
        left = "COALESCE(a.k, b.k)" if kinds[0] == "outer" else "a.k"
        text += f" {_KINDS[kinds[1]]} JOIN r c ON {left} = c.k"
        return f"SELECT COALESCE(a.k, b.k, c.k) AS k, a.v AS a, b.v AS b, c.v AS c {text}"
    return f"SELECT COALESCE(a.k, b.k) AS k, a.v AS a, b.v AS b {text}"


def arrivals(case: Value) -> Iterator[tuple[int, str, Row]]:
    """Step, input and record, in the order of arrival."""
    if case["kind"] == "table-aggregate":
        for step, (_, key, value, time) in enumerate(case["inputs"]):
            if key.lower() != "null":  # a row of that test's grouping that is in no group
                group, number = (None, None) if value is None else _GROUPINGS[_name(case)](key, value)
                yield step, "l", {**record(key, value, time), "f": group, "n": number}
        return
    left = "s" if case["kind"] == "stream-table" else "l"
    for number, each in enumerate(case["steps"]):
        for side, key, value, time in each["inputs"]:
            name = left if side == "left" else "r"
            if name != "s" or value is not None:  # which is no row of a stream
                yield number, name, record(key, value, time)


def record(key: Value, value: Value, time: int) -> Row:
    """An input; what stands behind | is the foreign key."""
    text = None if value is None else str(value)
    return {
        "k": None if key is None else str(key),
        "v": text,
        "f": None if text is None or "|" not in text else text.split("|")[1],
        "n": None,
        "time": BASE + milliseconds(time),
        "op": "delete" if value is None else None,
    }


def shown(case: Value, row: Row) -> Value:
    """What Kafka's tests make of a row: joined values as text, in which what is not there is null."""
    if case["kind"] == "table-aggregate":
        return row["value"]
    a, b = ("null" if row[name] is None else str(row[name]) for name in "ab")
    if case["kind"] == "foreign-key":
        return f"({a},{b})"
    joiner = case["joiner"]
    if "c" not in row:
        return f"{a}{joiner}{b}"
    first = "null" if row["a"] is row["b"] is None else f"{a}{joiner}{b}"
    return f"{first}{joiner}{'null' if row['c'] is None else row['c']}"


def kafkas(case: Value) -> Sent:
    """What Kafka sends, in that order."""
    match case["kind"]:
        case "table-aggregate":
            return [(key, _number(_name(case), value)) for key, value in case["expected"]]
        case "stream-table":
            return [(str(key), value) for step in case["steps"] for key, value in step["expected"]]
        case kind:
            steps = [step["latest"].items() if kind == "foreign-key" else step["expected"] for step in case["steps"]]
            return [(number, str(key), value) for number, rows in enumerate(steps) for key, value in rows]


def _number(name: str, value: Value) -> Value:
    """What Kafka's test puts together as text, as the sum that it stands for."""
    if isinstance(value, int):
        return value
    return sum(int(each) for each in re.findall(r"[+-]?\d+" if name != "testRemoveOldBeforeAddNew" else r"\d", value))


def expected(case: Value) -> Sent:
    """What Kafka sends, but for the listed differences."""
    different = KAFKA_TABLES.get(case["id"], Difference("none"))
    rows = kafkas(case)
    for row in different.only_theirs:
        rows.remove(row)
    return [*rows, *different.only_ours]


def table(changes: Sent) -> dict[str, Value]:
    """The table that changes lead to, in the order of their steps. None deletes."""
    rows: dict[str, Value] = {}
    for *_, key, value in sorted(changes, key=lambda each: each[0] if len(each) == 3 else 0):
        rows.pop(key, None)
        if value is not None:
            rows[key] = value
    return rows
