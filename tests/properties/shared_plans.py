"""Random queries whose parts are shared: tables of WITH, views and subqueries that several others read, in SQL.

A query is written twice: for Penstock, and for DuckDB, which says what it means.
"""

from __future__ import annotations

import re
from random import Random

import msgspec

_NEAR = "r.time BETWEEN l.time - INTERVAL '{0}' SECOND AND l.time + INTERVAL '{1}' SECOND"


class Drawn(msgspec.Struct, frozen=True):
    """One query. `views` stand before it, `body` is its SELECT. `key`: the columns that tell its rows apart, if any."""

    views: tuple[str, ...]
    body: str

    @property
    def standard(self) -> str:
        """What DuckDB is asked: views are tables of WITH there, and windows are times cut off."""
        views = [re.sub(r"^CREATE VIEW (\w+) AS (.*);$", r"\1 AS (\2)", each, flags=re.DOTALL) for each in self.views]
        text = self.body
        if views:
            text = (
                f"WITH {', '.join(views)}, {text[5:]}"
                if text.startswith("WITH ")
                else f"WITH {', '.join(views)} {text}"
            )
        text = re.sub(r"LEFT (SEMI|ANTI)", r"\1", text).replace("SELECT STREAM", "SELECT")
        window = r"TUMBLE\(time, INTERVAL '(\d+)' SECOND\)"
        found = re.search(window, text)
        if found is not None:
            cut = f"time_bucket(INTERVAL '{found[1]} seconds', time)"
            text = text.replace("window_start", f"{cut} AS window_start", 1)
            text = re.sub(window, cut, text)
        return text


