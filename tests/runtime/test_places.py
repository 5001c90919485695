"""What a program reads and writes lies apart, however it is spelled, or the program is refused before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.codegen.program import Input, Program, QueryOutput, SparkQuery
from penstock.runtime import RunError
from penstock.runtime.checkpoint.check_places import check_places
from penstock.runtime.checkpoint.storage import Storage
from tests.runtime.programs import COLUMNS, Place

pytestmark = pytest.mark.spark


def query(name: str, read: str, write: str | None, rejecting: str | None = None) -> SparkQuery:
    """A query of this name that reads one path and writes to another, or to memory."""
    source = Input(
        name=rejecting or "orders", view="raw", connector="files", options=(("path", read),), columns=COLUMNS
    )
    output = (
        QueryOutput(name, "memory", (), COLUMNS)
        if write is None
        else QueryOutput(name, "files", (("path", write),), COLUMNS)
    )
    (made,) = Place(Path()).kept().queries
    rejects = tuple(replace(each, name=source.name, input=source) for each in made.rejects if rejecting is not None)
    return replace(made, name=name, inputs=(source,), output=output, rejects=rejects)


def refusal(spark: SparkSession, queries: Sequence[SparkQuery], folder: str | None = None) -> str | None:
    """The code of what is found, None if the places are sound."""
    try:
        check_places(Storage(spark), Program((), tuple(queries)), folder)
    except RunError as refused:
        (finding,) = refused.diagnostics
        return finding.code
    return None


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with `out` and ways to it."""
    (tmp_path / "out").mkdir()
    (tmp_path / "link").symlink_to("out")
    (tmp_path / "in").mkdir()
    (tmp_path / "around").mkdir()
    (tmp_path / "around" / "deep").symlink_to("../out")
    monkeypatch.chdir(tmp_path)
    return tmp_path


SAME = (
    "out",
    "./out",
    "in/../out",
    "out/",
    "file:{here}/out",
    "file://{here}/out",
    "{here}/out",
    "link",
    "link/../out",
)
WITHIN = (
    ".",
    "*",
    "o*",
    "{{in,out}}",
    "{{in/x,out}}",
    "out/*",
    "out/*.json",
    "out/[p]*",
    "around",
    "aro*",
    "{here}",
    "*/deep",
)


def test_a_query_does_not_read_what_it_writes(spark: SparkSession, here: Path) -> None:
    for read in (*SAME, *WITHIN):
        assert refusal(spark, [query("q", read.format(here=here), "out")]) == "R043", read
    assert refusal(spark, [query("q", "out", "link")]) == "R043"
    assert refusal(spark, [query("q", "in", "out")]) is None


def test_a_query_reads_what_another_writes_by_its_folder_alone(spark: SparkSession, here: Path) -> None:
    for read in SAME:
        assert refusal(spark, [query("w", "in", "out"), query("r", read.format(here=here), None)]) is None, read
    for read in (*WITHIN, "out/part-1.json", "out/below"):
        assert refusal(spark, [query("w", "in", "out"), query("r", read.format(here=here), None)]) == "R044", read
    for read in ("out2", "in/*.json", "*/below", "in", "i*", "missing"):
        assert refusal(spark, [query("w", "in", "out"), query("r", read, None)]) is None, read
    assert refusal(spark, [query("w", "in", "new"), query("r", "./new", None)]) is None
    assert (here / "new").is_dir()


def test_what_spark_passes_over_is_not_in_the_way(spark: SparkSession, here: Path) -> None:
    assert refusal(spark, [query("w", "in", "out"), query("r", "out", None)], "out/_state") is None
    assert refusal(spark, [query("w", "in", "in/_out"), query("r", "in", None)]) is None
    assert refusal(spark, [query("w", "in", "out"), query("v", "in", "out/_late"), query("r", "out", None)]) is None
    assert refusal(spark, [query("w", "in", "out"), query("v", "in", "out/_spark_metadata")]) == "R042"
    assert refusal(spark, [query("w", "in", "_out"), query("r", "_*", None)]) == "R044"


def test_queries_do_not_write_into_each_other(spark: SparkSession, here: Path) -> None:
    for one, other in (("out", "file:{here}/out"), ("a/../out", "link")):
        assert refusal(spark, [query("a", "in", one), query("b", "in", other.format(here=here))]) == "R016"
    for one, other in (("out", "out/b"), ("out/b", "link")):
        assert refusal(spark, [query("a", "in", one), query("b", "in", other)]) == "R042"
    assert refusal(spark, [query("a", "in", "out"), query("b", "in", "out2")]) is None


@pytest.mark.parametrize(
    "sink", ["big_rejected/orders", "big_rejected", "./big_rejected/orders/x", "{here}/big_rejected/orders"]
)
def test_nobody_writes_among_the_rejected_rows(spark: SparkSession, here: Path, sink: str) -> None:
    queries = [query("big", "in", "big", rejecting="orders"), query("late", "in", sink.format(here=here))]
    assert refusal(spark, queries) == "R042"
    assert refusal(spark, [queries[0], query("late", "in", "big_rejected/others")]) is None
    assert refusal(spark, [queries[0], query("read", "big_rejected/orders", None)]) is None


def test_nobody_writes_or_reads_in_a_checkpoint(spark: SparkSession, here: Path) -> None:
    assert refusal(spark, [query("q", "in", "state/q")], "state") == "R042"
    assert refusal(spark, [query("q", "in", "q")], ".") == "R042"
    assert refusal(spark, [query("q", "in", "state/q/_x")], "state") == "R042"
    assert refusal(spark, [query("q", "in", "out")], "state") is None
    assert refusal(spark, [query("w", "in", None), query("r", "state/w/rows", None)], "state") == "R044"
    assert refusal(spark, [query("r", "state", None)], "state") == "R043"
    # What `big` sets aside would lie in the checkpoint of the other.
    both = [query("big", "in", None, rejecting="orders"), query("big_rejected", "in", None)]
    assert refusal(spark, both, "state") == "R042"


def test_a_loop_of_queries_is_refused(spark: SparkSession, here: Path) -> None:
    there, back = query("there", "a", "b"), query("back", "link2/../b", f"file:{here}/a")
    assert refusal(spark, [there, back]) == "R043"
    assert refusal(spark, [there, query("back", "b", "c")]) is None


@pytest.mark.parametrize("path", ["file:relative", "nowhere://host/x", "s3a://bucket/x"])
def test_a_path_that_cannot_be_used_is_named(spark: SparkSession, here: Path, path: str) -> None:
    assert refusal(spark, [query("q", path, "out")]) == "R041"
    assert refusal(spark, [query("q", "in", path)]) == "R041"


def test_a_path_without_a_scheme_is_of_this_machine_or_of_the_cluster(spark: SparkSession, here: Path) -> None:
    storage = Storage(spark)
    assert storage.qualify("x") == storage.qualify(f"file://{here}/./x/") == f"{here}/x"
    configuration = storage._hadoop.conf.Configuration(storage._configuration)
    configuration.set("fs.defaultFS", "viewfs://cluster/")
    configuration.set("fs.viewfs.mounttable.cluster.link./data", f"file:{here}")
    storage._configuration = configuration
    assert storage.qualify("x") == storage.qualify(f"file:{here}/x") == f"file:{here}/x"
    storage._is_local = False
    assert storage.qualify("/data/x") == "viewfs://cluster/data/x"
    assert storage.qualify("x").startswith("viewfs://cluster/user/")
    assert storage.qualify(f"file:{here}/x") == f"file:{here}/x"
