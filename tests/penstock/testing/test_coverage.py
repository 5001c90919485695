"""`penstock test --cover`: which classes of rows tests meet, and rows that meet the others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.compilation import compile
from penstock.diagnostics import CompileError, Source
from penstock.testing.cases import read_cases
from penstock.testing.coverage import OperatorResult, ScriptCoverage, cover, cover_script
from penstock.testing.script_relations import ScriptRelations
from tests.golden.cases import CASES
from tests.penstock.test_cli import penstock
from tests.penstock.testing.shop import SCRIPT
from tests.penstock.testing.test_wrong_scripts import RIGHT

SCRIPTS = {
    "shop": SCRIPT,
    "views": RIGHT,
    "conditions": """
CREATE STREAM s (k STRING, v INT, d DECIMAL(6, 2), day DATE, time TIMESTAMP, WATERMARK FOR time AS time)
WITH (connector = 'files', path = 's', format = 'json');
CREATE STREAM parts AS SELECT STREAM k FROM s WHERE v >= 7 AND (k = 'x' OR k LIKE 'y%') AND NOT day IS NULL;
CREATE STREAM sizes AS SELECT STREAM k, 100 / v AS share,
  CASE WHEN v < 10 THEN 'small' WHEN v < 20 THEN 'middle' ELSE 'large' END AS size FROM s WHERE d BETWEEN 1.5 AND 2.5;
CREATE TABLE sums AS SELECT k, COUNT(DISTINCT v) AS n, SUM(v) FILTER (WHERE v > 3) AS total FROM s GROUP BY k
HAVING COUNT(*) > 1;
""",
    "tables": """
CREATE TABLE people (id INT PRIMARY KEY, city STRING, age INT)
WITH (connector = 'files', path = 'people', format = 'json', operation = 'op');
CREATE TABLE cities (name STRING PRIMARY KEY, country STRING)
WITH (connector = 'files', path = 'cities', format = 'json', operation = 'op');
CREATE TABLE lived AS SELECT p.id, c.country FROM people p LEFT JOIN cities c ON p.city = c.name;
CREATE TABLE by_city AS SELECT city, COUNT(*) AS n, MAX(age) AS oldest FROM people GROUP BY city;
""",
    "rejecting": """
SET on_row_error = 'reject';
CREATE STREAM s (k STRING NOT NULL, v INT, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL 10 SECONDS)
WITH (connector = 'files', path = 's', format = 'json');
CREATE STREAM shares AS SELECT STREAM k, 100 / v AS share FROM s;
CREATE STREAM moving AS SELECT STREAM k, SUM(v) OVER (PARTITION BY k ORDER BY time
  RANGE BETWEEN INTERVAL 30 SECONDS PRECEDING AND CURRENT ROW) AS total FROM s;
CREATE STREAM once AS SELECT STREAM DISTINCT k, time FROM s;
""",
    "lookups": """
