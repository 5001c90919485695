"""Spark gives the same values as the evaluator at the edges of functions."""

from __future__ import annotations

import math
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
WIDE = (-40_000, 32_768, 32_769, 70_000)
MOMENTS = (datetime(2024, 2, 29, 6, 7, 8), datetime(2024, 3, 31), datetime(2023, 12, 30, 23, 59, 59))
CHANGES = (datetime(2024, 3, 31, 1, 30), datetime(2024, 3, 31, 2, 30), datetime(2024, 10, 27, 2, 30), MOMENTS[0])
"""Times at which clocks are changed, and one at which they are not."""
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
    *((name, (text,)) for name in ("MD5", "SHA1", "CRC32", "BASE64", "URL_ENCODE", "HEX", "QUOTE") for text in TEXTS),
    *(("SHA2", (text, bits)) for text in TEXTS for bits in (0, 224, 256, 384, 512, 100)),
    *((name, (number,)) for name in ("BIN", "HEX", "BIT_COUNT", "FACTORIAL") for number in (*NUMBERS, 30)),
    *((name, (number,)) for name in ("BITMAP_BIT_POSITION", "BITMAP_BUCKET_NUMBER") for number in (*WIDE, *NUMBERS)),
    *(("CONV", (text, 10, base)) for text in ("0", "255", "99999") for base in (2, 16, 36)),
    *((name, (number,)) for name in ("ACOS", "ASIN", "ACOSH", "ASINH", "SINH", "COSH", "TANH", "EXPM1", "LOG1P", "SQRT")
      for number in (-2.0, -0.5, 0.0, 0.5, 1.0, 3.0)),
    *((name, (number,)) for name in ("COT", "CSC", "SEC") for number in (-2.0, 0.5, 3.0)),
    *(("LOG", (base, number)) for base in (-1.0, 2.0, 10.0) for number in (-1.0, 0.0, 1.0, 8.0)),
    *(("WIDTH_BUCKET", (float(number), first, last, 4))
      for number in (*NUMBERS, 9) for first, last in ((0.0, 4.0), (4.0, 0.0), (1.0, 1.0))),
    *(("BROUND", (number, places)) for number in (2.5, 3.5, -2.5, 0.125) for places in (0, 1, 2)),
    *(("FORMAT_NUMBER", (number, places)) for number in (0, -1234, 1234567) for places in (0, 3)),
    *(("MONTHS_BETWEEN", (one, other)) for one in MOMENTS for other in MOMENTS),
    *(("NEXT_DAY", (day, name)) for day in DATES for name in ("MON", "tu", "Sunday")),
    *(("TRUNC", (day, unit)) for day in DATES for unit in ("YEAR", "quarter", "MM", "WEEK")),
    *(("DATE_TRUNC", ("QUARTER", time)) for time in MOMENTS),
    *(("DATE_PART", (part, time)) for time in MOMENTS for part in ("YEAR", "QUARTER", "WEEK", "DOY", "DOW", "MINUTE")),
    *((name, (time, zone)) for name in ("FROM_UTC_TIMESTAMP", "TO_UTC_TIMESTAMP") for time in CHANGES
      for zone in ("Europe/Berlin", "America/New_York", "Asia/Kathmandu")),
    *((name, (text, "yyyy-MM-dd HH:mm")) for name in ("TRY_TO_TIMESTAMP", "TRY_TO_DATE")
      for text in ("2024-02-29 06:07", "2023-02-29 06:07", "2024-2-9 06:07", "2024-02-29 06:07:08", "x")),
    *(("TRY_MAKE_TIMESTAMP", (2024, 2, day, 23, 59, second)) for day in (28, 30) for second in (0, 59, 60, 61)),
    *(("SEQUENCE", arguments) for arguments in ((1, 5), (5, 1), (1, 1), (1, 6, 2), (6, 1, -2), (3, 3, 0))),
    *(("ARRAYS_OVERLAP", (one, [2, 4])) for one in ([1], [2, None], [1, None])),
    *(("ARRAY_SORT", (array,)) for array in ([3, None, 1], ["b", "", "a"])),
    *(("TRY_ELEMENT_AT", ([1, 2], place)) for place in (-3, -2, 1, 3)),
    *(("STR_TO_MAP", (text,)) for text in ("a:1,b:2", "a", "a:1:2,b")),
    *(("JSON_ARRAY_LENGTH", (text,)) for text in ("[1, [2]]", "[]", '{"a": 1}')),
    *(("JSON_OBJECT_KEYS", (text,)) for text in ("[1]", '{"b": 1, "a": {"c": 2}}')),
    *(("GET_JSON_OBJECT", ('{"a": [1, {"b": "x"}], "c": true, "d": null}', path))
      for path in ("$.a[0]", "$.a[1].b", "$.a[7]", "$.c", "$.d", "$.e.f")),
    *(("OVERLAY", ("abcdef", "XY", place, length)) for place in (1, 3, 6, 8) for length in (-1, 0, 1, 9)),
    *(("LUHN_CHECK", (text,)) for text in ("8112189876", "8112189875", "7", "0", "1a")),
    *(("REGEXP_INSTR", (text, "[b-z]")) for text in TEXTS),
    *(("REGEXP_EXTRACT_ALL", (text, "([a-c])(.)?", group)) for text in TEXTS for group in (0, 1, 2)),
    *(("URL_DECODE", (text,)) for text in ("a%20b+c", "%C3%9C", "")),
    *(("ROUND", (number, 1)) for number in (0.25, -0.25, 1e300)),
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


def is_close(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)


def test_edges_and_products_of_values(spark: SparkSession) -> None:
    cases = [*((name, arguments) for name, arguments, _ in CASES), *TRIED]
    calls = [f"{name}({', '.join(map(literal, arguments))})" for name, arguments in cases]
    found = spark.sql("SELECT " + ", ".join(f"{call} AS c{i}" for i, call in enumerate(calls))).head()
    assert found is not None
    expected = [FUNCTIONS[name](*arguments) for name, arguments in cases]
    differing = []
    for call, have, want in zip(calls, found, expected, strict=True):
        if not is_close(have, want):
            differing.append((call, have, want))
    assert differing == []
