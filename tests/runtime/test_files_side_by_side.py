"""Random queries that run side by side in one session, over files of all formats that arrive together.

Each answer is that of the evaluator. Queries start while others run, and read the same or other streams.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.evaluator.evaluate import evaluate
from penstock.runtime import QueryHandle, RuntimeSession
from tests.jvm.sessions import open_session
from tests.model.rows import assert_same_rows, difference

pytestmark = [pytest.mark.spark, pytest.mark.draws]

SCRIPTS = int(os.environ.get("PENSTOCK_SIDE_BY_SIDE", "4"))
FIRST = int(os.environ.get("PENSTOCK_FIRST_STATEMENT", "0"))
AT_ONCE = 2
PATIENCE = 120  # seconds until a test has failed
FORMATS = (
    *("format = 'csv'", "format = 'csv', multi_line = FALSE", "format = 'csv', header = FALSE"),
    *("format = 'json'", "format = 'parquet'"),
)
QUERIES = (
    "CREATE STREAM {name} AS SELECT STREAM id, k, v FROM {stream}",
    "CREATE STREAM {name} AS SELECT STREAM id, UPPER(k) AS k FROM {stream} WHERE v > 3",
    "CREATE TABLE {name} AS SELECT k, COUNT(*) AS n, SUM(v) AS total FROM {stream} GROUP BY k",
)
SPARK_DEFAULTS = {"spark.sql.files.openCostInBytes": "4194304", "spark.sql.files.maxPartitionNum": "1"}
"""With these settings, a task reads several files."""
Rows = list[dict[str, Any]]


@dataclass
class Stream:
    """A folder of files of one format. `waves`: the rows of the files that arrive together, one list for each time."""

    name: str
    options: str
    compressed: bool
    waves: list[list[Rows]]
    columns: tuple[str, ...] = ("id", "k", "v")

    def declare(self, root: Path) -> str:
        path = f"connector = 'files', path = '{root / self.name}'"
        return f"CREATE STREAM {self.name} (id INT, k STRING, v INT) WITH ({path}, {self.options})"

    def rows(self) -> Rows:
        return [row for wave in self.waves for file in wave for row in file]

    def arrive(self, root: Path, wave: int) -> None:
        """Moves the files of a wave into the folder, all in one moment."""
        draft = root / f"{self.name}_{wave}"
        draft.mkdir()
        for number, rows in enumerate(self.waves[wave]):
            self.write(draft / f"{number}", rows)
        (root / self.name).mkdir(exist_ok=True)
        draft.rename(root / self.name / f"w{wave}")

    def write(self, path: Path, rows: Rows) -> None:
        if "parquet" in self.options:
            types = {"id": pa.int32(), "k": pa.string(), "v": pa.int32()}
            pq.write_table(pa.Table.from_pylist(rows, pa.schema(types.items())), f"{path}.parquet")
            return
        text = "".join(f"{json.dumps(row)}\n" for row in rows) if "json" in self.options else self.csv_text(rows)
        name = path.with_suffix(".json" if "json" in self.options else ".csv")
        if self.compressed:
            name.with_suffix(f"{name.suffix}.gz").write_bytes(gzip.compress(text.encode()))
        else:
            name.write_text(text)

    def csv_text(self, rows: Rows) -> str:
        made = io.StringIO(newline="")
        # Without a header the declared order counts.
        names = ("id", "k", "v") if "header" in self.options else self.columns
        writer = csv.DictWriter(made, names, lineterminator="\n")
        if "header" not in self.options:
            writer.writeheader()
        writer.writerows(rows)
        return made.getvalue()


@dataclass
class Script:
    """Streams, queries over them, and the wave after which each query starts."""

    seed: int
    streams: list[Stream] = field(default_factory=list)
    queries: list[tuple[int, str]] = field(default_factory=list)
    waves: int = 3


def draw_script(seed: int) -> Script:
    r = random.Random(f"side by side {seed}")
    script = Script(seed)
    for number in range(r.randint(1, 3)):
        options = r.choice(FORMATS) if number else r.choice(FORMATS[:2])
        if r.random() < 0.4:
            options += f", files_per_batch = {r.randint(1, 4)}"
        columns = tuple(r.sample(("id", "k", "v"), 3))
        waves = [[draw_rows(r) for _ in range(r.randint(2, 5))] for _ in range(script.waves)]
        script.streams.append(Stream(f"s{number}", options, r.random() < 0.3, waves, columns))
    for number in range(r.randint(2, 4)):
        stream = script.streams[number] if number < len(script.streams) else r.choice(script.streams)
        text = r.choice(QUERIES).format(name=f"q{number}", stream=stream.name)
        script.queries.append((r.randrange(script.waves), text))
    return script


def draw_rows(r: random.Random) -> Rows:
    return [{"id": r.randint(1, 99), "k": r.choice("abcid"), "v": r.randint(0, 9)} for _ in range(r.randint(0, 4))]


def difference_of(script: Script, root: Path, spark: SparkSession) -> str:
    """How the rows of the queries differ from those of the evaluator; empty if they do not."""
    for stream in script.streams:
        (root / stream.name).mkdir()
    declared = "; ".join(stream.declare(root) for stream in script.streams)
    with RuntimeSession(spark, str(root / "state")) as session:
        handles: dict[str, QueryHandle] = {}
        for wave in range(script.waves):
            for stream in script.streams:
                stream.arrive(root, wave)
            texts = "; ".join(text for when, text in script.queries if when == wave)
            if texts:
                started = session.start(penstock.compile(f"{declared}; {texts}").program)
                handles |= {each.name: each for each in started}
        wait_for(script, handles)
        return "\n".join(compare(script, session, declared, handles))


def wait_for(script: Script, handles: dict[str, QueryHandle]) -> None:
    """Until each query has read as many rows as there are, at least, and some time longer: no more may come."""
    sizes = {stream.name: len(stream.rows()) for stream in script.streams}
    needed = {f"q{number}": sizes[text.split(" FROM ")[1][:2]] for number, (_, text) in enumerate(script.queries)}
    deadline = time.monotonic() + PATIENCE
    while any(handles[name].status().rows < rows for name, rows in needed.items()):
        for each in handles.values():
            each.await_done(0)
        assert time.monotonic() < deadline, f"{[each.status() for each in handles.values()]} of {needed}"
        time.sleep(0.1)
    time.sleep(1)


def compare(script: Script, session: RuntimeSession, declared: str, handles: dict[str, QueryHandle]) -> Iterator[str]:
    tables = {stream.name: stream.rows() for stream in script.streams}
    texts = "; ".join(text for _, text in script.queries)
    for query in penstock.compile(f"{declared}; {texts}").queries:
        rows = session.rows(query.name) if handles[query.name].status().out else []
        found = difference(rows, evaluate(query.root, tables))
        if found:
            yield f"{query.name}: {found}"


def test_each_query_answers_as_if_it_ran_alone(only_spark: SparkSession, tmp_path: Path) -> None:
    def try_script(seed: int) -> str:
        script, root = draw_script(seed), tmp_path / f"{seed}"
        root.mkdir()
        found = difference_of(script, root, open_session(only_spark, seed))
        return f"{script}\n{found}" if found else ""

    with ThreadPoolExecutor(AT_ONCE) as pool:
        failures = [*filter(None, pool.map(try_script, range(FIRST, FIRST + SCRIPTS)))]
    assert not failures, "\n\n".join(failures)


@pytest.mark.parametrize("options", FORMATS[:2])
def test_a_header_is_no_row_whatever_is_set_in_the_session(spark: SparkSession, tmp_path: Path, options: str) -> None:
    """The settings that other queries and users change are those of their sessions."""
    waves = [[[{"id": 10 * wave + file, "k": "a", "v": 1}] for file in range(4)] for wave in range(2)]
    stream = Stream("s0", options, compressed=False, waves=waves)
    for name, value in SPARK_DEFAULTS.items():
        spark.conf.set(name, value)
    stream.arrive(tmp_path, 0)
    with RuntimeSession(spark, str(tmp_path / "state")) as session:
        text = f"{stream.declare(tmp_path)}; {QUERIES[0].format(name='q0', stream='s0')}"
        handles = {each.name: each for each in session.start(penstock.compile(text).program)}
        for name, value in SPARK_DEFAULTS.items():
            spark.conf.set(name, value)
        stream.arrive(tmp_path, 1)
        wait_for(Script(0, [stream], [(0, QUERIES[0].format(name="q0", stream="s0"))], 2), handles)
        assert_same_rows(session.rows("q0"), stream.rows())
