"""The archives that Spark needs for Kafka: the pinned ones, or a refusal that says how to get them."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.runtime import RunError
from penstock.runtime.jars import find_jars, list_jars


def test_missing_archives_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_JARS", str(tmp_path))
    assert list_jars() == []
    (tmp_path / "commons-pool2-2.13.1.jar").write_bytes(b"another one")
    with pytest.raises(RunError) as refused:
        find_jars("kafka")
    (found,) = refused.value.diagnostics
    assert found.code == "R073"
    assert "spark-sql-kafka-0-10_2.13-4.2.0.jar, " in found.message
    assert "commons-pool2-2.13.1.jar with the SHA-256 f77a" in found.message
    assert f"-DoutputDirectory={tmp_path}" in (found.hint or "")


@pytest.mark.usefixtures("jars")
def test_what_maven_has_is_what_is_pinned() -> None:
    assert set(find_jars("kafka")) <= set(list_jars())