CREATE STREAM s (k INT, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL 10 SECONDS)
WITH (connector = 'files', path = 's', format = 'json');
CREATE TABLE t (k INT PRIMARY KEY, name STRING) WITH (connector = 'sqlite', path = 'a.db', table = 't');
CREATE TABLE u (k INT PRIMARY KEY, name STRING) WITH (connector = 'files', path = 'u', format = 'json');
CREATE STREAM remote AS SELECT STREAM s.k, t.name FROM s LEFT JOIN t ON s.k = t.k;
CREATE STREAM local AS SELECT STREAM s.k, u.name FROM s JOIN u ON s.k = u.k;
""",
}  # fmt: skip


def cover_text(script: str, tests: str = "", folder: Path = Path(), *, search: bool = True) -> ScriptCoverage:
    """The coverage of a script by tests without their first statement."""
    cases = read_cases(Source("shop_test.sql", "TEST 'one' OF 'shop.sql';\n" + tests)) if tests else []
    return cover_script("shop_test.sql", ScriptRelations(compile(script)), cases, folder, search=search)


def find_operator(result: ScriptCoverage, title: str) -> OperatorResult:
    (found,) = [each for each in result.operators if title in each.title]
    return found


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_rows_that_are_printed_meet_their_class(name: str) -> None:
    script = SCRIPTS[name]
    result = cover_text(script)
    given = [(operator, each) for operator in result.operators for each in operator.classes.values() if each.given]
    assert len(given) > 9
    assert not any(each.met for each in result.classes)
    for operator, each in given:
        tests = "\n".join(each.given or []) + f"\nTHEN {each.relation} NOTHING;\n"
        again = cover_text(script, tests, search=False)
        (same,) = [found for found in again.operators if (found.title, found.span) == (operator.title, operator.span)]
        assert same.classes[each.text].met, (operator.title, each.text, tests)


@pytest.mark.parametrize(
    ("name", "most"), [("shop", 2), ("views", 2), ("conditions", 2), ("tables", 0), ("lookups", 0)]
)
def test_rows_are_found_for_nearly_all_classes(name: str, most: int) -> None:
    result = cover_text(SCRIPTS[name])
    assert len(missing := [each.text for each in result.classes if not each.given]) <= most, missing


def count_rows(line: str) -> int:
    return line.split(" VALUES ")[1].count("(")


def test_partners_are_as_few_as_the_result_needs() -> None:
    script = """
    CREATE STREAM s (k INT, v INT, time TIMESTAMP, WATERMARK FOR time AS time)
    WITH (connector = 'files', path = 's', format = 'json');
    CREATE STREAM u (k INT, v INT, time TIMESTAMP, WATERMARK FOR time AS time)
    WITH (connector = 'files', path = 's', format = 'json');
    CREATE TABLE names (k INT PRIMARY KEY, name STRING) WITH (connector = 'files', path = 'n', format = 'json');
    CREATE TABLE often AS SELECT n.name, COUNT(*) AS n FROM s JOIN names n ON s.k = n.k WHERE s.v > 3 GROUP BY n.name
    HAVING COUNT(*) > 9;
    CREATE TABLE pairs AS SELECT s.k, COUNT(*) AS n FROM s JOIN u ON s.k = u.k
    AND u.time BETWEEN s.time AND s.time + INTERVAL 1 MINUTE WHERE s.v > 3 GROUP BY s.k HAVING COUNT(*) > 9;
    """
    result = cover_text(script)
    joined = find_operator(result, "INNER JOIN of s and names").classes
    for text in ("a row whose s.v is 4", "a row for which s.v > 3 is false", "a row of s with a partner in names"):
        names, rows = joined[text].given or []
        assert names.startswith("GIVEN names ")
        assert (count_rows(names), count_rows(rows)) == (1, 10)
    paired = find_operator(result, "INNER JOIN of s and u").classes["a row of s with a partner in u"].given or []
    assert [count_rows(line) for line in paired[:-1]] == [4, 3]  # more than nine pairs, and not more rows than it takes


def list_texts(script: str) -> Iterator[str]:
    for each in cover_text(script).operators:
        yield from each.classes


def test_the_classes_of_conditions() -> None:
    texts = set(list_texts(SCRIPTS["conditions"]))
    assert {
        "a row for which v >= 7 is false alone",
        "a row for which v >= 7 is NULL",
        "a row whose v is 7",
        "a row whose v is 6",
        "a row whose v is 8",
        "a row for which k = 'x' is true and no other side of OR",
        "a row for which k LIKE 'y%' is true and no other side of OR",
        "a row of the branch for v < 10",
        "a row of the branch for v < 20",
        "a row of ELSE behind v < 20",
        "a row whose d is 1.50",
        "a row whose d is 2.51",
        "a row for which 100 / v fails with R020",
        "a row whose COUNT(*) is 1",
        "a group with the same value twice and another one in COUNT(DISTINCT v)",
    } <= texts


def test_the_classes_of_joins_and_windows() -> None:
    texts = set(list_texts(SCRIPTS["views"]))
    assert {
        "a row of views with a partner in clicks",
        "a row of views without a partner in clicks",
        "a row of clicks with two partners in views",
        "a row of views whose key is NULL",
        "a row of clicks 1 ms before its partner in views",
        "a row of clicks 5 min behind its partner in views",
        "a row of views that is late",
        "a row of views exactly where a window begins",
        "a window without rows between others",
        "rows exactly 10 min apart",
        "two sessions that a later row makes one",
    } <= texts
    assert {
        "a group that loses its last row",
        "a group that loses a row and keeps another",
        "a row of cities that ceases to exist in a later step",
        "a row of people without a partner in cities",
    } <= set(list_texts(SCRIPTS["tables"]))


def test_a_test_meets_what_it_gives_and_expects() -> None:
    given = "GIVEN orders (id, time) VALUES (1, '0:00');\nGIVEN payments (order_id, time) VALUES (1, '5:00');\n"
    met = find_operator(cover_text(SCRIPT, given + "THEN paid NOTHING;"), "LEFT JOIN of orders and payments")
    assert {text for text, each in met.classes.items() if each.met} == {
        "a row of orders with a partner in payments",
        "a row of payments 5 min behind its partner in orders",
    }
    other = cover_text(SCRIPT, given + "THEN per_minute NOTHING;")
    assert not any(each.met for each in find_operator(other, "LEFT JOIN of orders and payments").classes.values())
    below = cover_text(SCRIPT, given + "THEN totals NOTHING;")
    assert any(each.met for each in find_operator(below, "LEFT JOIN of orders and payments").classes.values())


def test_what_has_no_classes_says_so() -> None:
    script = SCRIPTS["conditions"] + (
        "CREATE STREAM sounds AS SELECT STREAM k FROM s WHERE SOUNDEX(k) = 'x';\n"
        "CREATE TABLE sets AS SELECT k, day, COUNT(*) AS n FROM s GROUP BY GROUPING SETS ((k), (day));"
    )
    result = cover_text(script)
    notes = {each.title: each.note for each in result.operators if each.note}
    assert notes == {
        "GROUPING SETS of s": "no classes are known for GROUPING SETS",
        "the condition SOUNDEX(k) = 'x'": "the evaluator does not know function SOUNDEX",
    }


def test_classes_are_found_in_all_golden_scripts() -> None:
    found = missing = 0
    for case in CASES[::9]:
        try:
            compilation = compile(case.sql)
        except CompileError:
            continue
        result = cover_script("a_test.sql", ScriptRelations(compilation), [], Path())
        found += sum(each.given is not None for each in result.classes)
        missing += sum(each.given is None for each in result.classes)
    assert found > 200
    assert missing < found / 4


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("s.sql").write_text(
        "CREATE STREAM s (v INT, time TIMESTAMP) WITH (connector = 'files', path = 's', format = 'json');\n"
        "CREATE STREAM big AS SELECT STREAM v FROM s WHERE v > 7;\n",
        encoding="utf-8",
    )
    return tmp_path


def test_the_command(folder: Path) -> None:
    test = "TEST 'a' OF 's.sql';\nGIVEN s (v) VALUES (9), (6), (NULL);\nTHEN big VALUES (9);\n"
    Path("s_test.sql").write_text(test, encoding="utf-8")
    run = penstock("test", "--cover")
    assert run.exit_code == 1
    assert run.stdout == (
        "s.sql:2 the condition v > 7: 4 of 6\n"
        "  no test has a row whose v is 7; these rows do:\n"
        "    GIVEN s (v, time) VALUES (7, '0:00');\n"
        "  no test has a row whose v is 8; these rows do:\n"
        "    GIVEN s (v, time) VALUES (8, '0:00');\n"
        "6 classes, 4 met, 2 not\n"
    )
    Path("s_test.sql").write_text(test.replace("(9), (6)", "(9), (8), (7), (6)"), encoding="utf-8")
    run = penstock("test", "--cover")
    assert (run.exit_code, run.stdout) == (0, "s.sql:2 the condition v > 7: 6 of 6\n6 classes, 6 met, 0 not\n")


def test_json(folder: Path) -> None:
    Path("s_test.sql").write_text("TEST 'a' OF 's.sql';\nGIVEN s (v) VALUES (9);\nTHEN big VALUES (9);\n", "utf-8")
    run = penstock("test", "--cover", "--format", "json")
    answer = json.loads(run.stdout)
    assert (run.exit_code, answer["met"]) == (1, 1)
    assert answer["missed"] == answer["classes"] - 1
    (operator,) = answer["operators"]
    assert (operator["file"], operator["line"], operator["tests"]) == ("s.sql", 2, "s_test.sql")
    at_bound = next(each for each in operator["classes"] if each["class"] == "a row whose v is 7")
    assert at_bound == {
        "class": "a row whose v is 7",
        "met": False,
        "given": ["GIVEN s (v, time) VALUES (7, '0:00');"],
        "relation": "big",
    }


def test_what_cannot_be_covered(folder: Path) -> None:
    assert penstock("test", "--cover").exit_code == 2
    Path("s_test.sql").write_text("TEST 'a' OF 's.sql';\nGIVEN s (w) VALUES (9);\nTHEN big VALUES (9);\n", "utf-8")
    run = penstock("test", "--cover")
    assert run.exit_code == 1
    assert "N001" in run.stderr
    for other in ("--spark", "--mutate", "--watch", "-j2"):
        assert penstock("test", "--cover", other).exit_code == 2


@pytest.mark.parametrize(
    "options",
    [
        *([alone, *other] for alone in ("--cover", "--mutate") for other in (["--junit", "r.xml"], ["--update"])),
        *([alone, "--format", "json"] for alone in ("--mutate", "--watch")),
        ["--watch", "--junit", "r.xml"],
    ],
)
def test_options_that_would_be_ignored_are_refused(folder: Path, options: list[str]) -> None:
    test = "TEST 'a' OF 's.sql';\nGIVEN s (v) VALUES (9);\nTHEN big NOTHING;\n"
    Path("s_test.sql").write_text(test, "utf-8")
    run = penstock("test", *options)
    assert run.exit_code == 2
    assert f"{options[0]} does not take {options[1]}" in run.stderr
    assert Path("s_test.sql").read_text("utf-8") == test  # before anything is done


def test_several_scripts(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.sql").write_text(SCRIPTS["conditions"], encoding="utf-8")
    text = "".join(f"TEST '{n}' OF '{n}.sql';\nGIVEN s (v) VALUES (9);\nTHEN sums NOTHING;\n" for n in ("a", "b"))
    first, second = cover(Source("a_test.sql", text), tmp_path)
    assert [each.text for each in first.classes] == [each.text for each in second.classes]
    (only,) = cover(Source("a_test.sql", text), tmp_path, "A")
    assert len(only.classes) == len(first.classes)
