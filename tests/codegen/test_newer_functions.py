"""Functions that a version of Spark lacks are found in the texts that it would be given, and nowhere else."""

from __future__ import annotations

import re

import pytest

import penstock
from penstock.codegen import find_newer_functions, find_newer_in_read, write_job
from penstock.codegen.spark_versions import SPARK_VERSIONS
from penstock.compilation import compile_read
from penstock.diagnostics import Source
from penstock.planner.functions import FUNCTIONS
from tests.house.files import ROOT

STREAM = "CREATE STREAM s (a STRING, `TO_BASE32(` INT) WITH (connector = 'files', path = 'x', format = 'json');"
OLD, NEW = min(SPARK_VERSIONS), max(SPARK_VERSIONS)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT STREAM JARO_WINKLER_SIMILARITY(a, 'x') AS n FROM s",
        "SELECT STREAM a FROM s WHERE 1 < UPPER(a) || jaro_winkler_similarity(a, 'x')",
        "CREATE TABLE t AS SELECT a, MAX(jaro_winkler_similarity(a, 'x')) AS n FROM s GROUP BY a",
    ],
)
def test_each_call_is_found_at_its_place(query: str) -> None:
    program = penstock.compile(f"{STREAM}{query};").program
    (found,) = find_newer_functions(program, OLD)
    assert found.code == "R009"
    assert found.message.startswith("JARO_WINKLER_SIMILARITY in ")
    assert found.labels[0].span.text.upper() == "JARO_WINKLER_SIMILARITY(A, 'X')"
    assert not [*find_newer_functions(program, NEW)]


@pytest.mark.parametrize("cast", ["CAST(time AS TIME)", "TRY_CAST(time AS TIME)", "time::TIME"])
def test_a_cast_is_found_by_what_it_casts(cast: str) -> None:
    stream = "CREATE STREAM c (time TIMESTAMP, text STRING) WITH (connector = 'files', path = 'x', format = 'json');"
    program = penstock.compile(f"{stream}SELECT STREAM CAST(text AS TIME) AS t, {cast} AS c FROM c;").program
    (found,) = find_newer_functions(program, OLD)
    assert (found.code, found.message.partition(" in ")[0].removeprefix("TRY_")) == ("R009", "CAST AS TIME")
    assert found.labels[0].span.text == cast
    texts = penstock.compile(f"{stream}SELECT STREAM CAST(text AS TIME) AS t FROM c;").program
    assert not [*find_newer_functions(texts, OLD)]


def test_texts_and_names_are_no_calls() -> None:
    query = "SELECT STREAM 'FROM_BASE32(a)' AS `FROM_BASE32(`, `TO_BASE32(`, 'it''s TO_BASE32(' AS t FROM s;"
    assert not [*find_newer_functions(penstock.compile(STREAM + query).program, OLD)]


def test_real_time_is_of_the_newest_version() -> None:
    (block,) = re.findall(r"## Accepted\n+```sql\n(.*?)```", (ROOT / "docs/errors/C026.md").read_text(), re.DOTALL)
    program = penstock.compile(block).program
    assert {each.message.partition(" in ")[0] for each in find_newer_functions(program, OLD)} == {
        "SET trigger = 'realtime'"
    }
    assert not [*find_newer_functions(program, NEW)]


def test_a_read_is_looked_at_too() -> None:
    declared = "CREATE TABLE t (a STRING PRIMARY KEY) WITH (connector = 'files', path = 'x', format = 'json');"
    select = Source("<sql>", "SELECT TO_BASE32(CAST(a AS BINARY)) AS b FROM t")
    (found,) = find_newer_in_read(compile_read(select, penstock.compile(declared).catalog, memory=False), OLD)
    assert (found.code, found.labels[0].span.text) == ("R009", "TO_BASE32(CAST(a AS BINARY))")


def test_jobs_name_the_versions_that_they_run_on() -> None:
    every, newest = (
        write_job(penstock.compile(f"{STREAM}SELECT STREAM {item} FROM s;").program)["job.py"]
        for item in ("a", "FROM_BASE32(a) AS b")
    )
    assert 'spark=["4.2", "4.3"])' in every
    assert 'spark=["4.3"])' in newest


def test_each_version_has_what_no_entry_dates_later() -> None:
    assert {each.since for each in FUNCTIONS} - {None} <= {*SPARK_VERSIONS} - {OLD}
