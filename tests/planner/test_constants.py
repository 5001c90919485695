"""Literals that cannot work, and types that cannot be compared, are refused where they stand."""

from __future__ import annotations

import pytest

import penstock
from penstock.diagnostics import CompileError
from penstock.planner.scalars.regex import read_regex
from tests.planner.expressions import refused, resolved


@pytest.mark.parametrize(
    ("text", "code", "place", "hint"),
    [
        ("m IN (m)", "T002", "m IN (m)", None),
        ("m NOT IN (m)", "T002", "m NOT IN (m)", None),
        ("m BETWEEN m AND m", "T002", "m BETWEEN m AND m", None),
        ("CASE m WHEN m THEN 1 END", "T002", "CASE m WHEN m THEN 1 END", None),
        ("m <=> m", "T002", "m <=> m", None),
        ("ARRAY(m) IN (ARRAY(m))", "T002", "ARRAY(m) IN (ARRAY(m))", None),
        ("NAMED_STRUCT('a', m) = NAMED_STRUCT('a', m)", "T002", None, None),
        ("HASH(i, m)", "T006", "HASH(i, m)", None),
        ("XXHASH64(ARRAY(m))", "T006", "XXHASH64(ARRAY(m))", None),
        ("NULLIF(m, m)", "T006", "NULLIF(m, m)", None),
        ("ARRAY_DISTINCT(ARRAY(m))", "T006", "ARRAY_DISTINCT(ARRAY(m))", None),
        ("MAP_CONTAINS_KEY(NULL, m)", "T006", "MAP_CONTAINS_KEY(NULL, m)", None),
        ("ARRAY_CONTAINS(ARRAY(), NULL)", "T006", "ARRAY_CONTAINS(ARRAY(), NULL)", None),
        ("MAP(m, 1)", "T016", "MAP(m, 1)", None),
        ("MAP(ARRAY(m), 1)", "T016", "MAP(ARRAY(m), 1)", None),
        ("MAP_FROM_ARRAYS(ARRAY(m), a)", "T016", "MAP_FROM_ARRAYS(ARRAY(m), a)", None),
        ("TRANSFORM_KEYS(m, (k, v) -> m)", "T016", "TRANSFORM_KEYS(m, (k, v) -> m)", None),
        ("CAST(NULL AS MAP<MAP<INT, INT>, INT>)", "T016", None, None),
        ("NAMED_STRUCT('A', 1, 'a', 2)", "T015", "NAMED_STRUCT('A', 1, 'a', 2)", None),
        ("CAST(NULL AS STRUCT<a: INT, A: INT>)", "T015", None, None),
        ("SORT_ARRAY(a, i > 0)", "T013", "i > 0", "IF(i > 0, SORT_ARRAY(a, TRUE), SORT_ARRAY(a, FALSE))"),
        ("MASK(s, s)", "T013", "s", None),
        ("MASK(s, 'X', UPPER(s))", "T013", "UPPER(s)", None),
        ("TO_CHAR(i, s)", "T013", "s", None),
        ("DATE_PART(s, ts)", "T013", "s", None),
        ("MASK(s, 'XY')", "T014", "'XY'", "'X'"),
        ("s RLIKE '('", "T014", "'('", None),
        ("s LIKE 'a\\b'", "T014", "'a\\b'", None),
        ("SPLIT(s, '[')", "T014", "'['", None),
        ("STR_TO_MAP(s, ',', '*')", "T014", "'*'", None),
        ("REGEXP_EXTRACT(s, '(a)', 2)", "T014", "2", "0"),
        ("REGEXP_EXTRACT(s, 'a')", "T014", "'a'", "REGEXP_EXTRACT(s, 'a', 0)"),
        ("REGEXP_EXTRACT_ALL(s, '(?:a)')", "T014", "'(?:a)'", "REGEXP_EXTRACT_ALL(s, '(?:a)', 0)"),
        ("REGEXP_EXTRACT(s, '(')", "T014", "'('", None),
        ("REGEXP_REPLACE(s, 'a', '$1')", "T014", "'$1'", None),
        ("DATE_FORMAT(ts, 'YYYY-MM-dd')", "T014", "'YYYY-MM-dd'", "'yyyy-MM-dd HH:mm:ss'"),
        ("TO_TIMESTAMP(s, 'EEE d')", "T014", "'EEE d'", None),
        ("TO_CHAR(i, 'abc')", "T014", "'abc'", "'999,999.99'"),
        ("FROM_UTC_TIMESTAMP(ts, 'Asia/Seol')", "T014", "'Asia/Seol'", "did you mean 'Asia/Seoul'?"),
        ("TO_UTC_TIMESTAMP(ts, '+19')", "T014", "'+19'", "'+09:00'"),
        ("ENCODE(s, 'utf8')", "T014", "'utf8'", "did you mean 'UTF-8'?"),
        ("DATE_TRUNC('HOURS', ts)", "T014", "'HOURS'", "did you mean 'HOUR'?"),
        ("TRUNC(d, 'DAY')", "T014", "'DAY'", None),
        ("DATE_PART('EPOCH', ts)", "T014", "'EPOCH'", None),
        ("NEXT_DAY(d, 'TUES')", "T014", "'TUES'", "did you mean 'TUESDAY'?"),
        ("PRINTF('%d', s)", "T014", "'%d'", None),
        ("PRINTF('%0$s', s)", "T014", "'%0$s'", None),
        ("FORMAT_STRING('%.2f', p)", "T014", "'%.2f'", None),
        ("ELEMENT_AT(a, 0)", "T014", "0", "1"),
        ("SPLIT_PART(s, '.', 0)", "T014", "0", "1"),
        ("REPEAT(s, 2000000000)", "L006", "REPEAT(s, 2000000000)", None),
        ("REPEAT(REPEAT('ab', 1000), 1000)", "L006", "REPEAT(REPEAT('ab', 1000), 1000)", None),
        ("LPAD(s, 1000001)", "L006", "LPAD(s, 1000001)", None),
        ("SPACE(1000001)", "L006", "SPACE(1000001)", None),
        ("ARRAY_REPEAT(SEQUENCE(1, 2000), 1000)", "L006", "ARRAY_REPEAT(SEQUENCE(1, 2000), 1000)", None),
        ("SEQUENCE(1, 3000000000)", "L006", "SEQUENCE(1, 3000000000)", None),
        ("SEQUENCE(1, 5, -1)", "T017", "SEQUENCE(1, 5, -1)", None),
        ("SEQUENCE(5, 1, 0)", "T017", "SEQUENCE(5, 1, 0)", None),
        ("i / 0", "T017", "i / 0", None),
        ("p % 0.0", "T017", "p % 0.0", None),
        ("i DIV (0)", "T017", "i DIV (0)", None),
        ("INTERVAL '1' DAY / 0", "T017", "INTERVAL '1' DAY / 0", None),
        ("2147483647 + 1", "T017", "2147483647 + 1", None),
        ("-9223372036854775808 - 1", "T017", "-9223372036854775808 - 1", None),
        ("65536 * 65536", "T017", "65536 * 65536", None),
        ("CAST('x' AS INT)", "T010", "'x'", "TRY_CAST('x' AS INT) gives NULL"),
        ("CAST('1.5' AS BIGINT)", "T010", "'1.5'", None),
        ("CAST('300' AS TINYINT)", "T010", "'300'", None),
        ("CAST('1,5' AS DOUBLE)", "T010", "'1,5'", None),
        ("CAST('9.95' AS DECIMAL(2, 1))", "T010", "'9.95'", None),
        ("CAST('maybe' AS BOOLEAN)", "T010", "'maybe'", None),
        ("CAST(300 AS TINYINT)", "T010", "300", None),
        ("CAST(-1e30 AS BIGINT)", "T010", "-1e30", None),
        ("CAST(123456 AS DECIMAL(5, 0))", "T010", "123456", None),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused(text: str, code: str, place: str | None, hint: str | None) -> None:
    (problem,) = refused(text)
    assert problem.code == code
    if place is not None:
        assert problem.labels[0].span.text == place
    if hint is not None:
        assert problem.hint == hint


ACCEPTED = (
    *("a IN (a, NULL)", "st BETWEEN st AND st", "MAP(st, m)", "ARRAY_CONTAINS(a, NULL)", "COALESCE(m, MAP('a', 1))"),
    *("SORT_ARRAY(a, FALSE)", "SORT_ARRAY(a, NULL)", "MASK(s, NULL)", "MASK(s, 'X', 'é')", "TO_CHAR(i, NULL)"),
    *(
        "s RLIKE s",
        "s RLIKE '(?<n>a)|[]b]{2,}+'",
        "s RLIKE '(?x) ( ) '",
        r"s LIKE '\%\\'",
        "REGEXP_EXTRACT(s, '(a)', 1)",
        "REGEXP_EXTRACT(s, '(a)')",
        "REGEXP_EXTRACT(s, 'a', 0)",
    ),
    *("REGEXP_REPLACE(s, '(a)', '$12')", "DATE_FORMAT(ts, 'QQQ EEE v')", "TO_DATE(s, '[dd.]MM.yyyy')"),
    *(
        "TO_CHAR(p, 'S999,999.99')",
        "TO_CHAR(i, 'mi9')",
        "FROM_UTC_TIMESTAMP(ts, '+9')",
        "FROM_UTC_TIMESTAMP(ts, 'EST')",
    ),
    *("FROM_UTC_TIMESTAMP(ts, s)", "ENCODE(s, 'utf-16')", "ENCODE(s, s)", "DATE_TRUNC('week', ts)", "TRUNC(d, 'yy')"),
    *("NEXT_DAY(d, 'mO')", "PRINTF('%2$s %1$d%%', i, s)", "PRINTF('%.2f %b', x, NULL)", "PRINTF(s, i)"),
    *("ELEMENT_AT(a, -1)", "ELEMENT_AT(m, '0')", "REPEAT('ab', 500000)", "REPEAT('', 2000000000)", "SPACE(-5)"),
    *("SEQUENCE(5, 1)", "SEQUENCE(1, 1, 0)", "SEQUENCE(1, 1000000)", "SEQUENCE(i, 3)", "SEQUENCE(10, 1, -3)"),
    *("i / 1", "NULL / 0", "0 / i", "x % i", "2147483647 - 1", "2147483647 + 9223372034707292160", "1e0 / 5"),
    *("CAST(' -12 ' AS TINYINT)", "CAST('1e2' AS DECIMAL(5, 0))", "CAST('1d' AS DOUBLE)", "CAST('+Inf' AS FLOAT)"),
    *("CAST('0x1p3' AS DOUBLE)", "CAST('YES' AS BOOLEAN)", "CAST(2.9 AS TINYINT)", "CAST(1e40 AS FLOAT)"),
    *(f"CAST('{'9' * 38}' AS DECIMAL(38, 0))", "CAST('1e-1000' AS DECIMAL(5, 2))", f"CAST('{'0' * 500}1' AS INT)"),
    *("TRY_CAST('x' AS INT)", "CAST(9.94 AS DECIMAL(2, 1))", "CAST(-128 AS TINYINT)"),
)


@pytest.mark.parametrize("text", ACCEPTED)
def test_what_may_work_is_accepted(text: str) -> None:
    assert resolved(text)


def test_groups_are_counted() -> None:
    assert read_regex(r"(a)(?:b)(?<n>c)\((?=d)[(]\Q(\E").groups == 2


def test_long_patterns_are_read() -> None:
    """What is nested too deeply, or too long to count, is left to Java."""
    for pattern in ("[" * 5_000, "(" * 5_000, "a{" + "9" * 5_000 + "}", "\\" * 4_999, "(?" * 5_000):
        assert read_regex(pattern).groups is None


ORDERS = """CREATE STREAM orders (id BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL '10' SECOND)
WITH (connector = 'files', path = 'data/orders', format = 'json');
SELECT STREAM window_end, COUNT(*) AS n FROM orders GROUP BY """


@pytest.mark.parametrize(
    ("window", "hint"),
    [
        ("HOP(time, {}, INTERVAL '1' DAY)", "INTERVAL '1' MINUTE"),
        ("CUMULATE(time, {}, INTERVAL '1' DAY)", "INTERVAL '1' MINUTE"),
        ("HOP(time, {}, INTERVAL '1' HOUR)", "INTERVAL '5' SECOND"),
        ("CUMULATE(time, {}, INTERVAL '86411' SECOND)", "INTERVAL '66470' MILLISECOND"),
    ],
)
def test_a_row_is_in_so_many_windows(window: str, hint: str) -> None:
    script = ORDERS + window
    with pytest.raises(CompileError) as refused:
        penstock.compile(script.format("INTERVAL '1' SECOND"))
    (problem,) = refused.value.diagnostics
    assert (problem.code, problem.labels[0].span.text) == ("L005", "INTERVAL '1' SECOND")
    assert problem.hint == f"{hint} is long enough"
    penstock.compile(script.format(hint))


def test_declared_types_are_judged() -> None:
    options = "WITH (connector = 'files', path = 'data/orders', format = 'json')"
    for type_, code in (("MAP<MAP<STRING, INT>, INT>", "T016"), ("ARRAY<STRUCT<a: INT, A: INT>>", "T015")):
        with pytest.raises(CompileError) as refused:
            penstock.compile(f"CREATE STREAM orders (value {type_}) {options}")
        assert [each.code for each in refused.value.diagnostics] == [code]
        assert refused.value.diagnostics[0].labels
