"""How Spark is told to write the files of checkpoints."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock.codegen.program import DISK_FILES, FILES_SETTING
from penstock.runtime import RuntimeSession
from penstock.runtime.checkpoint.file_managers import choose_file_manager
from tests.runtime.programs import Place, at

OTHERS = "org.example.Files"
STORAGE: Any = SimpleNamespace(qualify=lambda path: path, is_on_disk=lambda path: not path.startswith("s3a:"))


def chosen(before: dict[str, str], folder: str, path: str | None) -> dict[str, str]:
    """The settings of a session that starts a query which writes to the path."""
    settings = dict(before)
    conf = SimpleNamespace(
        get=settings.get, set=settings.__setitem__, unset=lambda name: settings.pop(name, None) and None
    )
    session: Any = SimpleNamespace(conf=conf)
    choose_file_manager(session, STORAGE, [folder, path])
    return settings


@pytest.mark.parametrize("path", [None, "/out"])
def test_files_on_disks_are_renamed_without_other_processes(path: str | None) -> None:
    assert chosen({}, "/state", path) == {FILES_SETTING: DISK_FILES}


@pytest.mark.parametrize(("folder", "path"), [("s3a://bucket/state", "/out"), ("/state", "s3a://bucket/out")])
def test_spark_decides_for_other_file_systems(folder: str, path: str) -> None:
    assert chosen({}, folder, path) == {}
    assert chosen({FILES_SETTING: DISK_FILES}, folder, path) == {}  # as set for a query before


def test_the_choice_of_the_user_stays() -> None:
    assert chosen({FILES_SETTING: OTHERS}, "/state", "/out") == {FILES_SETTING: OTHERS}
    assert chosen({FILES_SETTING: OTHERS}, "s3a://bucket/state", "/out") == {FILES_SETTING: OTHERS}


@pytest.mark.spark
def test_files_have_checksums(spark: SparkSession, place: Place) -> None:
    place.put("a", {"id": 1, "v": 10, "ts": at(0)})
    folder = place.root / "checkpoint"
    with RuntimeSession(spark, str(folder)) as session:
        session.run_once(place.windows("SUM(v)"), drain=False)
    assert spark.conf.get(FILES_SETTING) == DISK_FILES
    for log in ("offsets", "commits"):
        assert (folder / "windows" / log / ".0.crc").is_file()
    (state,) = (folder / "windows" / "state" / "0" / "0").glob(".1.delta.crc")
    assert state.is_file()
