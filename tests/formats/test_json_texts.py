"""Records of JSON -> the texts of STRING columns, and the fields that are columns, as another reader finds them."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock.codegen.sql.records import json_records

pytestmark = [pytest.mark.spark, pytest.mark.draws]

RECORDS = int(os.environ.get("PENSTOCK_ROWS", "60")) * 20
COLUMNS = (
    ("id", "BIGINT"),
    ("userId", "STRING"),
    ("AMOUNT", "DECIMAL(20, 3)"),
    ("ratio", "DOUBLE"),
    ("größe", "STRING"),
    ('a"b', "STRING"),
    ("place", "STRUCT<City: STRING, userid: INT, deep: STRUCT<note: STRING>>"),
    ("tags", "ARRAY<STRING>"),
    ("parts", "ARRAY<STRUCT<Name: STRING, n: INT>>"),
    ("labels", "MAP<STRING, STRING>"),
)
NUMBERS = [
    *("1.0", "0.1", "1e3", "1E400", "-0", "1.10", "-1.50", "-0.0", "12E-1", "1e-400", "0", "-7", "5E+2"),
    *("123456789012345678901234567890", "0.10000000000000000000000000001", "NaN", "Infinity", "-Infinity"),
]
STRINGS = [
    "",
    "x",
    "1.10",
    "NaN",
    '"Infinity"',
    "{",
    "[1, 2]",
    '{"a": 1.0}',
    "a\tb",
    "é",
    "😀",
    "\\",
    '"',
    "userid",
    ":",
]


class JsonDraw:
    """Draws JSON, with blanks, escapes and spellings as others write them."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)

    def blank(self) -> str:
        return self.r.choice(["", "", "", " ", "  ", "\t"])

    def string(self, value: str) -> str:
        written = json.dumps(value, ensure_ascii=self.r.random() < 0.5)
        return written.replace("x", "\\u0078").replace("/", "\\/") if self.r.random() < 0.1 else written

    def value(self, depth: int = 0) -> str:
        kind = self.r.randrange(8 if depth < 3 else 5)
        if kind < 2:
            return self.r.choice(NUMBERS)
        if kind == 2:
            return self.r.choice(["true", "false", "null"])
        if kind < 5:
            return self.string(self.r.choice(STRINGS))
        if kind == 5:
            return self.array([self.value(depth + 1) for _ in range(self.r.randrange(4))])
        return self.object(
            [(self.r.choice(["a", "userId", "USERID", "City"]), self.value(depth + 1)) for _ in range(2)]
        )

    def array(self, values: list[str]) -> str:
        return f"[{','.join(self.blank() + value + self.blank() for value in values)}]"

    def object(self, fields: list[tuple[str, str]]) -> str:
        between = [f"{self.blank()}{self.string(n)}{self.blank()}:{self.blank()}{v}{self.blank()}" for n, v in fields]
        return "{" + ",".join(between) + "}"

    def name(self, name: str) -> str:
        return self.r.choice([name, name, name.lower(), name.upper(), name.swapcase()])

    def fields(self, *fields: tuple[str, str]) -> list[tuple[str, str]]:
        """Some of the fields, in any order."""
        drawn = [(self.name(name), value) for name, value in fields if self.r.random() < 0.8]
        self.r.shuffle(drawn)
        return drawn

    def record(self, number: int) -> str:
        r = self.r
        deep = self.object(self.fields(("note", self.value(2)), ("other", self.value(2))))
        city = self.fields(("City", self.value(1)), ("userid", str(r.randrange(9))), ("deep", deep))
        part = [self.object(self.fields(("Name", self.value(2)), ("n", "3"))) for _ in range(r.randrange(3))]
        drawn = self.fields(
            ("userId", self.value()),
            ("AMOUNT", r.choice(["1.50", "2", "1e2", "null"])),
            ("ratio", r.choice(["1.0", "-2.5e3", "null"])),
            ("größe", self.value()),
            ('a"b', self.value()),
            ("place", self.object(city)),
            ("tags", self.array([self.value(2) for _ in range(r.randrange(3))])),
            ("parts", self.array(part)),
            ("labels", self.object([(key, self.value(2)) for key in ("userid", "City", "k")])),
            ("unknown", self.value()),
        )
        return self.object([("id", str(number)), *drawn])


