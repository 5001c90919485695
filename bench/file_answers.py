"""The files that a running query has written -> when each answer was visible, and how long it took.

An answer is visible when a reader that wants each row once may read it. For Spark and Penstock that is when the log of
the sink, `_spark_metadata`, lists its file. For Flink it is when its file has got its final name. An observer looks at
the folder every few milliseconds.

An answer needs an event time. A row that is projected needs its own, and a pair of a join that of its second row. An
answer of a window needs the end of the window plus the delay of the watermark. A row of OVER needs its own time plus
the delay, as rows of the same time belong to its frame. An answer is complete when the first row has arrived whose
event time is at least what it needs. Its latency is the time from the arrival of the file with this row until the
answer is visible.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

import duckdb
import numpy as np

from bench.answers import Answer, columns_of, digest_rows
from bench.file_feed import Arrival

EVERY = 0.005
"""Seconds from one look at the output to the next."""
LOG = "_spark_metadata"


@dataclass(frozen=True, slots=True)
class Observer:
    """Notes when entries of the output are seen first. `flink`: whether they are files, and not those of a log."""

    out: Path
    flink: bool
    seen: dict[str, float] = field(default_factory=dict)

    def observe(self, ended: threading.Event) -> None:
        """Looks at the output until the event is set."""
        while not ended.wait(EVERY):
            for name in self.list_new():
                self.seen[name] = time.time()

    def list_new(self) -> list[str]:
        """The entries that were not seen yet."""
        try:
            names = [each.name for each in (self.out if self.flink else self.out / LOG).iterdir()]
        except FileNotFoundError:
            return []
        entries = [name for name in names if (name.startswith("part-") if self.flink else name[0].isdigit())]
        return [name for name in entries if name not in self.seen]

    def find_files(self) -> dict[str, float]:
        """The visible files that hold something, and when each was visible first."""
        seen = dict(self.seen)
        if self.flink:
            files = {str(self.out / name): at for name, at in seen.items()}
        else:
            texts = {name: (self.out / LOG / name).read_text(encoding="utf-8") for name in seen}
            files = read_log(texts, seen)
        return {file: at for file, at in files.items() if Path(file).stat().st_size}


@dataclass(frozen=True, slots=True)
class Question:
    """`columns`: of the answers. `query`: SQL for what the batch answer over all files is. `needs`: SQL for a time."""

    before: Sequence[str]
    query: str
    needs: str
    columns: Mapping[str, str]

    def expect(self, limit: int) -> Answer:
        """The answers that need no more than event times up to `limit`, in milliseconds."""
        with connect() as connection:
            for statement in self.before:
                connection.execute(statement)
            rows = connection.sql(f"SELECT * FROM ({self.query}) WHERE epoch_ms({self.needs}) <= {limit}")
            return digest_rows(rows, self.columns)

    def read(self, files: Mapping[str, float], limit: int) -> tuple[Answer, np.ndarray, np.ndarray]:
        """Those that are in the files, in milliseconds what each needs, and in seconds when it was visible."""
        if not files:
            return Answer(0, 0), np.array([], dtype=np.int64), np.array([])
        with connect() as connection:
            rows = connection.read_csv([*files], header=False, columns=dict(self.columns), filename=True)  # type: ignore[arg-type]
            rows = rows.filter(f"epoch_ms({self.needs}) <= {limit}")
            times = rows.project(f"epoch_ms({self.needs}) AS needs, filename").fetchnumpy()
            at = np.array([files[each] for each in times["filename"]])
            return digest_rows(rows, self.columns), np.asarray(times["needs"], dtype=np.int64), at


def make_question(script: str, needs: str) -> Question:
    """What a script for DuckDB asks with its last statement."""
    *before, query = script.strip().removesuffix(";").split(";\n")
    return Question(before, query, needs, columns_of(script))


def connect() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def read_log(texts: Mapping[str, str], seen: Mapping[str, float]) -> dict[str, float]:
    """The files that the log of a sink lists, and when each was visible.

    An entry `N.compact` repeats what is in those before it. A file is visible with the first entry that lists it.
    """
    files: dict[str, float] = {}
    for name in sorted(texts, key=lambda name: int(name.partition(".")[0])):
        _version, *lines = texts[name].splitlines()
        for line in lines:
            files.setdefault(unquote(json.loads(line)["path"]).removeprefix("file://"), seen[name])
    return files


def find_completing(arrivals: Sequence[Arrival], needs: np.ndarray) -> np.ndarray:
    """The place of the first arrival whose newest event time is at least what an answer needs, for each answer."""
    return np.searchsorted([each.last for each in arrivals], needs)


def list_latencies(arrivals: Sequence[Arrival], part: range, needs: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The milliseconds that answers took which are complete with an arrival of this part, in order."""
    places = find_completing(arrivals, needs)
    mine = (places >= part.start) & (places < part.stop)
    came = np.array([each.at for each in arrivals])[places[mine]]
    return np.sort((at[mine] - came) * 1_000)
