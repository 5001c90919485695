"""Finding a JDK, without starting one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.runtime import RunError
from penstock.runtime.spark import jvm
from penstock.runtime.spark.jvm import find_jdk, has_ended, start_spark


def fake_jdk(home: Path, version: str) -> Path:
    """A folder whose `bin/java` says that it is of a version, as JDKs do: on standard error."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    java.chmod(0o755)
    return home


@pytest.mark.parametrize("version", ["17.0.15", "21"])
def test_java_home_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_jdk(tmp_path / "home", version)))
    monkeypatch.setenv("PATH", f"{fake_jdk(tmp_path / 'path', '17')}/bin:/bin")
    assert find_jdk() == tmp_path / "home"


def test_the_path_serves_where_java_home_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_jdk(tmp_path / "home", "1.8.0_402")))
    monkeypatch.setenv("PATH", f"{fake_jdk(tmp_path / 'path', '21.0.2')}/bin:/bin")
    assert find_jdk() == tmp_path / "path"


def test_without_a_jdk_the_finding_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fake_jdk(tmp_path / "home", "11.0.2")
    (tmp_path / "tools").mkdir()
    installer = tmp_path / "tools" / "apt-get"
    installer.write_text("#!/bin/sh\n")
    installer.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("PATH", str(tmp_path / "tools"))
    monkeypatch.setattr("platform.system", lambda: "Linux")
    with pytest.raises(RunError) as failure:
        find_jdk()
    (finding,) = failure.value.diagnostics
    assert (finding.code, finding.message) == ("R001", "no JDK 17 or 21 found")
    assert finding.detail == f"{home}/bin/java is version 11"
    assert finding.hint == "sudo apt-get install openjdk-17-jdk-headless"


class GoneSpark:
    """A session whose JVM has ended."""

    def __getattr__(self, name: str) -> Any:
        raise ConnectionRefusedError(111, "Connection refused")


def test_a_jvm_that_ends_while_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jvm, "_launch", lambda *_: GoneSpark().anything)
    monkeypatch.setattr("pyspark.SparkContext._gateway", None)
    with pytest.raises(RunError) as failure:
        start_spark("local")
    (finding,) = failure.value.diagnostics
    assert (finding.code, finding.message) == (
        "R002",
        "cannot start Spark: ConnectionRefusedError: [Errno 111] Connection refused",
    )


def test_a_jvm_that_has_ended() -> None:
    gone: Any = GoneSpark()
    assert has_ended(gone)