class DoubtfulNames(Exception):
    """Several fields could be the same column."""


def read_fields(text: str, at: int = 0) -> Iterator[tuple[str, str]]:
    """The names of an object and the texts of its values, by the scanner of Python's json."""
    decoder = json.JSONDecoder()
    at += 1
    while True:
        at = skip(text, at)
        if text[at] == "}":
            return
        name, at = decoder.raw_decode(text, at)
        at = skip(text, skip(text, at) + 1)
        _, end = decoder.raw_decode(text, at)
        yield name, text[at:end]
        at = skip(text, end)
        at += text[at] == ","


def read_items(text: str) -> Iterator[str]:
    decoder, at = json.JSONDecoder(), 1
    while True:
        at = skip(text, at)
        if text[at] == "]":
            return
        _, end = decoder.raw_decode(text, at)
        yield text[at:end]
        at = skip(text, end)
        at += text[at] == ","


def skip(text: str, at: int) -> int:
    while text[at] in " \t":
        at += 1
    return at


def as_string(text: str) -> str | None:
    return None if text == "null" else str(json.loads(text)) if text.startswith('"') else text


def pick(text: str, *names: str) -> dict[str, str | None]:
    """The texts of the columns with these names."""
    given = dict(read_fields(text))
    picked: dict[str, str | None] = {}
    for name in names:
        like = [each for each in given if each.lower() == name.lower()]
        if name not in given and len(like) > 1:
            raise DoubtfulNames(name)
        picked[name] = given[name] if name in given else given[like[0]] if like else None
    return picked


def string_of(text: str | None) -> str | None:
    return None if text is None else as_string(text)


def expect(text: str) -> dict[str, Any]:
    """The strings of a record."""
    top = pick(text, *(name for name, _ in COLUMNS))
    place = None if top["place"] is None else pick(top["place"], "City", "userid", "deep")
    deep = None if place is None or place["deep"] is None else pick(place["deep"], "note")
    parts = None if top["parts"] is None else [pick(each, "Name", "n") for each in read_items(top["parts"])]
    return {
        "userId": string_of(top["userId"]),
        "größe": string_of(top["größe"]),
        'a"b': string_of(top['a"b']),
        "city": None if place is None else string_of(place["City"]),
        "user": None if place is None else place["userid"],
        "note": None if deep is None else string_of(deep["note"]),
        "tags": None if top["tags"] is None else [*map(as_string, read_items(top["tags"]))],
        "names": None if parts is None else [string_of(each["Name"]) for each in parts],
        "labels": None if top["labels"] is None else {n: as_string(v) for n, v in read_fields(top["labels"])},
    }


def read(spark: SparkSession, lines: list[str], columns: tuple[tuple[str, str], ...]) -> list[Any]:
    records = json_records(columns)
    rows = spark.createDataFrame([(line,) for line in lines], "value STRING")
    for step in records.steps:
        rows = rows.selectExpr("*", *step)
    return rows.selectExpr("value", *records.items, records.malformed).collect()


def test_strings_keep_their_text_and_letters_may_differ_in_case(spark: SparkSession) -> None:
    draw = JsonDraw(RECORDS)
    lines = [draw.record(number) for number in range(RECORDS)]
    found = read(spark, lines, COLUMNS)
    doubtful = 0
    for line, row in zip(lines, found, strict=True):
        try:
            expected = expect(line)
        except DoubtfulNames:
            doubtful += 1
            assert row["_malformed"] == line, line
            continue
        assert row["_malformed"] is None, line
        place, parts = row["place"], row["parts"]
        deep = place and place["deep"]
        assert expected == {
            "userId": row["userId"],
            "größe": row["größe"],
            'a"b': row['a"b'],
            "city": place and place["City"],
            "user": None if place is None or place["userid"] is None else str(place["userid"]),
            "note": deep and deep["note"],
            "tags": row["tags"],
            "names": None if parts is None else [each["Name"] for each in parts],
            "labels": row["labels"],
        }, line
    assert doubtful < RECORDS / 10
