"""`penstock test`: which files it runs, what it says, what it writes, and its exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from penstock.commands import watch_tests
from penstock.commands.test import find_files
from tests.penstock.test_cli import penstock
from tests.penstock.testing.shop import SCRIPT

PASSING = """TEST 'nothing is paid' OF 'shop.sql';
GIVEN orders (id, time) VALUES (1, '0:00');
THEN paid NOTHING;
"""
FAILING = """TEST 'dear ones' OF 'shop.sql';
GIVEN orders (id, price, time) VALUES (1, 120, '0:00'), (2, 50, '0:00');
THEN dear VALUES (2, 50); -- one is wrong
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for place in (Path("."), Path("inner"), Path(".hidden")):
        place.mkdir(exist_ok=True)
        (place / "shop.sql").write_text(SCRIPT, encoding="utf-8")
    Path("a_test.sql").write_text(PASSING, encoding="utf-8")
    Path("inner/b_test.sql").write_text(PASSING + "\n" + FAILING, encoding="utf-8")
    Path(".hidden/c_test.sql").write_text(FAILING, encoding="utf-8")


def test_all_files_below_the_folder_are_run() -> None:
    run = penstock("test")
    assert run.exit_code == 1
    assert run.stdout.splitlines()[0] == "FAILED inner/b_test.sql:5 dear ones"
    assert run.stdout.splitlines()[-1].startswith("1 failed, 2 passed in ")
    assert "unexpected  1   120.00" in run.stderr


def test_files_are_run_once_and_by_name() -> None:
    run = penstock("test", "a_test.sql", ".", "-k", "PAID")
    assert run.exit_code == 0
    assert run.stdout.startswith("2 passed in ")
    assert run.stderr == ""


def test_no_test_is_an_error_of_usage() -> None:
    run = penstock("test", "-k", "attic")
    assert (run.exit_code, run.stdout) == (2, "")
    assert run.stderr == "no tests: no name of a test has 'attic'\n"
    Path("empty_test.sql").write_text("-- nothing\n", encoding="utf-8")
    assert penstock("test", "empty_test.sql").stderr == "no tests in empty_test.sql: a test begins with TEST\n"
    Path("none").mkdir()
    assert "the names of their files end" in penstock("test", "none").stderr
    assert penstock("test", "nowhere").exit_code == 2


def test_a_file_that_is_no_test_fails() -> None:
    Path("d_test.sql").write_text("SELECT 1;", encoding="utf-8")
    run = penstock("test", "d_test.sql")
    assert run.exit_code == 1
    assert "expected GIVEN, TEST or THEN" in run.stderr
    assert penstock("test", "--format", "json", "d_test.sql").exit_code == 1


def test_a_script_is_no_file_of_tests() -> None:
    run = penstock("test", "shop.sql")
    assert run.exit_code == 1
    assert run.stderr.count("error[") == 1
    assert "this is a script; tests begin with TEST" in run.stderr
    Path("shop.sql").write_text("TSET 'a' OF 'b.sql';", encoding="utf-8")
    assert "did you mean TEST" in penstock("test", "shop.sql").stderr


@pytest.mark.parametrize(
    ("statement", "hint"),
    [
        ("GIVEN orders (time) VALUES (0:00)", "a time stands in quotes: '0:00'"),
        ("GIVEN orders (id, time) VALUES (1, 1:00:30)", "a time stands in quotes: '1:00:30'"),
        ("GIVEN WATERMARK OF orders 9:30", "a time stands in quotes: '9:30'"),
        ("GIVEN orders (id) VALUE (1)", "VALUES"),
        ("THEN paid @ 3", "unknown character"),
        ("GIVEN END THEN paid NOTHING", "a `;` is missing before THEN"),
        ("THEN paid NOTHING GIVEN END", "a `;` is missing before GIVEN"),
        ("THEN paid NOTHING TEST 'b' OF 'shop.sql'", "a `;` is missing before TEST"),
    ],
)
def test_mistakes_of_syntax_in_tests(statement: str, hint: str) -> None:
    Path("d_test.sql").write_text(f"TEST 'a' OF 'shop.sql';\n{statement};\n", encoding="utf-8")
    run = penstock("test", "d_test.sql")
    assert hint in run.stderr
    assert "files of their own" not in run.stderr
    assert "SLICE" not in run.stderr


def test_json_has_each_test_with_its_findings() -> None:
    run = penstock("test", "--format", "json", "inner")
    answer = json.loads(run.stdout)
    assert (answer["passed"], answer["failed"], run.exit_code) == (1, 1, 1)
    passing, failing = answer["tests"]
    assert (passing["name"], passing["passes"], passing["findings"]) == ("nothing is paid", True, [])
    assert (failing["file"], failing["line"]) == ("inner/b_test.sql", 5)
    (finding,) = failing["findings"]
    assert (finding["code"], finding["line"]) == ("T110", 7)
    assert "missing     2   50.00" in finding["detail"]


def test_junit_has_a_suite_for_each_file() -> None:
    assert penstock("test", "--junit", "report.xml").exit_code == 1
    root = ElementTree.parse("report.xml").getroot()
    assert [suite.get("name") for suite in root] == ["a_test.sql", "inner/b_test.sql"]
    assert [suite.get("failures") for suite in root] == ["0", "1"]
    (failure,) = root.iter("failure")
    assert str(failure.get("message")).startswith("T110: ")
    assert penstock("test", "--junit", "nowhere/report.xml").exit_code == 2


