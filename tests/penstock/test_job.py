"""A job makes the program that it was written of, so it runs as `penstock run` runs the script."""

from __future__ import annotations

import ast
import io
import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from penstock.codegen import write_job
from penstock.codegen.program import View
from penstock.compilation import compile
from penstock.diagnostics import CompileError
from penstock.job_archive import make_archive
from penstock.kit.databases.engines import ENGINES
from tests.docs.test_readme import script
from tests.golden.cases import CASES
from tests.penstock.jobs import list_facts, rebuild, write_files

STEP = 1 if os.environ.get("PENSTOCK_CAMPAIGN") else 6
"""A campaign takes all golden scripts, which takes minutes."""
NEEDED = {"pyspark", "py4j", "pyarrow", "pandas", "numpy", "duckdb", "msgspec", "rich"}
OF_CONNECTORS = {"sqlalchemy", "psycopg", "tenacity", "deltalake", "confluent_kafka", "fastavro", "pymysql"}
RATE = "CREATE STREAM r (n BIGINT) WITH (connector = 'rate'); CREATE STREAM s AS SELECT STREAM n FROM r;"
START = "import sys; sys.path.insert(0, 'kit.zip'); import penstock_kit.job; print(*sys.modules)"


def has_queries(sql: str) -> bool:
    try:
        return bool(compile(sql).queries)
    except CompileError:
        return False


def test_jobs_make_the_programs_that_they_are_written_of(tmp_path: Path) -> None:
    scripts = {case.name: case.sql for case in CASES[::STEP] if has_queries(case.sql)}
    different = []
    for number, (name, sql) in enumerate(scripts.items()):
        program = compile(sql).program
        if list_facts(rebuild(program, tmp_path / str(number))) != list_facts(program):
            different.append(name)
    assert different == []
    assert len(scripts) * STEP > 200


def test_the_job_of_the_readme_is_short_and_tidy() -> None:
    files = write_job(compile(script()).program)
    assert len(files["job.py"].splitlines()) <= 150
    assert len(files["README.md"].splitlines()) <= 16
    check = [sys.executable, "-m", "ruff", "check", "--isolated", "--stdin-filename", "job.py", "-"]
    checked = subprocess.run(check, input=files["job.py"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    assert all(len(line) <= 120 for line in files["job.py"].splitlines())


@pytest.mark.parametrize("name", ["job", "import", "a b", "Job"])
def test_queries_have_any_name(tmp_path: Path, name: str) -> None:
    program = compile(RATE.replace("STREAM s AS", f"STREAM `{name}` AS")).program
    assert rebuild(program, tmp_path).queries == program.queries


def test_texts_come_back_as_they_are(tmp_path: Path) -> None:
    odd = 'it\'\'s """ \\\\ \\n ü 🙂 \t\r\n#{}'
    program = compile(RATE.replace("SELECT STREAM n", f"SELECT STREAM n, '{odd}' AS t")).program
    assert list_facts(rebuild(program, tmp_path)) == list_facts(program)


def test_without_its_folder_a_job_finds_its_sql_in_the_archive(tmp_path: Path) -> None:
    """In the deploy mode cluster there is nothing but job.py and the archive."""
    files = write_job(compile(RATE).program)
    write_files(tmp_path / "apart", {"job.py": files["job.py"]})
    archive = tmp_path / "sent.zip"
    archive.write_bytes(make_archive())
    with ZipFile(archive, "a") as opened:
        for name, text in files.items():
            if name.startswith("sql/"):
                opened.writestr(name, text)
    text = (
        f"import sys, runpy; sys.path.insert(0, {str(archive)!r});"
        "print(runpy.run_path('job.py')['job'].build().queries[0].views[-1].sql)"
    )
    ran = subprocess.run([sys.executable, "-I", "-c", text], cwd=tmp_path / "apart", capture_output=True, text=True)
    last = compile(RATE).program.queries[0].views[-1]
    assert isinstance(last, View)
    assert ran.stdout.strip() == last.sql, ran.stderr


def test_a_job_that_newer_versions_of_spark_alone_run_says_so(tmp_path: Path) -> None:
    program = rebuild(compile(RATE.replace("STREAM n FROM", "STREAM FROM_BASE32('MY') AS b FROM")).program, tmp_path)
    (((number, (finding,)),)) = program.newer
    assert (number, finding.code, "this job runs on 4.3" in finding.message) == ((4, 2), "R008", True)


def test_an_archive_has_all_that_runs_and_nothing_that_plans(tmp_path: Path) -> None:
    (tmp_path / "kit.zip").write_bytes(make_archive())
    started = [sys.executable, "-I", "-c", START]
    loaded = subprocess.run(started, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    assert {"penstock", "sqlglot", "lark", "click"}.isdisjoint(loaded)
    assert make_archive() == (tmp_path / "kit.zip").read_bytes()
    with ZipFile(io.BytesIO(make_archive())) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert {name.split("/")[0] for name in texts} == {"penstock_kit"}
    assert {f"penstock_kit/kit/databases/{name}.py" for name in ENGINES} <= set(texts)
    imported = {module for text in texts.values() for module in list_imported(text)}
    assert imported - sys.stdlib_module_names == NEEDED | OF_CONNECTORS | {"penstock_kit"}


def list_imported(text: str) -> set[str]:
    """The packages that a text imports, anywhere."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    return found
