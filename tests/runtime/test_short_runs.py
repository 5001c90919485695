"""Which runs are short, and what the JVM is told then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock import compile
from penstock.codegen.program import Input
from penstock.runtime import is_short, jvm
from penstock.runtime.jvm import start_spark
from penstock.runtime.short_runs import SHORT


def list_inputs(*sources: str) -> list[Input]:
    declared = "".join(f"CREATE STREAM s{n} (id BIGINT) WITH ({source});\n" for n, source in enumerate(sources))
    script = declared + "".join(f"SELECT STREAM id FROM s{n};\n" for n in range(len(sources)))
    return [each for query in compile(script).program.queries for each in query.inputs]


def files(path: object) -> str:
    return f"connector = 'files', path = '{path}', format = 'json'"


def grow(path: Path, size: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.truncate(size)


def test_a_run_is_short_up_to_a_size(tmp_path: Path) -> None:
    grow(tmp_path / "a" / "day=1" / "1.json", SHORT // 2)
    grow(tmp_path / "b" / "1.json", SHORT // 2)
    both = files(tmp_path / "a"), files(f"file://{tmp_path}/b/*.json")
    assert is_short(list_inputs(*both))
    grow(tmp_path / "b" / "2.json", 1)
    assert not is_short(list_inputs(*both))
    assert is_short(list_inputs(files(tmp_path / "b" / "1.json"), files(tmp_path / "b" / "1.json")))


@pytest.mark.parametrize(
    "source",
    [
        "connector = 'rate'",
        files("s3a://bucket/in"),
        files("nowhere"),
        files("{a,b}"),
    ],
)
def test_what_is_not_known_to_be_short(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        (tmp_path / name).mkdir()
    assert not is_short(list_inputs(source))


@pytest.mark.parametrize(
    ("short", "master", "given", "variable", "expected"),
    [
        (True, "local[2]", {}, "", "-XX:TieredStopAtLevel=1"),
        (False, "local[2]", {}, "", "-XX:Tier4InvocationThreshold=50000"),
        (True, "spark://host:7077", {}, "", None),
        (False, "spark://host:7077", {}, "", None),
        (True, "local[2]", {"spark.driver.extraJavaOptions": "-XX:+UseZGC"}, "", None),
        (True, "local[2]", {}, "-XX:+UseZGC", None),
    ],
)
def test_the_options_of_the_jvm(
    short: bool,
    master: str,
    given: dict[str, str],
    variable: str,
    expected: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Started(Exception):
        pass

    def launch(configuration: Any, _: object) -> None:
        options = configuration.get("spark.driver.defaultJavaOptions", None)
        assert options is None if expected is None else expected in options.split()
        raise Started

    for name in jvm._JAVA_OPTIONS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("JDK_JAVA_OPTIONS", variable)
    monkeypatch.setattr(jvm, "find_jdk", lambda: Path("jdk"))
    monkeypatch.setattr(jvm, "_launch", launch)
    monkeypatch.setattr("pyspark.SparkContext._gateway", None)
    with pytest.raises(Started):
        start_spark(master, given, short=short)