def test_what_came_is_written_and_shown() -> None:
    run = penstock("test", "--update", "inner")
    assert run.exit_code == 0
    assert "-THEN dear VALUES (2, 50); -- one is wrong" in run.stdout
    assert "+THEN dear VALUES (1, 120.00); -- one is wrong" in run.stdout
    assert "updated: inner/b_test.sql" in run.stdout
    assert "(1, 120.00); -- one is wrong" in Path("inner/b_test.sql").read_text(encoding="utf-8")
    assert "updated" not in penstock("test", "--update", "inner").stdout


def test_all_forms_are_updated() -> None:
    text = """TEST 'all' OF 'shop.sql';
GIVEN orders (id, product, time) VALUES (1, 'it''s', '0:00'), (2, 'lamp', NULL);
THEN coloured NOTHING;
THEN busy (product, n) CHANGES - ('desk', 1);
THEN busy CHANGES NOTHING;
THEN REJECTED OF orders (id) NOTHING;
THEN dear (id) VALUES (9);
GIVEN WATERMARK OF orders '1:00';
THEN busy (n) CHANGES + (7);
THEN LATE OF orders (id) VALUES (1);
"""
    Path("a_test.sql").write_text(text, encoding="utf-8")
    assert penstock("test", "--update", "a_test.sql").exit_code == 0
    assert Path("a_test.sql").read_text(encoding="utf-8").splitlines()[2:] == [
        "THEN coloured (id, colour) VALUES (1, NULL);",
        "THEN busy (product, n) CHANGES + ('it''s', 1);",
        "THEN busy CHANGES + ('it''s', '0:00', 1, '1:00');",
        "THEN REJECTED OF orders (id) VALUES (2);",
        "THEN dear (id) NOTHING;",
        "GIVEN WATERMARK OF orders '1:00';",
        "THEN busy (n) CHANGES NOTHING;",
        "THEN LATE OF orders (id) NOTHING;",
    ]


def test_no_spark_and_no_duckdb_are_loaded() -> None:
    call = "try: main(['test', 'a_test.sql'])\nexcept SystemExit: pass"
    code = f"import sys; from penstock.commands.cli import main\n{call}\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "penstock.evaluator.staged_run" in loaded
    assert not loaded & {"pyspark", "duckdb", "pandas", "pyarrow", "penstock.codegen", "penstock.runtime"}


def test_processes_give_the_same_results() -> None:
    Path("d_test.sql").write_text("SELECT 1;", encoding="utf-8")
    Path("a_test.sql").write_text(PASSING * 5 + FAILING, encoding="utf-8")
    one, more = penstock("test"), penstock("test", "-j", "3")
    assert one.exit_code == more.exit_code == 1
    assert one.stderr == more.stderr
    assert one.stdout.rpartition(" in ")[0] == more.stdout.rpartition(" in ")[0]
    assert "3 failed, 6 passed" in more.stdout


def test_options_that_exclude_each_other() -> None:
    for option in (("--watch",), ("-j", "2")):
        run = penstock("test", "--spark", *option)
        assert run.exit_code == 2
        assert "leave out" in run.stderr


def test_files_that_change_are_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    named = "TEST 'b' OF 'shop.sql'; GIVEN orders FROM 'rows.csv'; THEN paid NOTHING;"
    changes = [
        ("inner/b_test.sql", named),
        ("inner/rows.csv", "id,time\n10,0:00\n"),
        ("inner/rows.csv", "id,time\n11,0:00\n1,0:00\n"),
        ("shop.sql", SCRIPT + " "),
        ("inner/b_test.sql", "TEST"),
        ("inner/shop.sql", SCRIPT + " "),
        ("other.sql", ""),
        ("new_test.sql", PASSING),
    ]

    def change() -> None:
        if not changes:
            raise KeyboardInterrupt
        path, text = changes.pop(0)
        Path(path).write_text(text, encoding="utf-8")

    monkeypatch.setattr(watch_tests, "wait", change)
    seen: list[list[str]] = []
    with pytest.raises(KeyboardInterrupt):
        seen.extend(watch_tests.follow_changes(lambda: list(find_files((".",)))))
    a, b = "a_test.sql", "inner/b_test.sql"
    assert seen == [[a, b], [b], [b], [b], [a], [b], [b], ["new_test.sql"]]


def test_watching_shows_results_until_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(watch_tests, "wait", stop)
    run = penstock("test", "--watch", "a_test.sql")
    assert (run.exit_code, run.stdout[:11]) == (0, "1 passed in")


def test_files_of_tests_are_laid_out() -> None:
    Path("a_test.sql").write_text("test 'a' of 'shop.sql';given end;then paid nothing -- none\n", encoding="utf-8")
    run = penstock("fmt", "a_test.sql")
    assert (run.exit_code, run.stdout) == (0, "formatted: a_test.sql\n")
    expected = "TEST 'a' OF 'shop.sql';\nGIVEN END;\nTHEN paid NOTHING;  -- none\n"
    assert Path("a_test.sql").read_text(encoding="utf-8") == expected
    assert penstock("fmt", "--check", "a_test.sql", "inner/b_test.sql").exit_code in (0, 1)
