"""Jobs whose files a person has edited, lost or damaged: they are told from the job that was compiled."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyspark
import pytest

from penstock import job
from penstock.codegen import write_job
from penstock.codegen.program import Program
from penstock.compilation import compile
from penstock.runtime import RunError
from penstock.runtime.checkpoint.checkpoint import DESCRIPTION, describe_query, find_mismatch
from penstock.runtime.checkpoint.local_files import LocalFiles
from tests.penstock.jobs import load, write_files

SCRIPT = """
CREATE STREAM orders (id BIGINT KEY, price DOUBLE) WITH (connector = 'files', path = 'orders', format = 'json',
  files_per_batch = 1);
CREATE TABLE totals WITH (connector = 'files', path = 'totals', format = 'json', operation = 'op') AS
SELECT id, SUM(price) AS total FROM orders GROUP BY id EMIT CHANGES;
"""
TOPIC = """
CREATE STREAM orders (id BIGINT KEY, price DOUBLE) WITH (connector = 'kafka', topic = 'orders', format = 'csv',
  bootstrap_servers = 'a:9092');
CREATE STREAM dear WITH (connector = 'files', path = 'dear', format = 'json') AS
SELECT STREAM id, price FROM orders WHERE price > 10;
"""
MAIN = "import sys, runpy; from penstock import job; sys.modules['penstock_kit.job'] = job;"


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")


def compiled(folder: Path, script: str = SCRIPT) -> Program:
    program = compile(script).program
    write_files(folder, write_job(program))
    return program


def find_view(folder: Path, text: str) -> Path:
    """The file of SQL that has a text."""
    return next(path for path in sorted((folder / "sql").rglob("*.sql")) if text in path.read_text(encoding="utf-8"))


def edit_view(folder: Path) -> None:
    edit(find_view(folder, "SUM("), "SUM(", "MAX(")


def edit_output(folder: Path) -> None:
    edit(folder / "job.py", '"path": "totals"', '"path": "others"')


def edit_facts(folder: Path) -> None:
    path = folder / "sql" / "totals" / "query.json"
    facts = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**facts, "message_items": ["1"]}), encoding="utf-8")


def edit_parsing(folder: Path) -> None:
    path = next(path for path in (folder / "sql" / "totals").glob("*.json") if path.name != "query.json")
    edit(path, "FAILFAST" if "FAILFAST" in path.read_text(encoding="utf-8") else "PERMISSIVE", "DROPMALFORMED")


@pytest.mark.parametrize("change", [edit_view, edit_output, edit_facts, edit_parsing])
def test_an_edited_job_does_not_go_on_from_the_checkpoint_of_before(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    program = compiled(tmp_path)
    assert load(tmp_path).build().queries[0].fingerprint == program.queries[0].fingerprint
    change(tmp_path)
    edited = load(tmp_path).build().queries[0]
    assert edited.fingerprint not in ("", program.queries[0].fingerprint)
    assert edited.fingerprint == load(tmp_path).build().queries[0].fingerprint


def test_the_refusal_shows_what_was_edited(tmp_path: Path) -> None:
    program = compiled(tmp_path / "job")
    place = tmp_path / "state"
    (place / "offsets").mkdir(parents=True)
    (place / "offsets" / "0").write_text("v1")
    (place / DESCRIPTION).write_text(json.dumps(describe_query(program.queries[0])), encoding="utf-8")
    assert find_mismatch(LocalFiles(), load(tmp_path / "job").build().queries[0], str(place)) is None
    edit_view(tmp_path / "job")
    finding = find_mismatch(LocalFiles(), load(tmp_path / "job").build().queries[0], str(place))
    assert finding is not None
    assert (finding.code, "MAX(" in str(finding)) == ("R010", True)


@pytest.mark.parametrize(
    ("script", "before", "after"),
    [(SCRIPT, '"files_per_batch": 1', '"files_per_batch": 9'), (TOPIC, "a:9092", "b:9092")],
)
def test_options_for_speed_and_places_of_brokers_are_no_edits(
    tmp_path: Path, script: str, before: str, after: str
) -> None:
    program = compiled(tmp_path, script)
    edit(tmp_path / "job.py", before, after)
    made = load(tmp_path).build()
    assert made.queries[0].fingerprint == program.queries[0].fingerprint
    assert made != program


@pytest.mark.parametrize(
    ("script", "before", "after"),
    [
        (SCRIPT, '"price": "DOUBLE"', '"price": "DECIMAL(9,2)"'),
        (SCRIPT, '"format": "json", "files', '"format": "csv", "files'),
        (TOPIC, '"format": "csv"', '"format": "csv", "null": "NA"'),
    ],
)
def test_an_input_that_is_declared_otherwise_is_refused(tmp_path: Path, script: str, before: str, after: str) -> None:
    compiled(tmp_path, script)
    edit(tmp_path / "job.py", before, after)
    assert "R091" in refuse(tmp_path)
    assert "job.py declares orders otherwise" in refuse(tmp_path)


def refuse(folder: Path) -> str:
    """What a job in a folder is refused with."""
    with pytest.raises(RunError) as refusal:
        load(folder).build()
    assert {each.code for each in refusal.value.diagnostics} == {"R091"}
    return str(refusal.value)


def test_files_that_are_missing_are_all_told(tmp_path: Path) -> None:
    compiled(tmp_path)
    paths = [path for path in (tmp_path / "sql").rglob("*") if path.is_file() and path.name != "query.json"]
    for path in paths:
        path.unlink()
    told = refuse(tmp_path)
    missing = [path.relative_to(tmp_path).as_posix() for path in paths if "rejected" not in path.parts]
    assert [path for path in missing if path.endswith(".sql") and f"{path}: it is missing" not in told] == []


def test_a_missing_file_of_records_is_told(tmp_path: Path) -> None:
    compiled(tmp_path)
    path = next(path for path in (tmp_path / "sql" / "totals").glob("*.json") if path.name != "query.json")
    path.unlink()
    assert f"{path.name}: it is missing" in refuse(tmp_path)


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"{", "it is damaged"), (b"{}", "it is damaged"), (b"\xff", "it is damaged"), (None, "it is missing")],
)
def test_a_damaged_description_is_told(tmp_path: Path, content: bytes | None, told: str) -> None:
    compiled(tmp_path)
    path = tmp_path / "sql" / "totals" / "query.json"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    assert f"sql/totals/query.json: {told}" in refuse(tmp_path)


def test_sql_that_is_no_text_is_told(tmp_path: Path) -> None:
    compiled(tmp_path)
    find_view(tmp_path, "SUM(").write_bytes(b"\xff")
    assert "it is not UTF-8" in refuse(tmp_path)


def test_a_query_without_a_sink_is_told(tmp_path: Path) -> None:
    query = job.SparkJob(str(tmp_path / "job.py"), state_partitions=1, spark=["4.3"]).query("totals", "append")
    with pytest.raises(RunError, match="the query totals has no sink"):
        query.build()


def run_job(folder: Path, before: str = "") -> subprocess.CompletedProcess[str]:
    text = f"{MAIN}{before}sys.argv = ['job.py', '--once']; runpy.run_path('job.py', run_name='__main__')"
    return subprocess.run([sys.executable, "-c", text], cwd=folder, capture_output=True, text=True, check=False)


def test_a_job_without_a_file_ends_with_a_code(tmp_path: Path) -> None:
    compiled(tmp_path)
    find_view(tmp_path, "SUM(").unlink()
    ended = run_job(tmp_path)
    assert (ended.returncode, "R091" in ended.stderr, "Traceback" in ended.stderr) == (3, True, False), ended.stderr


def test_on_a_pyspark_that_is_too_old_a_job_ends_with_a_code(tmp_path: Path) -> None:
    compiled(tmp_path, TOPIC)
    ended = run_job(tmp_path, before="import pyspark; pyspark.__version__ = '4.0.1';")
    assert pyspark.__version__ != "4.0.1"
    assert (ended.returncode, "R008" in ended.stderr, "Traceback" in ended.stderr) == (3, True, False), ended.stderr
