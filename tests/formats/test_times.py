"""Texts -> the times that they are taken for: what Spark reads, if it has a date and at most six decimals."""

from __future__ import annotations

import random
import re

import pytest
from pyspark.sql import SparkSession

from penstock.codegen.sql.printing import print_sql
from penstock.codegen.sql.read_values import parse
from penstock.codegen.sql.trees import alias, column, select
from penstock.planner.types import TIMESTAMP
from tests import campaign

pytestmark = [pytest.mark.spark, pytest.mark.draws]

DRAWN = 1_000_000 if campaign.IS_RUNNING else 20_000
_DATE = r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
_CLOCK = r"[ T][0-9:]+(\.[0-9]{0,6}0*)?([^0-9.:].*)?"
WRITTEN = re.compile(f"^{_DATE}({_CLOCK})?$", re.DOTALL)
# Between fields and around them, what may stand there and what may not.
SIGNS = [*"0123456789:.-+ TZ", "\n", "\t", "\0", "x", "é", "UTC", "+01:00", " Europe/Paris", "12:30"]

# Of years before the first one.
KNOWN = {"    -2024-1-1 01:1:1", "    -2024-1-2 1:1:1.5"}


def draw_time(r: random.Random) -> str:
    """The text of a time in one of many forms. Half of them have a sign too many, too few, or another one."""

    def draw(usual: str, *others: str) -> str:
        return r.choice([usual, r.choice(others)])

    year = draw("2024", "0001", "9999", "02024", "12024", "202", "+2024", "-2024")
    date = draw(f"{year}-01-02", f"{year}-1-2", f"{year}-1-02", f"{year}-01", year, "")
    clock = draw("03:04:05", "3:4:5", "13:4:5", "03:04", "3:4", "03", "")
    fraction = draw("." + "123456789"[: r.randrange(10)], "", ".12" + "0" * r.randrange(9))
    zone = draw("", "Z", "+01:00", "-1:0", " UTC", "UTC+1", " Europe/Paris", "+01:02:03")
    signs = list(date + draw(" ", "T", "") + clock + fraction + zone)
    for _ in range(r.choice([0, 0, 0, 1, 2, 3])):
        place = r.choice([0, len(signs), r.randrange(len(signs) + 1)])
        signs[place : place + r.randrange(2)] = r.choice(SIGNS)
    return "".join(signs)


def test_a_time_has_a_date_and_six_decimals(spark: SparkSession) -> None:
    r = random.Random(5)
    texts = sorted({draw_time(r) for _ in range(DRAWN)} | KNOWN)
    spark.createDataFrame([(each,) for each in texts], "written STRING").createOrReplaceTempView("texts")
    items = [column("written"), alias(parse(column("written"), TIMESTAMP), "parsed")]
    rows = spark.sql(f"SELECT *, TRY_CAST(written AS TIMESTAMP) AS taken FROM ({print_sql(select(items, 'texts'))})")
    taken = (
        rows.where("taken IS NOT NULL")
        .selectExpr("written", "parsed IS NOT NULL AS is_parsed", "parsed = taken")
        .collect()
    )
    assert {row.is_parsed for row in taken} == {True, False}
    assert [row.written for row in taken if row.is_parsed != (WRITTEN.search(row.written) is not None)] == []
    assert all(row[2] is not False for row in taken)
    assert rows.where("taken IS NULL AND parsed IS NOT NULL").isEmpty()
