"""Slips in scripts, which tests notice them, and rows over which two versions of a script differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.diagnostics import Source
from penstock.testing.mutation import try_mutants
from penstock.testing.script_mutants import list_mutants
from tests.penstock.test_cli import penstock
from tests.penstock.testing.shop import HEAD
from tests.penstock.testing.test_wrong_scripts import BEFORE, FOLLOWED, PAGES, PER_HOUR, RIGHT, SESSIONS

SLIPS = [
    ("SELECT a FROM t WHERE a < 5",
     {"SELECT a FROM t WHERE a <= 5", "SELECT a FROM t WHERE a < 6", "SELECT a FROM t "}),
    ("SELECT DISTINCT a FROM t", {"SELECT a FROM t"}),
    ("SELECT SUM(a) FILTER (WHERE (b)) FROM t", {"SELECT COUNT(a) FILTER (WHERE (b)) FROM t", "SELECT SUM(a)  FROM t"}),
    ("SELECT a FROM t LEFT JOIN u ON a = b", {"SELECT a FROM t JOIN u ON a = b"}),
    ("SELECT LEFT(a, 1) FROM t", set()),
    ("SELECT a FROM t GROUP BY TUMBLE(time, INTERVAL '1' HOUR)",
     {"SELECT a FROM t GROUP BY TUMBLE(time, INTERVAL '2' HOUR)"}),
    ("SELECT a FROM t GROUP BY a HAVING COUNT(*) > 1 -- more > 1",
     {"SELECT a FROM t GROUP BY a HAVING COUNT(*) >= 1 -- more > 1", "SELECT a FROM t GROUP BY a  -- more > 1",
      "SELECT a FROM t GROUP BY a HAVING COUNT(*) > 2 -- more > 1"}),
    ("SELECT a FROM t JOIN u ON a = b AND c BETWEEN d AND e + INTERVAL 5 SECONDS",
     {"SELECT a FROM t JOIN u ON a = b OR c BETWEEN d AND e + INTERVAL 5 SECONDS",
      "SELECT a FROM t JOIN u ON a = b AND c BETWEEN d AND e + INTERVAL 4 SECONDS",
      "SELECT a FROM t JOIN u ON a = b AND c BETWEEN d AND e + INTERVAL 6 SECONDS"}),
    ("CREATE STREAM t (a INT, WATERMARK FOR time AS time - INTERVAL 5 SECONDS)", set()),
    ("SELECT '<' AS a FROM t", set()),
]  # fmt: skip


@pytest.mark.parametrize(("text", "slips"), SLIPS)
def test_slips(text: str, slips: set[str]) -> None:
    assert {each.text for each in list_mutants(text)} == slips


def test_good_tests_notice_slips(tmp_path: Path) -> None:
    (tmp_path / "shop.sql").write_text(RIGHT, encoding="utf-8")
    text = "\n".join(HEAD.replace("'one'", f"'{n}'") + test for n, test in enumerate((FOLLOWED, PAGES, SESSIONS)))
    result = try_mutants(Source("shop_test.sql", text), tmp_path)
    assert result.tried > 10
    lines = {each.mutant.before for each in result.survivors}
    assert not any("INTERVAL 5 MINUTES" in line or "HAVING" in line or "SESSION" in line for line in lines)
    all_of_them = text + "".join(HEAD.replace("'one'", f"'{n}'") + test for n, test in ((3, PER_HOUR), (4, BEFORE)))
    more = try_mutants(Source("shop_test.sql", all_of_them), tmp_path)
    assert more.tried == result.tried
    assert len(more.survivors) < len(result.survivors)


SMALL = """CREATE STREAM s (k STRING, v INT, time TIMESTAMP, WATERMARK FOR time AS time)
WITH (connector = 'files', path = 's', format = 'json');
CREATE STREAM big AS SELECT STREAM k, v FROM s WHERE v > 7;
CREATE TABLE sums AS SELECT k, SUM(v) AS v FROM s GROUP BY k;
"""


def test_a_survivor_has_rows_that_show_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.sql").write_text(SMALL, encoding="utf-8")
    test = "TEST 'a' OF 's.sql';\nGIVEN s VALUES ('x', 9, '0:00'), ('x', 1, '0:00');\nTHEN big (v) VALUES (9);\n"
    Path("s_test.sql").write_text(test + "THEN sums VALUES ('x', 10);\n", encoding="utf-8")
    run = penstock("test", "--mutate")
    assert run.exit_code == 1
    assert "+ CREATE STREAM big AS SELECT STREAM k, v FROM s WHERE v > 8;" in run.stdout
    assert "GIVEN s (k, v, time) VALUES ('" in run.stdout
    assert "only before" in run.stdout
    assert run.stdout.splitlines()[-1] == "4 slips, 2 noticed, 2 not"
    Path("s_test.sql").write_text(
        test.replace("9, '0:00')", "8, '0:00'), ('x', 7, '0:00')").replace("(9)", "(8)")
        + "THEN sums VALUES ('x', 16);\n",
        encoding="utf-8",
    )
    run = penstock("test", "--mutate")
    assert (run.exit_code, run.stdout) == (0, "4 slips, 4 noticed, 0 not\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("v > 7", "v >= 7"),
        ("v > 7", "v > 8"),
        ("SUM(v)", "MAX(v)"),
        ("AS v FROM s GROUP", "AS v FROM s WHERE k <> 'x' GROUP"),
        ("STREAM k, v FROM", "STREAM k, 100 / (v - 9) AS v FROM"),
    ],
)
def test_two_versions_that_differ(old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.sql").write_text(SMALL, encoding="utf-8")
    assert SMALL.count(old) == 1
    Path("new.sql").write_text(SMALL.replace(old, new), encoding="utf-8")
    run = penstock("diff", "old.sql", "new.sql", "--for", "0")
    assert run.exit_code == 1
    assert run.stdout.startswith(("big differs over these rows:\n", "sums differs over these rows:\n"))
    assert run.stdout.count("GIVEN s") == (2 if "MAX" in new else 1), "no row is there for nothing"


def test_two_versions_that_do_not_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.sql").write_text(SMALL, encoding="utf-8")
    Path("new.sql").write_text(SMALL.replace("v > 7", "NOT v <= 7"), encoding="utf-8")
    run = penstock("diff", "old.sql", "new.sql", "--for", "0")
    assert (run.exit_code, run.stdout) == (0, "no difference over 20 histories: big, sums\n")
    Path("new.sql").write_text(SMALL.replace("v > 7", "SOUNDEX(k) = 'x'").replace("sums", "all_sums"), encoding="utf-8")
    run = penstock("diff", "old.sql", "new.sql", "--for", "0")
    assert (run.exit_code, run.stdout) == (2, "")
    assert "big is not compared: function SOUNDEX" in run.stderr
    Path("new.sql").write_text(SMALL.replace("sums", "a").replace("big", "b"), encoding="utf-8")
    run = penstock("diff", "old.sql", "new.sql", "--for", "0")
    assert (run.exit_code, run.stdout) == (2, "")
    assert penstock("diff", "old.sql", "nowhere.sql").exit_code == 2
