"""Queries that read what they write, by themselves or by way of others, however the place is written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import penstock
from penstock.planner.connectors.local_paths import fits, list_matches, sees_folder
from penstock.planner.script.loops import find_circles
from tests.planner.steps import count_steps


def declare(name: str, path: str, *, kind: str = "files") -> str:
    place = f"path = '{path}'" if kind == "files" else f"topic = '{path}', bootstrap_servers = 'h1:9092,h2:9092'"
    return (
        f"CREATE STREAM {name} (id INT, time TIMESTAMP, WATERMARK FOR time AS time)"
        f" WITH (connector = '{kind}', {place}, format = 'json');\n"
    )


PLACES = "".join(declare(name, f"data/{name}") for name in "abcd") + declare("k", "t", kind="kafka")
OTHERS = """
CREATE STREAM same_k (id INT, time TIMESTAMP, WATERMARK FOR time AS time)
WITH (connector = 'kafka', topic = 't', bootstrap_servers = 'h2:9092', format = 'json');
CREATE TABLE counts (id INT PRIMARY KEY, n BIGINT)
WITH (connector = 'files', path = 'data/counts', format = 'json', operation = 'op');
CREATE STREAM changes (id INT, n BIGINT, op STRING, time TIMESTAMP, WATERMARK FOR time AS time)
WITH (connector = 'files', path = 'data/counts', format = 'json');
"""
CIRCLES = {
    "two": "INSERT INTO a SELECT STREAM * FROM b; INSERT INTO b SELECT STREAM * FROM a;",
    "three by a view": "CREATE VIEW v AS SELECT STREAM * FROM a; INSERT INTO b SELECT STREAM * FROM v;"
    "INSERT INTO c SELECT STREAM * FROM b; INSERT INTO a SELECT STREAM * FROM c;",
    "topic and files": "INSERT INTO k SELECT STREAM * FROM a; INSERT INTO a SELECT STREAM * FROM same_k;",
    "topic by other brokers": "INSERT INTO k SELECT STREAM * FROM same_k;",
    "changelog": "INSERT INTO counts SELECT id, COUNT(*) AS n FROM a GROUP BY id;"
    "INSERT INTO a SELECT STREAM id, time FROM changes;",
    "made stream": "CREATE STREAM made WITH (connector = 'files', path = 'data/b', format = 'json') AS"
    " SELECT STREAM * FROM a; INSERT INTO a SELECT STREAM * FROM b;",
    "intermediate": "INSERT INTO b SELECT STREAM id, window_end AS time FROM ("
    "SELECT STREAM id, window_end, COUNT(*) AS n FROM a GROUP BY id, TUMBLE(time, 1 MINUTE)) q;"
    "INSERT INTO a SELECT STREAM * FROM b;",
    "join": "INSERT INTO c SELECT STREAM a.id, a.time FROM a JOIN b ON a.id = b.id AND a.time = b.time;"
    "INSERT INTO b SELECT STREAM * FROM c;",
    "late rows": "CREATE STREAM n AS SELECT STREAM id, COUNT(*) AS n FROM a GROUP BY id, TUMBLE(time, 1 MINUTE)"
    " LATE INTO b; INSERT INTO a SELECT STREAM * FROM b;",
}


def find_codes(sql: str) -> list[str]:
    try:
        return [each.code for each in penstock.compile(sql).diagnostics]
    except penstock.CompileError as refusal:
        return [each.code for each in refusal.diagnostics if each.severity == "error"]


@pytest.mark.parametrize("name", CIRCLES)
def test_queries_that_read_each_other_are_refused(name: str) -> None:
    assert find_codes(PLACES + OTHERS + CIRCLES[name]) == ["K009"]


def test_a_query_closes_a_circle_with_those_that_run() -> None:
    catalog = penstock.compile(PLACES).catalog
    first = penstock.compile("INSERT INTO a SELECT STREAM * FROM b;", catalog)
    running = type(catalog)(catalog.entries, running=first.queries)
    with pytest.raises(penstock.CompileError) as refusal:
        penstock.compile("INSERT INTO b SELECT STREAM * FROM a;", running)
    assert [each.code for each in refusal.value.diagnostics] == ["K009"]
    assert not penstock.compile("INSERT INTO c SELECT STREAM * FROM a;", running).diagnostics


def test_a_chain_is_no_circle() -> None:
    chain = [f"INSERT INTO {target} SELECT STREAM * FROM {source};" for source, target in ("ab", "bc", "bd", "ad")]
    assert find_codes(PLACES + " ".join(chain[:3])) == []


def test_other_spellings_of_a_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data" / "a" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "data" / "a")
    (tmp_path / "around").mkdir()
    (tmp_path / "around" / "part").symlink_to(tmp_path / "data" / "a")
    (tmp_path / "elsewhere").mkdir()
    same = ["data/a", "./data//a/", "data/b/../a", f"{tmp_path}/data/a", f"file:{tmp_path}/data/a", "link", "data"]
    same += [f"file://{tmp_path}/data/a", "data/*", "d?ta/[a-b]", "data/{x,a}", "{elsewhere,data/a}", "around", "ar*"]
    same += ["data/a/*.json", "lin*", "data/a_rejected", "data/a_rejected/s", "."]
    for path in same:
        assert find_codes(PLACES + declare("s", path) + "INSERT INTO a SELECT STREAM * FROM s;") == ["K009"], path
    for path in [
        "data/aa",
        "data/a/inner",
        "elsewhere",
        "data/[b-c]",
        "data/{x,b}",
        "s3a://bucket/data/a",
        "data/a/*.txt",
    ]:
        assert find_codes(PLACES + declare("s", path) + "INSERT INTO a SELECT STREAM * FROM s;") == [], path


def test_patterns_are_those_of_spark() -> None:
    assert fits("part-1.json", "*.json")
    assert fits("a1", "a[0-9]")
    assert fits("ab", "a[^0-9]")
    assert not fits("a1", "a[^0-9]")
    assert fits("a*", r"a\*")
    assert not fits("ab", r"a\*")
    assert sees_folder("/d/*", "/d/x")
    assert not sees_folder("/d/*", "/d/x/_y")
    assert not sees_folder("/d", "/d/.x/y")


def test_patterns_over_many_folders_end(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / str(number) / "x").mkdir(parents=True)
    assert len(list_matches(f"{tmp_path}/*/x")) == 30
    assert list_matches(f"{tmp_path}/*/nothing") == []
    assert len(list_matches("/*/*/*/*")) <= 10_000 * 2
    assert list_matches(os.path.join(str(tmp_path), "0")) == [f"{tmp_path}/0"]


def test_circles_are_found_in_linear_time() -> None:
    def ring(size: int) -> list[list[int]]:
        return [[(each + 1) % size] for each in range(size)]

    assert find_circles(ring(5)) == [{0, 1, 2, 3, 4}]
    assert find_circles([[1], [2], []]) == []
    assert find_circles([[1], [0], [3], [2, 0]]) == [{0, 1}, {2, 3}]
    assert count_steps(lambda: find_circles(ring(20_000))) < 2.6 * count_steps(lambda: find_circles(ring(10_000)))
