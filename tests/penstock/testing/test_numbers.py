"""Numbers that are not finite, values beyond their range, and what nothing else explains: never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.testing import run_case
from penstock.testing.snapshots import rewrite
from tests.penstock.testing.shop import HEAD, explain_one, run_one, run_tests

SCRIPT = """
CREATE STREAM s (k INT, v DOUBLE, time TIMESTAMP, WATERMARK FOR time AS time)
WITH (connector = 'files', path = 's', format = 'json');
CREATE TABLE sums AS SELECT k, {aggregate} AS r FROM s GROUP BY k;
CREATE STREAM windows AS
SELECT STREAM k, {aggregate} AS r FROM s GROUP BY k, TUMBLE(time, INTERVAL 1 MINUTE);
CREATE TABLE of_sums AS SELECT r, COUNT(*) AS n, {outer} AS o FROM (SELECT k, MAX(v) AS r, MAX(v) AS v FROM s GROUP BY k) GROUP BY r;
"""  # noqa: E501
ENDLESS = [
    ("SUM(v)", "NaN", "NaN"), ("SUM(v)", "Infinity", "Infinity"), ("AVG(v)", "-Infinity", "-Infinity"),
    ("STDDEV(v)", "NaN", "NaN"), ("VAR_POP(v)", "Infinity", "NaN"), ("MAX(v)", "NaN", "NaN"),
    ("MIN(v)", "NaN", "1"), ("COUNT(DISTINCT v)", "NaN", "2"), ("COUNT(v)", "Infinity", "3"),
    ("COUNT(DISTINCT v)", "3", "2"), ("SUM(DISTINCT v)", "3", "4"),
]  # fmt: skip


@pytest.mark.parametrize(("aggregate", "value", "result"), ENDLESS)
def test_numbers_that_are_not_finite(aggregate: str, value: str, result: str, tmp_path: Path) -> None:
    script = SCRIPT.format(aggregate=aggregate, outer="SUM(v)")
    given = f"GIVEN s VALUES (1, '{value}', '0:00'), (1, 1, '0:01'), (1, '{value}', '0:02'); GIVEN END;"
    shown = result if result.isdigit() else f"'{result}'"
    assert run_one(tmp_path, f"{given} THEN sums VALUES (1, {shown}); THEN windows VALUES (1, {shown});", script) == []
    assert run_one(tmp_path, f"{given} THEN sums VALUES (1, 7);", script) == ["T110"]


def test_nan_leaves_a_group(tmp_path: Path) -> None:
    script = SCRIPT.format(aggregate="SUM(v)", outer="SUM(v)")
    given = "GIVEN s VALUES (1, 'Infinity', '0:00'), (2, 2, '0:00'); THEN sums (r) VALUES ('Infinity'), (2);"
    text = f"{given} GIVEN s VALUES (1, 'NaN', '0:01'); THEN of_sums VALUES ('NaN', 1, 'NaN'), (2, 1, 2);"
    assert run_one(tmp_path, text, script) == []


def test_a_sum_beyond_the_range(tmp_path: Path) -> None:
    for aggregate in ("SUM(v)", "VAR_POP(v)"):
        script = SCRIPT.format(aggregate=aggregate, outer="SUM(v)")
        given = "GIVEN s VALUES (1, 1e308, '0:00'), (1, 1e308, '0:00'), (1, -1e308, '0:00'), (1, 2e307, '0:00');"
        found = run_one(tmp_path, f"{given} GIVEN END; THEN sums (r) VALUES (1);", script)
        assert found in (["T101"], ["T110"])


def test_what_nothing_explains_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a mistake")

    monkeypatch.setattr(run_case, "run_steps", fail)
    assert run_one(tmp_path, "THEN paid NOTHING;") == ["T116"]
    text = explain_one(tmp_path, "THEN paid NOTHING;")
    assert "ZeroDivisionError" in text
    assert "report the test" in text


def test_doubles_may_differ_by_a_tiny_share(tmp_path: Path) -> None:
    script = SCRIPT.format(aggregate="SUM(v)", outer="COUNT(*)")
    given = "GIVEN s VALUES (1, 0.1, '0:00'), (1, 0.2, '0:00'), (2, 5, '0:00'), (3, 5.00000000002, '0:00');"
    assert run_one(tmp_path, f"{given} THEN sums VALUES (3, 5.00000000002), (1, 0.3), (2, 5.0);", script) == []
    assert run_one(tmp_path, f"{given} THEN sums VALUES (3, 5), (1, 0.3), (2, 5);", script) == ["T110"]
    text = explain_one(tmp_path, f"{given} THEN sums (r) VALUES (0.3), (5), (5);", script)
    assert "unexpected  5.00000000002" in text
    assert text.count("missing") == 1


def test_what_came_is_written_so_that_it_is_read_again(tmp_path: Path) -> None:
    script = SCRIPT.format(aggregate="SUM(v)", outer="COUNT(*)")
    given = "GIVEN s VALUES (1, 'NaN', '0:00'), (2, 'Infinity', '0:00'), (3, '-Infinity', '0:00');\n"
    results = run_tests(tmp_path, HEAD + given + "THEN sums NOTHING;", script)
    text = rewrite(results[0].source, results)
    assert "VALUES (1, 'NaN'), (2, 'Infinity'), (3, '-Infinity');" in text.splitlines()[-1]
    assert run_tests(tmp_path, text, script)[0].passes


def test_nan_is_the_greatest_and_equal_to_itself(tmp_path: Path) -> None:
    script = """CREATE STREAM s (k INT, v DOUBLE) WITH (connector = 'files', path = 's', format = 'json');
    CREATE STREAM r AS SELECT STREAM k FROM s WHERE v > 1;
    CREATE STREAM e AS SELECT STREAM k FROM s WHERE v = v;
    CREATE TABLE m AS SELECT k, MIN(CASE WHEN v > 1 THEN v ELSE 0 END) AS least FROM s GROUP BY k;
    CREATE TABLE g AS SELECT v, COUNT(*) AS n FROM s GROUP BY v;"""
    given = "GIVEN s VALUES (1, 'NaN'), (2, 0.5), (3, 'NaN'), (3, 1);"
    assert run_one(tmp_path, f"{given} THEN r VALUES (1), (3); THEN e VALUES (1), (2), (3), (3);", script) == []
    assert run_one(tmp_path, f"{given} THEN m VALUES (1, 'NaN'), (2, 0), (3, 0);", script) == []
    assert run_one(tmp_path, f"{given} THEN g VALUES ('NaN', 2), (0.5, 1), (1, 1);", script) == []
    assert run_one(tmp_path, f"{given} THEN r NOTHING;", script) == ["T110"]


def test_numbers_of_single_precision(tmp_path: Path) -> None:
    script = """CREATE STREAM s (f FLOAT, x DOUBLE) WITH (connector = 'files', path = 's', format = 'json');
    CREATE STREAM r AS SELECT STREAM f, f + f AS twice, f * f AS square, f > 0.1 AS more, f / 1 AS d,
      CAST(x AS FLOAT) AS x FROM s;"""
    given = "GIVEN s VALUES (0.1, 0.1), (16777217, 1e39), ('NaN', 1e-50);"
    then = """THEN r VALUES (0.1, 0.2, 0.010000001, TRUE, 0.10000000149011612, 0.1),
      (16777216, 33554432, 281474976710656, TRUE, 16777216, 'Infinity'), ('NaN', 'NaN', 'NaN', TRUE, 'NaN', 0)"""
    assert run_one(tmp_path, f"{given} {then};", script) == []
    assert run_one(tmp_path, f"{given} {then.replace('0.010000001', '0.01')};", script) == ["T110"]
    (result,) = run_tests(tmp_path, f"{HEAD}{given} THEN r (f, twice, square) NOTHING;", script)
    assert "(0.1, 0.2, 0.010000001), (16777216, 33554432, 2.8147498e+14)" in rewrite(result.source, [result])


def test_a_float_of_many_digits_is_not_guessed(tmp_path: Path) -> None:
    script = """CREATE STREAM s (f FLOAT) WITH (connector = 'files', path = 's', format = 'json');
    CREATE STREAM r AS SELECT STREAM f FROM s;"""
    assert run_one(tmp_path, "GIVEN s VALUES ('0.12345678901234567'); THEN r NOTHING;", script) == ["T101"]


def test_bytes(tmp_path: Path) -> None:
    script = """CREATE STREAM s (id INT, b BINARY) WITH (connector = 'files', path = 's', format = 'json');
    CREATE STREAM r AS SELECT STREAM id, MD5(b) AS digest, b FROM s;"""
    given = "GIVEN s VALUES (1, 'abc'), (2, UNHEX('FF00'));"
    assert run_one(tmp_path, f"{given} THEN r (digest) VALUES (MD5('abc')), (MD5(UNHEX('FF00')));", script) == []
    (result,) = run_tests(tmp_path, f"{HEAD}{given} THEN r (id, b) NOTHING;", script)
    assert "(1, UNHEX('616263')), (2, UNHEX('FF00'))" in rewrite(result.source, [result])
    assert run_one(tmp_path, "GIVEN s (id) VALUES (UNHEX('FF')); THEN r NOTHING;", script) == ["T102"]
