"""Random scripts of streams by different keys: refused (P002) exactly where rows that meet can lie apart.

The oracle knows no plans: it sends all small rows through the statements, each with the values by which its stream is
spread, and looks where the rows of every pair of a join lie. Repetitions of rows do not matter, times are left out.
The planner may refuse more where two columns are equal for another reason than the key; none of these scripts does so.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import pytest

from penstock.compilation import compile
from penstock.diagnostics import CompileError
from tests.properties.test_partitions import mend

SCRIPTS = 150
Value = tuple[str, int]
"""A type and a value: numbers of different types are spread differently."""
Place = tuple[Value, ...] | None
"""The values by which a row is spread, None where its stream is spread anew by whatever reads it."""


@dataclass(frozen=True, slots=True)
class Row:
    k: Value
    v: Value
    places: frozenset[tuple[str, Place]]


class Apart(Exception):
    """Rows that meet lie in different places."""


def agree(rows: Iterable[tuple[Sequence[Value], Iterable[Place]]]) -> bool:
    """Whether one choice among the values compared says for all rows where they lie."""
    rows = [(values, [place for place in places if place is not None]) for values, places in rows]
    count = len(rows[0][0]) if rows else 0
    choices = [way for length in range(1, 3) for way in product(range(count), repeat=length)]
    return not any(places for _, places in rows) or any(
        all(place == tuple(values[each] for each in way) for values, places in rows for place in places)
        for way in choices
    )


def widened(one: Value, other: Value) -> tuple[Value, Value]:
    type_ = "INT" if one[0] == other[0] == "INT" else "BIGINT"
    return (type_, one[1]), (type_, other[1])


# What a join or a PARTITION BY can go by: SQL over a relation's columns, and its value.
def half(value: Value) -> Value:
    return value[0], value[1] % 2


KEYS: dict[str, Callable[[Row], tuple[Value, ...]]] = {
    "k": lambda row: (row.k,),
    "v": lambda row: (row.v,),
    "v % 2": lambda row: (half(row.v),),
    "k, v": lambda row: (row.k, row.v),
    "v, k": lambda row: (row.v, row.k),
}
PAIRS = {
    "a.k = b.k": ("k", "k"),
    "a.v = b.v": ("v", "v"),
    "a.k = b.v": ("k", "v"),
    "a.v % 2 = b.v % 2": ("v % 2", "v % 2"),
    "a.k = b.k AND a.v = b.v": ("k, v", "k, v"),
    "a.k = b.v AND a.v = b.k": ("k, v", "v, k"),
}


def joined(on: str, one: set[Row], other: set[Row]) -> set[Row]:
    left, right = PAIRS[on]
    pairs = []
    for a, b in product(one, other):
        values = [widened(x, y) for x, y in zip(KEYS[left](a), KEYS[right](b), strict=True)]
        if all(x == y for x, y in values):
            pairs.append((a, b, [x for x, _ in values]))
    if not agree((values, [place for _, place in (*a.places, *b.places)]) for a, b, values in pairs):
        raise Apart
    return {Row(a.k, b.v, a.places | b.places) for a, b, _ in pairs}


def grouped(name: str, key: str, rows: set[Row]) -> set[Row]:
    if all(place is not None for row in rows for _, place in row.places) and agree(
        (KEYS[key](row), [place for _, place in row.places]) for row in rows
    ):
        return rows
    return {Row(row.k, row.v, frozenset([(name, None)])) for row in rows}


def random_script(choice: random.Random) -> tuple[list[str], bool]:
    """Statements, and whether all rows that meet lie together."""
    lines: list[str] = []
    rows: dict[str, set[Row]] = {}
    together = True
    for i in range(choice.randint(2, 3)):
        name, type_ = f"s{i}", choice.choice(["BIGINT", "BIGINT", "INT"])
        key = choice.choice(["k", "k", "v", "k, v", ""])
        count = choice.choice([8, 8, None])
        marks = {each: " KEY" if each in key.split(", ") else "" for each in "kv"}
        columns = f"k {type_}{marks['k']}, v BIGINT{marks['v']}, time TIMESTAMP"
        option = "" if count is None else f", partitions = {count}"
        lines.append(
            f"CREATE STREAM {name} ({columns}, WATERMARK FOR time AS time - 1 SEC) "
            f"WITH (connector = 'files', path = '{name}', format = 'json'{option})"
        )
        made = set()
        for k, v in product(range(3), repeat=2):
            row = Row((type_, k), ("BIGINT", v), frozenset())
            # Without a KEY a row may lie anywhere: each by its own values and its stream's name.
            own = KEYS[key](row) if key else (("anywhere", hash((name, k, v))),)
            made.add(Row(row.k, row.v, frozenset([(name, None if count is None else own)])))
        rows[name] = made
    for i in range(choice.randint(1, 5)):
        name, one, other = f"r{i}", *choice.choices(list(rows), k=2)
        match choice.randint(0, 6):
            case 0:
                key = choice.choice(list(KEYS))
                text = f"SELECT STREAM k, v, time FROM {one} PARTITION BY {key}"
                rows[name] = {Row(row.k, row.v, frozenset([(name, KEYS[key](row))])) for row in rows[one]}
            case 1:
                text = f"SELECT STREAM v AS k, k AS v, time FROM {one}"
                rows[name] = {Row(row.v, row.k, row.places) for row in rows[one]}
            case 2:
                key = choice.choice(["k", "v", "k, v"])
                shown = {"k": "k, MAX(v) AS v", "v": "MAX(k) AS k, v", "k, v": "k, v"}[key]
                text = f"SELECT STREAM {shown}, window_end AS time FROM {one} GROUP BY {key}, TUMBLE(time, 1 SEC)"
                rows[name] = grouped(name, key, rows[one])
            case 3:
                text = f"SELECT STREAM k, v, time FROM {one} UNION ALL SELECT STREAM k, v, time FROM {other}"
                both = rows[one] | rows[other]
                types = {each: {getattr(row, each)[0] for row in both} for each in "kv"}
                wide = {each: "INT" if found == {"INT"} else "BIGINT" for each, found in types.items()}
                rows[name] = {Row((wide["k"], row.k[1]), (wide["v"], row.v[1]), row.places) for row in both}
            case _:
                on = choice.choice(list(PAIRS))
                bound = "b.time BETWEEN a.time AND a.time + 5 SEC"
                text = f"SELECT STREAM a.k, b.v, a.time FROM {one} a JOIN {other} b ON {on} AND {bound}"
                try:
                    rows[name] = joined(on, rows[one], rows[other])
                except Apart:
                    together = False
        lines.append(f"CREATE STREAM {name} AS {text}")
        if not together:
            break
    return lines, together


def findings(sql: str) -> set[str]:
    """The codes of all errors."""
    try:
        compile(sql)
    except CompileError as refusal:
        return {each.code for each in refusal.diagnostics if each.severity == "error"}
    return set()


@pytest.mark.parametrize("start", range(0, SCRIPTS, 50))
def test_refused_where_rows_that_meet_can_lie_apart(start: int) -> None:
    refused = 0
    for seed in range(start, start + 50):
        lines, together = random_script(random.Random(seed))
        sql = "".join(f"{line};\n" for line in lines)
        assert findings(sql) == (set() if together else {"P002"}), sql
        if not together:
            refused += 1
            compile(f"SET auto_repartition = ON;\n{sql}")
            mend(sql)
    assert 4 < refused < 46
