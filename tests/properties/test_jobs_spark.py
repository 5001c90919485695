"""Jobs of random plans leave the rows and accounts of a run of the same plan, where nobody can import Penstock."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession

from penstock.codegen import lower, write_job
from penstock.codegen.program import Program
from penstock.job_archive import make_archive
from penstock.planner.plan import Settings, Sink
from penstock.runtime import QueryReport, RuntimeSession
from tests.e2e.shell import Accounts, accounts
from tests.e2e.test_jobs import ONE_BY_ONE, alone, run_alone
from tests.jvm.sessions import open_session
from tests.model.arrivals import write_json_lines
from tests.penstock.jobs import write_files
from tests.properties import streams
from tests.properties.test_spark import KINDS, Example, examples, located, query_of

__all__ = ["alone"]
pytestmark = [pytest.mark.spark, pytest.mark.campaign]
OF_EACH_KIND = 2


def make_program(example: Example, folder: Path) -> Program:
    """The example from files to files of a folder."""
    query = query_of(located(example.plan, {name: folder / name for name in example.history.batches[0]}))
    sink = Sink("result", "files", (("path", str(folder / "result")), ("format", "json")))
    return lower([replace(query, sink=sink)], Settings(state_partitions=example.partitions))


def read_rows(folder: Path) -> Counter[str]:
    """The rows that were written, and those that were set aside but for the place of their files."""
    written = [line for path in folder.glob("result/*.json") for line in path.read_text("utf-8").splitlines()]
    aside = [line for path in folder.glob("result_rejected/*/*.json") for line in path.read_text("utf-8").splitlines()]
    told = (json.loads(line) for line in aside)
    return Counter([*written, *(f"{each['reason']} {each.get('record')}" for each in told)])


def list_counts(reports: list[QueryReport]) -> Accounts:
    found = {}
    for report in reports:
        for place, each in enumerate(report.inputs):
            counts = [each.read, each.rejected, each.late, each.filtered, each.used]
            found[report.name, each.name] = [*counts, *([] if place else [report.out])]
    return found


def test_jobs_leave_what_runs_leave(tmp_path: Path, alone: Mapping[str, str], only_spark: SparkSession) -> None:
    kinds = [kind for kind in KINDS if kind != "changing sessions"]  # their rows replace each other
    drawn = [example for kind in kinds for example in examples(kind, OF_EACH_KIND)]
    archive = make_archive()
    jobs, expected = [], []
    for number, example in enumerate(drawn):
        job, run = tmp_path / f"{number}" / "job of it", tmp_path / f"{number}" / "run"
        for folder in (job, run):
            folder.mkdir(parents=True)
            write_json_lines(example.history, folder)
        program = make_program(example, job)
        write_files(job / "job", write_job(program))
        (job / "job" / "kit.zip").write_bytes(archive)
        jobs.append((str(job), ["--once"]))
        with RuntimeSession(open_session(only_spark, number)) as session:
            expected.append(list_counts(session.run_once(make_program(example, run), drain=True)))
    output = run_alone(alone, tmp_path, "-c", ONE_BY_ONE, json.dumps(jobs), seconds=1800)
    _, *told = output.split("job in ")
    assert len(told) == len(drawn) >= 30
    for number, (example, counts, text) in enumerate(zip(drawn, expected, told, strict=True)):
        assert accounts(text) == counts, example
        assert read_rows(tmp_path / f"{number}" / "job of it") == read_rows(tmp_path / f"{number}" / "run"), example
    streams.tried["jobs through Spark"] += len(drawn)
