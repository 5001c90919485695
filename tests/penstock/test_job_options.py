"""The options of a job are those of `penstock run`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from penstock import job
from penstock.commands.run_script import run
from penstock.compilation import compile
from tests.penstock.jobs import rebuild
from tests.penstock.test_job import RATE


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the job gives to the run of its program."""
    taken: dict[str, Any] = {}

    def run_program(_program: object, **options: Any) -> int:
        taken.update(options)
        return 0

    monkeypatch.setattr(job, "run_program", run_program)
    return taken


def start(monkeypatch: pytest.MonkeyPatch, *options: str, needed: Mapping[str, str] | None = None) -> None:
    monkeypatch.setattr(sys, "argv", ["job.py", *options])
    monkeypatch.setattr(job, "list_packages", lambda *_: needed or {})
    monkeypatch.setattr(job.SparkJob, "build", lambda _: compile(RATE).program)
    with pytest.raises(SystemExit) as ended:
        job.SparkJob("job.py", state_partitions=4, spark=["4.3"]).main()
    assert ended.value.code == 0


def test_conf_gives_settings(monkeypatch: pytest.MonkeyPatch, given: dict[str, Any]) -> None:
    start(monkeypatch, "--conf", "spark.driver.memory=4g", "--conf", "spark.x = a=b ")
    assert given["settings"] == {"spark.driver.memory": "4g", "spark.x": "a=b"}


def test_archives_of_the_job_stay_beside_those_of_conf(monkeypatch: pytest.MonkeyPatch, given: dict[str, Any]) -> None:
    needed = {"spark.jars.packages": "a:b:1"}
    start(monkeypatch, "--conf", "spark.jars.packages=c:d:2", needed=needed)
    assert given["settings"] == {"spark.jars.packages": "a:b:1,c:d:2"}
    start(monkeypatch, needed=needed)
    assert given["settings"] == needed


@pytest.mark.parametrize("conf", ["secret", "=secret", " =secret"])
def test_a_setting_without_a_name_is_refused_and_not_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], conf: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["job.py", "--conf", conf])
    with pytest.raises(SystemExit) as ended:
        job.SparkJob("job.py", state_partitions=4, spark=["4.3"]).main()
    told = capsys.readouterr().err
    assert (ended.value.code, "--conf takes KEY=VALUE" in told, "secret" in told) == (2, True, False)


def test_a_job_has_all_options_of_a_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rebuild(compile(RATE).program, tmp_path)
    monkeypatch.setattr(sys, "argv", ["job.py", "--help"])
    with pytest.raises(SystemExit):
        job.SparkJob(str(tmp_path / "job.py"), state_partitions=4, spark=["4.3"]).main()
    told = capsys.readouterr().out
    options = [name for each in run.params for name in (*each.opts, *each.secondary_opts) if name.startswith("--")]
    assert len(options) > 6
    assert [name for name in options if name not in told] == []
