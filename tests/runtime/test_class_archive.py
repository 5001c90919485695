"""The archive of Spark's classes: a place for each JDK, and a JVM that takes its classes from there."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from penstock.runtime.spark import class_archive
from penstock.runtime.spark.class_archive import find_archive
from penstock.runtime.spark.jvm import list_options
from tests.e2e.shell import ENVIRONMENT, PENSTOCK, call, write


def make_jdk(home: Path, version: str) -> Path:
    home.mkdir(exist_ok=True)
    (home / "release").write_text(f'JAVA_VERSION="{version}"\n')
    return home


def test_each_build_of_a_jdk_has_an_archive_of_its_own(tmp_path: Path) -> None:
    one = find_archive(make_jdk(tmp_path / "one", "17.0.1"))
    assert find_archive(tmp_path / "one") == one
    other = find_archive(make_jdk(tmp_path / "other", "17.0.1"))
    assert len({one, other, find_archive(make_jdk(tmp_path / "one", "17.0.2")), find_archive(tmp_path / "none")}) == 4


@pytest.mark.parametrize("short", [False, True])
def test_a_jvm_is_told_of_an_archive_that_is_there(
    short: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(class_archive, "FOLDER", str(tmp_path / "a b"))
    assert "SharedArchiveFile" not in list_options(tmp_path, short=short)
    archive = find_archive(tmp_path)
    archive.parent.mkdir()
    archive.touch()
    assert list_options(tmp_path, short=short).endswith(f' -XX:SharedArchiveFile="{archive}"')


@pytest.mark.spark
@pytest.mark.campaign
def test_a_warm_up_serves_the_next_run(tmp_path: Path) -> None:
    home = tmp_path / "home of one"
    home.mkdir()
    own = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "SPARK_SUBMIT_OPTS", "SPARK_CONF_DIR")
    environment = {name: value for name, value in ENVIRONMENT.items() if name not in own} | {"HOME": str(home)}
    made = call(tmp_path, *PENSTOCK, "warm-up", environment=environment)
    assert (made.returncode, "wrote" in made.stdout) == (0, True), made.stderr
    (archive,) = home.rglob("*.jsa")
    assert [*archive.parent.iterdir()] == [archive], "nothing else is left"
    script = (
        "CREATE STREAM s (id BIGINT) WITH (connector = 'files', path = 'in', format = 'json'); SELECT STREAM id FROM s;"
    )
    write(tmp_path, {"in/1.json": [{"id": 1}], "script.sql": script})
    environment["_JAVA_OPTIONS"] = f"-Xlog:class+load:file={tmp_path}/loaded-%p.log"
    ran = call(tmp_path, *PENSTOCK, "run", "--once", "script.sql", environment=environment)
    assert ran.returncode == 0, ran.stderr
    log = max(tmp_path.glob("loaded-*.log"), key=os.path.getsize).read_text("utf-8")
    shared, all_ = (len(re.findall(text, log)) for text in (r"source: shared objects file \(top\)", "source: "))
    assert shared > all_ / 2
