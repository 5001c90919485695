"""Scripts with thousands of findings: linear time and memory, and no more on a terminal than people read."""

from __future__ import annotations

import json
import tracemalloc
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from penstock.commands.cli import main
from penstock.commands.show_findings import MOST_SHOWN
from penstock.diagnostics import Source, Span
from penstock.diagnostics.codes.names import N001
from penstock.diagnostics.render import render
from penstock.diagnostics.report import report
from penstock.diagnostics.secrets import hide_secrets
from tests.planner.steps import count_steps

DECLARED = """CREATE STREAM s (id BIGINT KEY, k STRING, time TIMESTAMP, WATERMARK FOR time AS time)
WITH (connector = 'files', path = 'd', format = 'json');
"""
STATEMENTS = {
    "columns": "SELECT STREAM nope{0} FROM s;\n",
    "syntax": "SELEC STREAM id FROM s WHERE x{0} = 'abc';\n",
    "one line": "SELECT STREAM id FROM nope{0}; ",
    "warnings": "CREATE STREAM q{0} AS SELECT STREAM id FROM s WHERE k = NULL;\n",
    "files": "CREATE STREAM q{0} WITH (connector = 'files', path = 'o{0}', format = 'json')"
    " AS SELECT STREAM nope FROM s;",
    "emit": "CREATE TABLE q{0} AS SELECT k, COUNT(*) AS n FROM s GROUP BY k EMIT CHANGES;\n",
    "names": "SELECT STREAM id FROM s WHERE k = NULL;\n",
    "groups": "CREATE TABLE q{0} AS SELECT DATE_TRUNC('minute', time) AS m, COUNT(*) AS n FROM s GROUP BY 1;\n",
    "explain": "EXPLAIN SELECT STREAM nope FROM s;\n",
}


def write_script(folder: Path, kind: str, count: int) -> Path:
    path = folder / f"{kind}_{count}.sql"
    path.write_text(DECLARED + "".join(STATEMENTS[kind].format(number) for number in range(count)), encoding="utf-8")
    return path


def check(path: Path, form: str) -> Result:
    return CliRunner().invoke(main, ["check", "--format", form, str(path)])


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("kind", STATEMENTS)
def test_twice_the_findings_take_twice_the_steps(kind: str, form: str, tmp_path: Path) -> None:
    paths = [write_script(tmp_path, kind, count) for count in (60, 120)]
    check(paths[0], form)
    steps = [count_steps(partial(check, path, form)) for path in paths]
    assert steps[1] < 2.6 * steps[0]


def test_a_terminal_shows_the_first_and_counts_the_others(tmp_path: Path) -> None:
    path = write_script(tmp_path, "columns", 300)
    shown = check(path, "text").output
    assert shown.count("error[N001]") == MOST_SHOWN
    assert shown.endswith("… and 280 more errors: penstock check --format json lists all\n\n")
    assert len(shown) < 10_000
    found = json.loads(check(path, "json").output)
    assert len(found) == 300
    assert [each["statement"] for each in found] == list(range(2, 302))


def test_errors_come_before_warnings(tmp_path: Path) -> None:
    warnings = "".join(STATEMENTS["warnings"].format(number) for number in range(30))
    path = tmp_path / "both.sql"
    path.write_text(f"{DECLARED}{warnings}SELECT STREAM nope FROM s;", encoding="utf-8")
    shown = check(path, "text").output
    assert shown.startswith("error[N001]")
    assert "… and " in shown or shown.count("warning[") == 0
    path.write_text(DECLARED + warnings, encoding="utf-8")
    assert "… and 10 more warnings: penstock check" in check(path, "text").output


def test_few_findings_are_shown_as_before(tmp_path: Path) -> None:
    assert "more" not in check(write_script(tmp_path, "columns", MOST_SHOWN), "text").output


def test_a_long_text_behind_an_open_quote_takes_little_memory() -> None:
    text = DECLARED + "SELECT STREAM 'abc " + "x y = z; " * 200_000
    tracemalloc.start()
    try:
        hide_secrets(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * len(text)


def test_a_long_line_is_not_measured_for_each_finding() -> None:
    def show(length: int) -> list[str]:
        source = Source("<sql>", "a" * length + " nope " + "\u0301" * length)
        return [render(N001.at(Span(source, length + 1, length + 5), name="nope")) for _ in range(20)]

    assert count_steps(lambda: show(40_000)) < 1.2 * count_steps(lambda: show(20_000))
    assert "nope" in show(20_000)[0]


@pytest.mark.parametrize(
    ("text", "place", "number"),
    [
        ("a; b; c", "c", 3),
        ("a; 'x;''y;' ; b", "b", 3),
        ("-- ;\na /* ; */; b", "b", 2),
        ('"a;b" ; c', "c", 2),
    ],
)
def test_statements_are_counted(text: str, place: str, number: int) -> None:
    start = text.rindex(place)
    assert report(N001.at(Span(Source("<sql>", text), start, start + 1), name="x"))["statement"] == number
