"""Spark gives the same values as the evaluator at the edges of functions."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import pytest

from penstock.evaluator.functions import FUNCTIONS
from tests.evaluator.test_library import CASES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
TEXTS = ("", "a", "a.b.c", "Über straße", "a,b,,c", " x ", "12-34")
NUMBERS = (-3, 0, 1, 2, 5)
DATES = (date(2024, 2, 29), date(2023, 12, 31), date(1969, 7, 20), date(2021, 1, 3))
TRIED: list[tuple[str, tuple[Any, ...]]] = [
    *((name, (text,)) for name in ("INITCAP", "ASCII", "OCTET_LENGTH", "LEN", "UCASE") for text in TEXTS),
    *((name, (text, number)) for name in ("RIGHT",) for text in TEXTS for number in NUMBERS),
    *(("SUBSTRING_INDEX", (text, ".", number)) for text in TEXTS for number in NUMBERS),
    *(("SPLIT_PART", (text, ",", number)) for text in TEXTS for number in NUMBERS if number),
    *(("LOCATE", (part, text, number)) for part in ("", "a", "b") for text in TEXTS for number in NUMBERS),
    *(("LEVENSHTEIN", (text, "a.c")) for text in TEXTS),
    *(("TRANSLATE", (text, "ab.", "xy")) for text in TEXTS),
    *(("FIND_IN_SET", (part, text)) for part in ("", "a", "c", ",") for text in TEXTS),
    *(("SPLIT", (text, "[,.]")) for text in TEXTS),
    *(("REGEXP_REPLACE", (text, "[a-c]+", "_")) for text in TEXTS),
    *(("REGEXP_COUNT", (text, r"\w")) for text in TEXTS),
    *(("REGEXP_EXTRACT", (text, r"(\d+)-(\d+)", 2)) for text in TEXTS),
    *((name, (day,)) for name in ("DAYOFYEAR", "DAYNAME", "MONTHNAME", "QUARTER", "WEEKDAY", "WEEKOFYEAR", "LAST_DAY")
      for day in DATES),
    *((name, (day, number)) for name in ("ADD_MONTHS", "DATE_ADD", "DATE_SUB") for day in DATES for number in NUMBERS),
    *(("DATE_FORMAT", (day, "dd.MM.yyyy HH:mm")) for day in DATES),
    *(("CHR", (number,)) for number in (-1, 0, 65, 256, 321)),
    *(("MOD", (number, 3)) for number in NUMBERS),
    *((name, (float(number),)) for name in ("EXP", "CBRT", "SIGNUM", "LN", "LOG10", "LOG2") for number in NUMBERS),
    *(("RINT", (number,)) for number in (0.5, 1.5, -0.5, -1.5)),
    *((name, ([3, None, 1],)) for name in ("ARRAY_MAX", "ARRAY_MIN", "SIZE", "ARRAY_COMPACT", "SORT_ARRAY")),
    *(("SORT_ARRAY", ([3, None, 1], rising)) for rising in (True, False)),
    *((name, ([1, 2, 2], [2, 3])) for name in ("ARRAY_UNION", "ARRAY_INTERSECT", "ARRAY_EXCEPT")),
    *(("ARRAY_POSITION", ([1, 2], number)) for number in NUMBERS),
    *(("ARRAY_CONTAINS", (array, 2)) for array in ([1, 2], [1, None], [1, 3])),
]  # fmt: skip


def literal(value: Any) -> str:
    match value:
        case bool():
            return str(value).upper()
        case None:
            return "NULL"
        case str():
            return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
        case datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case float():
            return f"CAST({value} AS DOUBLE)"
        case list():
            return f"ARRAY({', '.join(map(literal, value))})"
        case dict():
            return f"MAP({', '.join(f'{literal(k)}, {literal(v)}' for k, v in value.items())})"
        case _:
            return str(value)


def test_edges_and_products_of_values(spark: SparkSession) -> None:
    cases = [*((name, arguments) for name, arguments, _ in CASES), *TRIED]
    calls = [f"{name}({', '.join(map(literal, arguments))})" for name, arguments in cases]
    found = spark.sql("SELECT " + ", ".join(f"{call} AS c{i}" for i, call in enumerate(calls))).head()
    assert found is not None
    expected = [FUNCTIONS[name](*arguments) for name, arguments in cases]
    differing = []
    for call, have, want in zip(calls, found, expected, strict=True):
        if have != pytest.approx(want):
            differing.append((call, have, want))
    assert differing == []
