"""Random scripts over two tables whose key columns stand anywhere. SELECT lists hide them below other clauses."""

from __future__ import annotations

from random import Random

import msgspec

from penstock.evaluator.typed_values import Row

TYPES = {"k": "STRING", "l": "BIGINT", "a": "STRING", "b": "BIGINT", "c": "BOOLEAN"}
NAMES = ("p", "q")
KEYS = (("k",), ("k",), ("l",), ("k", "l"), ("a", "k"), ("l", "b"))
_VALUES: dict[str, tuple[object, ...]] = {
    "k": ("x", "y", "z", "x2"), "l": (1, 2, 3), "a": ("s", "t", None), "b": (0, 1, 2, None), "c": (True, False, None)
}  # fmt: skip


class Table(msgspec.Struct, frozen=True):
    """A declared table: its columns in their order, and those of its key."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]


class Relation(msgspec.Struct, frozen=True):
    """What FROM names, and the columns that it shows, with their types."""

    sql: str
    columns: dict[str, str]
    key: tuple[str, ...] = ()
    """The key of a declared table."""


def draw_table(chance: Random, name: str) -> Table:
    """A table with its key at the front, at the back, in the middle or in several places."""
    key, others = chance.choice(KEYS), list(TYPES)
    chance.shuffle(others)
    others = [each for each in others if each in key or chance.random() < 0.8]
    place = chance.choice(("first", "last", "last", "anywhere"))
    if place != "anywhere":
        rest = [each for each in others if each not in key] or ["c"]
        others = [*key, *rest] if place == "first" else [*rest, *key]
    return Table(name, tuple(others), key)


def declare(table: Table, folder: str = "data") -> str:
    """The statement that declares the table."""
    columns = ", ".join(f"{name} {TYPES[name]}" for name in table.columns)
    place = f"path = '{folder}/{table.name}', format = 'json', operation = 'op'"
    columns = f"{columns}, PRIMARY KEY ({', '.join(table.key)})"
    return f"CREATE TABLE {table.name} ({columns}) WITH (connector = 'files', {place});"


def draw_records(chance: Random, table: Table) -> list[Row]:
    """Records of a table: inserts, updates and deletes of few keys."""
    return [
        {name: chance.choice(_VALUES[name]) for name in table.columns}
        | {"op": chance.choice(("insert", "update", "update", "delete"))}
        for _ in range(chance.randint(0, 14))
    ]


def fold_records(table: Table, records: list[Row]) -> list[Row]:
    """What the records come to: of each key the newest one, unless it deletes. A key has no NULL."""
    rows: dict[tuple[object, ...], Row] = {}
    for record in records:
        key = tuple(record[name] for name in table.key)
        if None in key:
            continue
        rows.pop(key, None)
        if record["op"] != "delete":
            rows[key] = record
    return list(rows.values())


class Writer:
    """Draws one query over the tables, with the views that it reads."""

    def __init__(self, chance: Random, tables: tuple[Table, ...]) -> None:
        self.chance = chance
        self.tables = tables
        self.views: list[str] = []
        self.with_tables: list[str] = []
        self._named = chance.choice(("view", "with"))
        self._count = 0

    def query(self) -> str:
        """A query that gives a table."""
        shapes = (self.all_rows, self.distinct, self.grouped, self.united, self.united, self.united, self.joined)
        text = self.chance.choice(shapes)()
        return f"WITH {', '.join(self.with_tables)} {text}" if self.with_tables else text

    # Relations

    def relation(self, depth: int = 2) -> Relation:
        """A declared table, or a subquery, a view or a table of WITH that may hide its key."""
        if depth == 0 or self.chance.random() < 0.1:
            table = self.chance.choice(self.tables)
            return Relation(table.name, {name: TYPES[name] for name in table.columns}, table.key)
        make = self.groups if self.chance.random() < 0.25 else self.selection
        inner = make(self.relation(depth - 1))
        name = self.new_name("r")
        match self.chance.choice(("subquery", self._named)):
            case "view":
                self.views.append(f"CREATE VIEW {name} AS {inner.sql};")
                return Relation(name, inner.columns)
            case "with":
                self.with_tables.append(f"{name} AS ({inner.sql})")
                return Relation(name, inner.columns)
            case _:
                return Relation(f"({inner.sql}) {name}", inner.columns)

    def new_name(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def selection(self, rows: Relation) -> Relation:
        """A SELECT of some columns: often the first ones in their order, so that those at the end are hidden."""
        chance, names = self.chance, list(rows.columns)
        columns = dict(rows.columns)
        shapes = ("first", "without", "some", "other names", "star", "star and more")
        match "all but the key" if rows.key and chance.random() < 0.6 else chance.choice(shapes):
            case "all but the key":
                names = [each for each in names if each not in rows.key]
                items = list(names)
            case "first":
                names = names[: chance.randint(1, len(names))]
                items = list(names)
            case "without":
                left_out = chance.choice(names)
                names = [each for each in names if each != left_out] or names
                items = list(names)
            case "some":
                names = chance.sample(names, chance.randint(1, len(names)))
                items = list(names)
            case "other names":
                kept = names[: chance.randint(1, len(names))]
                names = [self.new_name("n") for _ in kept]
                items = [f"{old} AS {new}" for old, new in zip(kept, names, strict=True)]
                columns = {new: columns[old] for old, new in zip(kept, names, strict=True)}
            case "star":
                items = ["*"]
            case _:
                items = ["*"]
                numbers = [each for each in names if columns[each] == "BIGINT"]
                if numbers:
                    more = self.new_name("e")
                    items.append(f"{chance.choice(numbers)} + 1 AS {more}")
                    columns[more], names = "BIGINT", [*names, more]
        text = f"SELECT {', '.join(items)} FROM {rows.sql}{self.where(rows)}"
        return Relation(text, {name: columns[name] for name in names})

    def where(self, rows: Relation) -> str:
        numbers = [name for name, type_ in rows.columns.items() if type_ == "BIGINT"]
        if not numbers or self.chance.random() < 0.6:
            return ""
        return f" WHERE {self.chance.choice(numbers)} {self.chance.choice(('> 0', '< 3', 'IS NOT NULL'))}"

    def groups(self, rows: Relation) -> Relation:
        """A GROUP BY that shows all, some or none of its keys, at any place."""
        keys = self.chance.sample(list(rows.columns), self.chance.randint(1, min(2, len(rows.columns))))
        count = self.new_name("n")
        shown = [each for each in keys if self.chance.random() < 0.5]
        items = [f"COUNT(*) AS {count}", *shown]
        self.chance.shuffle(items)
        columns = {each.split(" AS ")[-1]: "" for each in items}
        columns = {name: rows.columns.get(name, "BIGINT") for name in columns}
        return Relation(f"SELECT {', '.join(items)} FROM {rows.sql} GROUP BY {', '.join(keys)}", columns)

    # What is asked of them

    def all_rows(self) -> str:
        return self.selection(self.relation()).sql

    def distinct(self) -> str:
        rows = self.relation()
        items = self.chance.choice(("*", ", ".join(self.chance.sample([*rows.columns], 1))))
        return f"SELECT DISTINCT {items} FROM {rows.sql}{self.where(rows)}"

    def grouped(self) -> str:
        rows = self.relation()
        if self.chance.random() < 0.3:
            return f"SELECT COUNT(*) AS n FROM {rows.sql}"
        key = self.chance.choice([*rows.columns])
        return f"SELECT {key}, COUNT(*) AS n FROM {rows.sql} GROUP BY {key}"

    def united(self) -> str:
        """UNION, EXCEPT and INTERSECT of what both sides show; UNION ALL inside of a subquery or alone."""
        left, right = self.relation(), self.relation()
        while not (pairs := self.match(left, right)):
            left, right = self.relation(), self.relation()
        word = self.chance.choice(("UNION", "UNION", "EXCEPT", "INTERSECT", "UNION ALL"))
        one, other = (", ".join(each) for each in zip(*pairs, strict=True))
        if self.chance.random() < 0.3 and [*left.columns] == [name for name, _ in pairs]:
            one = "*"
        text = f"SELECT {one} FROM {left.sql}{self.where(left)} {word} SELECT {other} FROM {right.sql}"
        if self.chance.random() < 0.4:
            return (
                f"SELECT {self.chance.choice(('*', 'COUNT(*) AS n', 'DISTINCT *'))} FROM ({text}) {self.new_name('s')}"
            )
        return text

    def match(self, left: Relation, right: Relation) -> list[tuple[str, str]]:
        """Columns of the left side, each with one of its type of the right side."""
        found: list[tuple[str, str]] = []
        for name, type_ in left.columns.items():
            taken = {each for _, each in found}
            same = [each for each, other in right.columns.items() if other == type_ and each not in taken]
            if same:
                found.append((name, self.chance.choice(same)))
        return found

    def joined(self) -> str:
        """Rows of a relation with the group that one of their columns names, and IN."""
        rows, other = self.relation(), self.relation()
        pairs = self.match(rows, other)
        if not pairs:
            return self.all_rows()
        own, key = self.chance.choice(pairs)
        if self.chance.random() < 0.4:
            return f"SELECT * FROM (SELECT * FROM {rows.sql}) i WHERE {own} IN (SELECT {key} FROM {other.sql})"
        kind = self.chance.choice(("JOIN", "LEFT JOIN"))
        groups = f"(SELECT {key} AS gk, COUNT(*) AS gn FROM {other.sql} GROUP BY {key})"
        items = self.chance.choice(("x.*", "x.*, y.gn", "y.gn"))
        return f"SELECT {items} FROM (SELECT * FROM {rows.sql}) x {kind} {groups} y ON x.{own} = y.gk"
