"""Random queries whose values depend on the order of rows, over rows of which many are equal in what is compared.

A row has the number of its history, `h`. Histories of one query do not meet, so several of them go through it at once.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from random import Random

import msgspec

from penstock.evaluator.typed_values import Row, milliseconds

COLUMNS = {
    "h": "BIGINT", "k": "STRING", "v": "BIGINT", "g": "STRING", "price": "DECIMAL(10, 2)", "x": "DOUBLE",
    "b": "BOOLEAN", "id": "BIGINT", "time": "TIMESTAMP",
}  # fmt: skip
BASE = datetime(2026, 1, 1)
SHORTEST = 3
_VALUES: dict[str, tuple[object, ...]] = {
    "k": ("a", "a", "b", None), "v": (0, 1, 1, 2, None), "g": ("", "r", "s", None),
    "price": (Decimal("0.00"), Decimal("1.50"), None), "x": (0.0, -0.0, 1.5, -1.5, None), "b": (True, False, None),
}  # fmt: skip
KINDS = (
    "groups",
    "tumble",
    "hop",
    "cumulate",
    "session",
    "tumble, changes",
    "hop, changes",
    "cumulate, changes",
    "session, changes",
    "table",
    "sets of a table",
    "over times",
    "over rows",
    "ranks",
    "ranks in windows",
    "ranks of a table",
    "first rows of a table",
)
WITH_ORACLE = ("groups", "tumble", "table")
"""The kinds whose answers DuckDB gives, too."""
_WINDOWS = {
    "tumble": "TUMBLE(time, 4 SECONDS)",
    "hop": "HOP(time, 2 SECONDS, 5 SECONDS)",
    "cumulate": "CUMULATE(time, 2 SECONDS, 6 SECONDS)",
    "session": "SESSION(time, 2 SECONDS)",
}


class Query(msgspec.Struct, frozen=True):
    """A SELECT, whether it gives a table, and what DuckDB is asked instead, if it can be."""

    sql: str
    is_table: bool
    oracle: str | None = None


class _Call(msgspec.Struct, frozen=True):
    """An aggregate, and the same in DuckDB, where it says itself which of several rows counts."""

    sql: str
    oracle: str | None


def declare(folder: str, files_per_batch: int = 0) -> str:
    """A stream and a table of the same columns, without late rows."""
    columns = ", ".join(f"{name} {type_}" for name, type_ in COLUMNS.items())
    batch = f", files_per_batch = {files_per_batch}" if files_per_batch else ""
    place = f"connector = 'files', format = 'json'{batch}"
    return (
        f"CREATE STREAM s ({columns}, WATERMARK FOR time AS time - 1 DAY) WITH ({place}, path = '{folder}/s');\n"
        f"CREATE TABLE t ({columns}, PRIMARY KEY (h, id)) WITH ({place}, path = '{folder}/s');\n"
    )


def draw_rows(chance: Random, history: int) -> list[Row]:
    """The rows of a history in order of arrival. Times are few, and in no order."""
    rows: list[Row] = []
    for place in range(chance.choice((SHORTEST, 8, 14))):
        row: Row = {name: chance.choice(values) for name, values in _VALUES.items()}
        time = BASE + milliseconds(1000 * chance.choice((0, 0, 1, 2, 3, 3, 7, 8)))
        rows.append({"h": history, "id": place, **row, "time": time})
    return rows


def draw_query(chance: Random, kind: str) -> Query:
    """A query of a kind."""
    name, _, emission = kind.partition(", ")
    match name:
        case "groups" | "table":
            calls = [_draw_call(chance, lists=name == "table") for _ in range(chance.randint(3, 8))]
            source = "s" if name == "groups" else "t"
            keys = chance.choice(("h, k", "h"))
            sql, oracle = (
                f"SELECT {keys}, {items} FROM {source} GROUP BY {keys}" for items in (_items(calls), _oracles(calls))
            )
            return Query(sql, True, oracle)
        case "sets of a table":
            calls = [_draw_call(chance, lists=True) for _ in range(chance.randint(2, 5))]
            return Query(f"SELECT h, k, b, GROUPING_ID() AS i, {_items(calls)} FROM t GROUP BY h, CUBE (k, b)", True)
        case "tumble" | "hop" | "cumulate" | "session":
            return _draw_windows(chance, name, changes=bool(emission))
        case "over times" | "over rows":
            return _draw_frames(chance, by_rows=name == "over rows")
        case _:
            return _draw_ranks(chance, name)


def _draw_windows(chance: Random, name: str, *, changes: bool) -> Query:
    calls = [_draw_call(chance, lists=True) for _ in range(chance.randint(3, 8))]
    keys = chance.choice(("h, k", "h"))
    by = f"GROUP BY {keys}, {_WINDOWS[name]}"
    if changes:
        return Query(f"SELECT {keys}, {_items(calls)} FROM s {by} EMIT CHANGES", True)
    shown = f"{keys}, window_start, window_end"
    start = "TIME_BUCKET(INTERVAL 4 SECONDS, time)"
    oracle = f"SELECT {keys}, {start} AS window_start, {start} + INTERVAL 4 SECONDS AS window_end, {_oracles(calls)}"
    return Query(f"SELECT STREAM {shown}, {_items(calls)} FROM s {by}", False, f"{oracle} FROM s GROUP BY ALL")


def _draw_frames(chance: Random, *, by_rows: bool) -> Query:
    """Functions over frames, those that look ahead only over frames that reach ahead."""
    frames = ["RANGE 3 SECONDS PRECEDING", "RANGE BETWEEN CURRENT ROW AND CURRENT ROW"]
    ahead = [
        "RANGE BETWEEN CURRENT ROW AND 4 SECONDS FOLLOWING",
        "RANGE BETWEEN 2 SECONDS PRECEDING AND 2 SECONDS FOLLOWING",
    ]
    if by_rows:
        frames, ahead = ["ROWS 2 PRECEDING", "ROWS BETWEEN 4 PRECEDING AND CURRENT ROW"], []
    items = []
    for place in range(chance.randint(3, 7)):
        value, _ = _draw_value(chance)
        call = chance.choice(
            (
                *(_draw_extreme(chance, framed=True).sql for _ in range(6)),
                *(f"{name}({value})" for name in ("FIRST", "LAST", "LAG", "LEAD" if ahead else "LAG")),
                *("ROW_NUMBER()", "RANK()", "DENSE_RANK()", "MIN(x)", "MAX(g)"),
            )
        )
        back = [each for each in frames if not call.startswith("LAG") or "CURRENT ROW AND CURRENT" not in each]
        frame = chance.choice(ahead if call.startswith("LEAD") else back)
        items.append(f"{call} OVER (PARTITION BY h, k ORDER BY time {frame}) AS a{place}")
    return Query(f"SELECT STREAM h, id, {', '.join(items)} FROM s", False)


def _draw_ranks(chance: Random, name: str) -> Query:
    function = chance.choice(("ROW_NUMBER", "ROW_NUMBER", "RANK", "DENSE_RANK"))
    orders = chance.sample(("v", "price", "g", "x", "b"), chance.randint(1, 2))
    order = ", ".join(
        f"{each} {chance.choice(('', 'DESC'))} NULLS {chance.choice(('FIRST', 'LAST'))}" for each in orders
    )
    match name:
        case "ranks":
            partition, source = "h, time", "s"
        case "ranks in windows":
            partition, source = "h, window_start, window_end", f"{_WINDOWS['tumble'].replace('(', '(s, ')}"
        case "ranks of a table":
            partition, source = chance.choice(("h, k", "h")), "t"
        case _:
            return Query(f"SELECT h, id, v FROM t ORDER BY {order} LIMIT {chance.randint(1, 4)}", True)
    is_table = source == "t"
    head = "SELECT h, id" if is_table else "SELECT STREAM h, id, time"
    place = f"{function}() OVER (PARTITION BY {partition} ORDER BY {order})"
    if chance.random() < 0.5:
        return Query(f"{head}, {place} AS place FROM {source}", is_table)
    return Query(f"{head} FROM {source} QUALIFY {place} <= {chance.randint(1, 2)}", is_table)


def _items(calls: list[_Call]) -> str:
    return ", ".join(f"{each.sql} AS a{place}" for place, each in enumerate(calls))


def _oracles(calls: list[_Call]) -> str:
    return ", ".join(f"{each.oracle or 'NULL'} AS a{place}" for place, each in enumerate(calls))


def _draw_call(chance: Random, *, lists: bool) -> _Call:
    """An aggregate whose value depends on which of several equal rows comes first. `lists`: whether all are kept."""
    if chance.random() < 0.65 or not lists:
        return _draw_extreme(chance)
    value, by = chance.choice(("v", "price", "g", "time")), chance.choice(("v", "price", "g", "time", "b"))
    direction, nulls = chance.choice(("", "DESC")), chance.choice(("FIRST", "LAST"))
    order = f"{by} {direction} NULLS {nulls}"
    match chance.choice(("list", "text", "set", "top")):
        case "list":
            listed = f"LIST({value} ORDER BY {order}, {value}) FILTER (WHERE {value} IS NOT NULL)"
            return _Call(f"ARRAY_AGG({value} ORDER BY {order})", f"COALESCE({listed}, [])")
        case "text":
            listed = f"STRING_AGG(g, '-' ORDER BY {order}, g)"
            return _Call(f"LISTAGG(g, '-') WITHIN GROUP (ORDER BY {order})", listed)
        case "set":
            listed = f"LIST(DISTINCT {value} ORDER BY {value}) FILTER (WHERE {value} IS NOT NULL)"
            return _Call(f"COLLECT_SET({value})", f"COALESCE({listed}, [])")
        case _:
            listed = f"LIST({value} ORDER BY {value} DESC) FILTER (WHERE {value} IS NOT NULL)"
            return _Call(f"TOPK({value}, 2)", f"COALESCE({listed}, [])[1:2]")


def _draw_extreme(chance: Random, *, framed: bool = False) -> _Call:
    """MIN_BY or MAX_BY, perhaps with FILTER. Over frames arrays are not compared."""
    value, known = _draw_value(chance)
    by = chance.choice(("v", "v", "price", "x", "g", "b", "time", "1", *(() if framed else ("ARRAY(id % 2)",))))
    condition = chance.choice(("", "", "v > 0", "b"))
    function = chance.choice(("MIN_BY", "MAX_BY"))
    filtered = f" FILTER (WHERE {condition})" if condition else ""
    direction, nulls = ("", "FIRST") if function == "MIN_BY" else ("DESC", "LAST")
    compared = "id % 2" if by.startswith("ARRAY") else by
    first = f"FIRST({value} ORDER BY {compared} {direction}, {value} {direction} NULLS {nulls})"
    there = " AND ".join([f"{compared} IS NOT NULL", *([condition] if condition else [])])
    return _Call(f"{function}({value}, {by}){filtered}", f"{first} FILTER (WHERE {there})" if known else None)


def _draw_value(chance: Random) -> tuple[str, bool]:
    """The value that is taken of a row, and whether DuckDB writes it in the same way."""
    nested = ("MAP('q', id % 2)", "ARRAY(id % 2, v)", "NAMED_STRUCT('f', id % 2, 'g', g)")
    simple = ("v", "v", "g", "price", "x", "time", "b", "k")
    return (chance.choice(simple), True) if chance.random() < 0.8 else (chance.choice(nested), False)