class Writer:
    """Draws the parts of one query. Each reads some of those before it, one of them perhaps twice."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.parts: list[tuple[str, str]] = []
        self.joins = 0
        self.unions = 0

    def add(self, text: str) -> None:
        self.parts.append((f"p{len(self.parts)}", text))

    def source(self, nested: float = 0.25) -> str:
        """What FROM reads: a part by its name, or its text once more as a subquery."""
        name, text = self.chance.choice(self.parts[-3:])
        return f"({text})" if self.chance.random() < nested and len(text) < 300 else name

    def pair(self) -> tuple[str, str]:
        """Two sources, half of the time the same."""
        first = self.source()
        return first, first if self.chance.random() < 0.5 else self.source()

    def collect(self, last: str) -> Drawn:
        """The query whose parts are views up to a place, and tables of WITH behind it."""
        border = self.chance.choice((0, len(self.parts), self.chance.randint(0, len(self.parts))))
        views = tuple(f"CREATE VIEW {name} AS {text};" for name, text in self.parts[:border])
        tables = ", ".join(f"{name} AS ({text})" for name, text in self.parts[border:])
        return Drawn(views, f"WITH {tables} {last}" if tables else last)


def draw_streams(chance: Random) -> Drawn:
    """A query over the streams a and b, whose columns are id, k, v and time."""
    writer = Writer(chance)
    for name in chance.sample("ab", chance.randint(1, 2)):
        writer.add(f"SELECT STREAM id, k, v, time FROM {name}")

    def filtered() -> str:
        condition = chance.choice(("v > 0", "k = 'a'", "v IS NOT NULL", "id % 2 = 0", "v < 2 OR k IS NULL"))
        return f"SELECT STREAM id, k, v, time FROM {writer.source()} f WHERE {condition}"

    def computed() -> str:
        value = chance.choice(("v + v", "COALESCE(v, id)", "CASE WHEN v > 0 THEN v ELSE id END", "-v"))
        return f"SELECT STREAM id, k, {value} AS v, time FROM {writer.source()} f"

    def united() -> str:
        writer.unions += 1
        first, other = writer.pair()
        condition = chance.choice(("", " WHERE v > 0", " WHERE k IS NOT NULL"))
        return (
            f"SELECT STREAM id, k, v, time FROM {first} f{condition}"
            f" UNION ALL SELECT STREAM id, k, v, time FROM {other} g"
        )

    def joined() -> str:
        writer.joins += 1
        first, other = writer.pair()
        near = _NEAR.format(chance.randint(0, 2), chance.randint(0, 3))
        kind, shown = chance.choice((("JOIN", "r.v"), ("LEFT JOIN", "r.v"), ("JOIN", "l.v"), ("LEFT JOIN", "l.v")))
        if chance.random() < 0.3:
            kind, shown = chance.choice(("LEFT SEMI JOIN", "LEFT ANTI JOIN")), "l.v"
        items = f"l.id AS id, l.k AS k, {shown} AS v, l.time AS time"
        return f"SELECT STREAM {items} FROM {first} l {kind} {other} r ON l.k = r.k AND {near}"

    def different() -> str:
        return f"SELECT STREAM DISTINCT id, k, v, time FROM {writer.source()} f"

    for _ in range(chance.randint(1, 4)):
        shapes = [filtered, computed, different]
        shapes += [united, united, united] * (writer.unions < 3) + [joined, joined] * (writer.joins < 2)
        writer.add(chance.choice(shapes)())
    name = writer.parts[-1][0]
    last = chance.choice(
        (
            f"SELECT STREAM id, k, v, time FROM {name}",
            f"SELECT STREAM k, window_start, COUNT(*) AS n, SUM(v) AS total FROM {name}"
            f" GROUP BY k, TUMBLE(time, INTERVAL '{chance.choice((2, 4))}' SECOND)",
        )
    )
    return writer.collect(last)


def draw_tables(chance: Random) -> Drawn:
    """A query over the tables t and u, whose columns are id, g and v."""
    writer = Writer(chance)
    for name in chance.sample("tu", chance.randint(1, 2)):
        writer.add(f"SELECT id, g, v FROM {name}")

    def filtered() -> str:
        condition = chance.choice(("v > 0", "g = 'a'", "v IS NOT NULL", "v < 2 OR g IS NULL"))
        return f"SELECT id, g, v FROM {writer.source()} f WHERE {condition}"

    def computed() -> str:
        return f"SELECT id, g, {chance.choice(('v + v', '-v', 'COALESCE(v, 7)'))} AS v FROM {writer.source()} f"

    def joined() -> str:
        writer.joins += 1
        first, other = writer.pair()
        kind = chance.choice(("JOIN", "LEFT JOIN"))
        if chance.random() < 0.3:
            kind = chance.choice(("LEFT SEMI JOIN", "LEFT ANTI JOIN"))
            return f"SELECT l.id AS id, l.g AS g, l.v AS v FROM {first} l {kind} {other} r ON l.id = r.id"
        return f"SELECT l.id AS id, r.g AS g, l.v AS v FROM {first} l {kind} {other} r ON l.id = r.id"

    def found() -> str:
        writer.joins += 1
        first, other = writer.pair()
        return f"SELECT id, g, v FROM {first} f WHERE id IN (SELECT id FROM {other} h)"

    for _ in range(chance.randint(1, 4)):
        shapes = [filtered, computed] + [joined, joined, found] * (writer.joins < 3)
        writer.add(chance.choice(shapes)())
    first, other = writer.pair()
    name = writer.parts[-1][0]
    last = chance.choice(
        (
            f"SELECT id, g, v FROM {name}",
            f"SELECT g, COUNT(*) AS n, SUM(v) AS total FROM {name} GROUP BY g",
            f"SELECT g, COUNT(*) AS n FROM (SELECT id, g FROM {first} x UNION ALL SELECT id, g FROM {other} y) q"
            " GROUP BY g",
            f"SELECT id, g, v FROM {first} x INTERSECT SELECT id, g, v FROM {other} y",
            f"SELECT id, g, v FROM {first} x EXCEPT SELECT id, g, v FROM {other} y",
        )
    )
    return writer.collect(last)
