"""Numbers that are not of ASCII digits, or of very many, are accepted or refused with a code wherever they stand."""

from __future__ import annotations

from contextlib import suppress

import pytest

import penstock
from penstock.compilation import compile_read
from penstock.diagnostics import CompileError, Source

DECLARED = """
CREATE STREAM s (x BIGINT KEY, a ARRAY<BIGINT>, z BIGINT, t TIMESTAMP, WATERMARK FOR t AS t - INTERVAL '1' SECOND)
WITH (connector = 'files', path = 's', format = 'json');
CREATE TABLE k (x BIGINT PRIMARY KEY, z BIGINT) WITH (connector = 'files', path = 'k', format = 'json');
"""
FILES = "WITH (connector = 'files', path = 'r', format = 'json'"
OVER = "OVER (PARTITION BY x ORDER BY t"
# `#` stands for the number.
ITEMS = (
    *("#", "-#", "x * #.#", ".#", "#e#", "1e#", "a[#]", "x::DECIMAL(#)", "CAST(z AS DECIMAL(#, #))", "x IN (#, 1)"),
    *(
        "ROUND(1.5, #)",
        "ROUND(1.5, -#)",
        "ROUND(z, #)",
        "CAST(z AS VARCHAR(#))",
        "SUBSTRING('a', #)",
        "SHIFTLEFT(x, #)",
    ),
    *(f"SUM(z) {OVER} ROWS # PRECEDING)", f"SUM(z) {OVER} RANGE # SECOND PRECEDING)", f"LAG(z, #) {OVER})"),
    f"LEAD(z, #, #) {OVER} RANGE BETWEEN CURRENT ROW AND INTERVAL '#' SECOND FOLLOWING)",
    *("t + INTERVAL '#' SECOND", "t + INTERVAL # MONTH", "t + # DAY", "t > '#-01-01'", "DATE '#-1-1'"),
    *("TIMESTAMP '2024-01-01 00:00:00.#'", "TIMESTAMP '2024-01-01 00:00:00+#:00'"),
)
STATEMENTS = (
    *(f"SELECT STREAM {item} AS v FROM s" for item in ITEMS),
    "SELECT STREAM x FROM s PARTITION BY x INTO # PARTITIONS",
    "SELECT STREAM x FROM s LIMIT #",
    "SELECT STREAM COUNT(*) AS n FROM s GROUP BY TUMBLE(t, # SECOND) GRACE PERIOD INTERVAL '#' DAY",
    "SELECT STREAM x FROM s DEDUPLICATE ON (x) WITHIN # SECOND",
    "SELECT STREAM x FROM HOP(s, t, # SECOND, # SECOND)",
    "SELECT STREAM b.x FROM s a JOIN s b ON a.x = b.x AND a.t BETWEEN b.t - INTERVAL '#' SECOND AND b.t + # SECOND",
    "SELECT STREAM b.x FROM s a JOIN s b WITHIN # SECOND ON a.x = b.x",
    "SET state_partitions = #",
    "SET auto_repartition = #",
    f"CREATE STREAM r (x DECIMAL(#)) {FILES}, files_per_batch = #, partitions = #)",
    f"CREATE STREAM r (x INT, t TIMESTAMP, WATERMARK FOR t AS t - INTERVAL '#' SECOND IDLE AFTER # SECOND) {FILES})",
    f"CREATE TABLE r (x BIGINT PRIMARY KEY) {FILES}, retention = INTERVAL '#' DAY)",
    "CREATE TABLE r AS SELECT z, COUNT(*) AS n FROM s GROUP BY z, TUMBLE(t, 1 SEC) RETENTION # DAY",
    "CREATE TABLE r AS SELECT z, COUNT(*) AS n FROM s GROUP BY z, TUMBLE(t, 1 SEC) EMIT EARLY EVERY # SEC",
)
NUMBERS = ("１２", "1２", "٣", "1²", "9" * 5_000, "９" * 5_000)


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: f"{number[:2]}-{len(number)}")
def test_numbers_of_a_script(number: str) -> None:
    catalog = penstock.compile(DECLARED).catalog
    for statement in STATEMENTS:
        with pytest.raises(CompileError) as refusal:
            assert penstock.compile(DECLARED + statement.replace("#", number)).program, "is lowered"
        assert refusal.value.diagnostics
    for clause in ("ORDER BY #", "WHERE x = #", "LIMIT #"):
        with pytest.raises(CompileError):
            compile_read(Source("<read>", f"SELECT x FROM k {clause}".replace("#", number)), catalog, memory=True)


@pytest.mark.parametrize(("text", "code"), [("１２", "S007"), ("1２", "S007"), ("1.²", "S007")])
def test_a_number_has_ascii_digits(text: str, code: str) -> None:
    with pytest.raises(CompileError) as refusal:
        penstock.compile(f"{DECLARED} SELECT STREAM {text} FROM s")
    (found,) = refusal.value.diagnostics
    assert (found.code, found.labels[0].span.text) == (code, text)


def test_zeros_in_front_are_digits_of_a_number() -> None:
    for statement in STATEMENTS:
        with suppress(CompileError):
            assert penstock.compile(DECLARED + statement.replace("#", "0" * 5_000 + "1")).program, "is lowered"
    assert penstock.compile(f"{DECLARED} SELECT STREAM {'0' * 37}1 AS v, ROUND(z, 0000000001) AS w FROM s")
    with pytest.raises(CompileError, match="T010"):
        penstock.compile(f"{DECLARED} SELECT STREAM {'0' * 38}1 AS v FROM s")
