"""Forms of other systems have the values that they have there."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from penstock.planner.scalars.scopes import Scope, ScopeColumn
from penstock.planner.types import STRING
from tests.planner.expressions import COLUMNS, resolved, spark_sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

FORMS = {
    "'5'::INT + 1": 6,
    "EXTRACT(DOY FROM DATE '2024-03-01')": 61,
    "TRIM(BOTH 'xy' FROM 'xyaxy') || TRIM(LEADING FROM '  b ') || TRIM(TRAILING 'x' FROM 'xcx')": "ab xc",
    "SUBSTRING('penstock' FROM 4 FOR 3)": "sto",
    "POSITION('st' IN 'penstock')": 4,
    "OVERLAY('penstock' PLACING 'XX' FROM 4 FOR 1)": "penXXtock",
    "'10%' LIKE '10!%' ESCAPE '!'": True,
    "'10x' LIKE '10!%' ESCAPE '!'": False,
    r"'a\b' LIKE 'a\_' ESCAPE '!'": True,
    "'abc' SIMILAR TO '(a|b)%'": True,
    "'abc' SIMILAR TO 'b%'": False,
    "'a.c' SIMILAR TO 'a.c' AND 'abc' NOT SIMILAR TO 'a.c'": True,
    "'a\nb\n' SIMILAR TO 'a_b_' AND 'a\n' NOT SIMILAR TO 'a'": True,
    r"'x]\' SIMILAR TO '[^a]!]!\' ESCAPE '!'": True,
    "FLOOR(TIMESTAMP '2024-03-05 06:07:08' TO DAY)": datetime(2024, 3, 5),
    "CEIL(TIMESTAMP '2024-01-31 06:07:08' TO MONTH)": datetime(2024, 2, 1),
    "CEIL(TIMESTAMP '2024-02-01 00:00:00' TO MONTH)": datetime(2024, 2, 1),
    "CEIL(TIMESTAMP '2024-02-01 00:00:00.000001' TO QUARTER)": datetime(2024, 4, 1),
    "CEIL(TIMESTAMP '2024-02-01 23:59:59.9' TO SECOND)": datetime(2024, 2, 2),
    "ARRAY[1, 2][1] + MAP['a', 5]['a'] + MAP('b' := 7)['b']": 14,
    "STRUCT(a := 1, b := 'x').b": "x",
    "2 BETWEEN SYMMETRIC 3 AND 1": True,
    "(1, 2) < (1, 3) AND NOT (2, 1) < (1, 3) AND (1, 'a') IN ((2, 'a'), (1, 'a'))": True,
    "(1, NULL) = (2, 3)": False,
    "(1, NULL) = (1, 3)": None,
    "(1, NULL) IS DISTINCT FROM (1, NULL)": False,
    "INTERVAL '-1:30' MINUTE TO SECOND": timedelta(seconds=-90),
    "INTERVAL '1 day 02:03:04.5' + INTERVAL '5 minutes'": timedelta(days=1, hours=2, minutes=8, seconds=4.5),
    "TIMESTAMP '2024-01-31 00:00:00' + INTERVAL '1-1' YEAR TO MONTH": datetime(2025, 2, 28),
    "STRPOS('penstock', 'st') * 10 + STRPOS('a', 'b')": 40,
    "STARTS_WITH('penstock', 'pen') AND ENDS_WITH('penstock', 'stock')": True,
    "ARRAY_TO_STRING(ARRAY['a', NULL], ',') || ARRAY_TO_STRING(ARRAY['a', NULL], ',', '?')": "aa,?",
    "SUBSTR(SHA224('abc'), 1, 4) || SUBSTR(SHA256('abc'), 1, 4)": "2309ba78",
    "SUBSTR(SHA384('abc'), 1, 4) || SUBSTR(SHA512('abc'), 1, 4)": "cb00ddaf",
    "URL_DECODE_PARAM(URL_ENCODE_PARAM('a b&c'))": "a b&c",
    "URL_EXTRACT_PROTOCOL('http://a.org/p') || URL_EXTRACT_HOST('http://a.org/p')": "httpa.org",
    """EXTRACTJSONFIELD('{"a": {"b": 1}}', '$.a')""": '{"b":1}',
    """JSON_KEYS('{"a": 1, "b": 2}')""": ["a", "b"],
    "PROCTIME() = CURRENT_TIMESTAMP AND LOCALTIMESTAMP = NOW() AND UNIX_TIMESTAMP() = UNIX_TIMESTAMP(NOW())": True,
    "FORMAT_TIMESTAMP(PARSE_TIMESTAMP('05.03.24', 'dd.MM.yy'), 'yyyy')": "2024",
    "FORMAT_DATE(PARSE_DATE('05.03.2024', 'dd.MM.yyyy'), 'MM')": "03",
    "STRINGTOTIMESTAMP('1970-01-02', 'yyyy-MM-dd')": 86_400_000,
    "STRINGTOTIMESTAMP('1970-01-02 09', 'yyyy-MM-dd HH', 'Asia/Seoul')": 86_400_000,
    "TIMESTAMPTOSTRING(86400000, 'yyyy-MM-dd') || DATETOSTRING(1, 'dd')": "1970-01-0202",
    "STRINGTODATE('1970-01-02', 'yyyy-MM-dd')": 1,
    "TO_TIMESTAMP_LTZ('2024-03-05 06:07:08')": datetime(2024, 3, 5, 6, 7, 8),
    "TO_TIMESTAMP_LTZ(1000, 3) = TO_TIMESTAMP_LTZ(1, 0)": True,
    "TO_TIMESTAMP_LTZ('2024', 'yyyy')": datetime(2024, 1, 1),
    "ARRAY_LENGTH(ARRAY_REVERSE(ARRAY[1, 2]))": 2,
    "AS_MAP(ARRAY['a'], ARRAY[1])": {"a": 1},
    "TIMESTAMPADD(HOUR, 1 + 1, TIMESTAMP '2024-01-01') - TIMESTAMP '2024-01-01'": timedelta(hours=2),
    "TIMESTAMPADD(QUARTER, 1, TIMESTAMP '2024-01-31')": datetime(2024, 4, 30),
    "TIMESTAMPADD(MICROSECOND, 5, TIMESTAMP '2024-01-31')": datetime(2024, 1, 31, 0, 0, 0, 5),
    "DATEADD(DAYS, -1, DATE '2024-03-01')": date(2024, 2, 29),
    "DATE_SUB(MONTH, 1, DATE '2024-03-31')": date(2024, 2, 29),
    "DATEDIFF(HOUR, TIMESTAMP '2024-01-01', TIMESTAMP '2024-01-02 23:59:00')": 47,
    "TIMESTAMPDIFF(DAY, TIMESTAMP '2024-01-02 23:59:00', TIMESTAMP '2024-01-01')": -1,
    "DATE_BIN(INTERVAL '15' MINUTE, TIMESTAMP '2024-01-01 06:44:59', TIMESTAMP '2024-01-01 00:05:00')": datetime(
        2024, 1, 1, 6, 35
    ),
    "DATE_BIN(INTERVAL '1 day', TIMESTAMP '2000-01-01 06:44:59', TIMESTAMP '2024-01-01 00:05:00')": datetime(
        2000, 1, 1, 0, 5
    ),
    "TIME_BUCKET(INTERVAL '15' MINUTE, TIMESTAMP '2024-01-01 06:44:59')": datetime(2024, 1, 1, 6, 30),
    "INT('5') + BIGINT(2) * TINYINT(3.9) + SMALLINT('1')": 12,
    "STRING(DATE('2024-01-02')) || STRING(BOOLEAN('true')) || STRING(TIMESTAMP('2024-01-02'))": (
        "2024-01-02true2024-01-02 00:00:00"
    ),
    "DOUBLE('1.5') + FLOAT('0.5') + LENGTH(BINARY('ab')) + DECIMAL('3')": 7.0,
    "SPLIT_INDEX('a.b.', '.', 1) || SPLIT_INDEX('a.b.', '.', 2)": "b",
    "SPLIT_INDEX('a.b', '.', 2)": None,
    "SPLIT_INDEX('', '.', 0)": None,
    "STRUCT(1, 'a').col2 || ROW('b').col1": "ab",
}


def test_forms_have_these_values(spark: SparkSession) -> None:
    items = ", ".join(f"{spark_sql(resolved(text))} AS c{place}" for place, text in enumerate(FORMS))
    (row,) = spark.sql(f"SELECT {items}").collect()
    assert dict(zip(FORMS, row, strict=True)) == FORMS


VALUES = {
    "i": "12, CAST(NULL AS INT), -1",
    "l": "12L, 13L, NULL",
    "t": "CAST(1 AS TINYINT), NULL, CAST(12 AS TINYINT)",
    "x": "1.5D, 12D, NULL",
    "f": "CAST(1.5 AS FLOAT), NULL, CAST(12 AS FLOAT)",
    "p": "CAST(12 AS DECIMAL(10, 2)), CAST(1.5 AS DECIMAL(10, 2)), NULL",
    "s": "'12', NULL, ' 1 '",
    "d": "DATE '2024-01-02', NULL, DATE '1999-12-31'",
    "ts": "TIMESTAMP '2024-01-02', NULL, TIMESTAMP '1999-12-31 01:02:03.5'",
    "b": "true, NULL, false",
    "sd": "'2024-01-02', '1999-12-31', NULL",
    "st": "'2024-01-02 00:00:00', '1999-12-31', NULL",
    "sb": "'true', 'no', NULL",
}
NUMBERS = ("i", "l", "t", "x", "f", "p")
IMPLICIT = (
    *(f"s {sign} {number}" for number in NUMBERS for sign in ("=", "<", ">=", "<>", "<=>", "+", "-", "*", "/")),
    *(f"{number} {sign} s" for number in NUMBERS for sign in ("=", "IS DISTINCT FROM", "-", "%")),
    *(f"s IN ({number}, 5, NULL)" for number in ("i", "l", "t")),
    *(f"s BETWEEN {number} AND {number}" for number in NUMBERS),
    *(f"{number} IN ('12', {number})" for number in NUMBERS),
    *(f"CASE s WHEN {number} THEN 'a' ELSE 'b' END" for number in NUMBERS),
    *(f"sd {sign} d" for sign in ("=", "<", "<=>")),
    *(f"ts {sign} st" for sign in ("=", "<", "<=>")),
    *("d IN (sd, d)", "st BETWEEN ts AND ts", "sb = b", "b <=> sb", "s DIV 5", "i DIV s"),
    *(f"'x' || {name} || s" for name in VALUES),
    *(f"CONCAT({name}, 'x', s)" for name in VALUES),
    *(f"{name} LIKE '1%'" for name in VALUES),
    *(f"UPPER({name}) || LENGTH({name}) || CONCAT_WS('-', {name}, {name})" for name in VALUES),
    *("SQRT(s)", "LEFT(s, s)", "BIN(s)", "HYPOT(s, i)", "FACTORIAL(s)", "DATE_ADD(sd, 1)", "LAST_DAY(sd)", "HOUR(st)"),
    *("DATEDIFF(sd, d)", "DATE_FORMAT(st, 'yyyy')", "DATE_TRUNC('DAY', st)", "FROM_UTC_TIMESTAMP(st, 'Asia/Seoul')"),
    *("MONTHS_BETWEEN(st, ts)", "MAKE_DATE(2000 + i, s, 1)", "SPACE(s)"),
    *("REPLACE(i, 1, l)", "SUBSTRING(p, 1, 3)", "STARTSWITH(x, i)", "LPAD(i, 5, 0)", "REGEXP_REPLACE(ts, '-', b)"),
)


def test_casts_that_nobody_wrote_are_those_of_spark(spark: SparkSession) -> None:
    types = {name: type_ for name, type_ in COLUMNS if name in VALUES} | dict.fromkeys(("sd", "st", "sb"), STRING)
    scope = Scope(tuple(ScopeColumn("o", name, name, type_) for name, type_ in types.items()))
    arrays = ", ".join(f"ARRAY({values}) AS `{name}`" for name, values in VALUES.items())
    items = ", ".join(f"`{name}`[place] AS `{name}`" for name in VALUES)
    places = "LATERAL VIEW EXPLODE(SEQUENCE(0, 2)) AS place"
    spark.sql(f"SELECT {items} FROM (SELECT {arrays}) {places}").createOrReplaceTempView("o")
    ours = spark.sql(f"SELECT {', '.join(f'{spark_sql(resolved(text, scope))} AS c' for text in IMPLICIT)} FROM o")
    plain = spark.sql(f"SELECT {', '.join(f'{text} AS c' for text in IMPLICIT)} FROM o")
    different = [
        (text, one.dataType, other.dataType)
        for text, one, other in zip(IMPLICIT, ours.schema, plain.schema, strict=True)
        if one.dataType != other.dataType
    ]
    assert different == []
    pairs = zip(ours.collect(), plain.collect(), strict=True)
    assert [text for one, other in pairs for text, a, b in zip(IMPLICIT, one, other, strict=True) if a != b] == []
