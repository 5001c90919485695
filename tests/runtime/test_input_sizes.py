"""Which runs are short and what the JVM is told then; which have large micro-batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock import compile
from penstock.codegen.program import Input
from penstock.runtime import has_large_batches, is_short
from penstock.runtime.query.input_sizes import LARGE, LARGE_BATCH, SHORT
from penstock.runtime.spark import jvm
from penstock.runtime.spark.jvm import start_spark


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


def test_a_run_with_much_input_has_large_batches(tmp_path: Path) -> None:
    grow(tmp_path / "a" / "1.json", LARGE - 1)
    every = files(tmp_path / "a")
    assert not has_large_batches(list_inputs(every))
    grow(tmp_path / "a" / "2.json", 1)
    assert has_large_batches(list_inputs(every))
    assert has_large_batches(list_inputs(f"{every}, files_per_batch = 1"))
    assert not has_large_batches(list_inputs("connector = 'rate'", files("s3a://bucket/in"), files("nowhere")))


def test_many_small_files_are_no_large_batch(tmp_path: Path) -> None:
    size = LARGE_BATCH // 2
    for number in range(LARGE // size):
        grow(tmp_path / "a" / f"{number}.json", size)
    every = files(tmp_path / "a")
    assert has_large_batches(list_inputs(every))
    assert not has_large_batches(list_inputs(f"{every}, files_per_batch = 1"))
    assert has_large_batches(list_inputs(f"{every}, files_per_batch = 2"))


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
