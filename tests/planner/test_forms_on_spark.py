"""Forms of other systems have the values that they have there."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from tests.planner.expressions import resolved, spark_sql

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
}


def test_forms_have_these_values(spark: SparkSession) -> None:
    items = ", ".join(f"{spark_sql(resolved(text))} AS c{place}" for place, text in enumerate(FORMS))
    (row,) = spark.sql(f"SELECT {items}").collect()
    assert dict(zip(FORMS, row, strict=True)) == FORMS
