"""Windowed tables that streams look up, and that are joined with tables, through Spark.

A row of a stream or a table finds the windows that are known when it is processed: of the rows of their stream up to
the same micro-batch, but for late ones; and of these windows those that are kept. Each query is stopped several times,
and killed once in the midst of a micro-batch, which is run again.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.evaluator.evaluate import apply, evaluate
from penstock.evaluator.history import Clock, Fate, History, Tables, clocks, sort_out, watermarks
from penstock.evaluator.typed_values import EPOCH, Row, milliseconds
from penstock.planner.plan import Emission, ForeignKeyJoin, Node, TableLookup, WindowAggregate, WTable
from penstock.planner.plan.walk import walk
from penstock.runtime import RuntimeSession
from tests.jvm.sessions import open_session
from tests.model.arrivals import write_json_lines
from tests.model.rows import difference
from tests.properties.killed import Followed, until_done
from tests.properties.test_spark import hold_back

pytestmark = pytest.mark.spark
BATCHES = 5
STOPS = {"STREAM": (2, 5), "TABLE": (2, 3, 4, 5)}
"""The micro-batches of the inputs before which queries are stopped. What one writes for another is all read at once."""
ROWS = 40
SEED = "windows 10"
FOR_EVER = 3_600_000
DECLARED = """CREATE STREAM s (id BIGINT KEY, g STRING, v BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - 2 SEC)
WITH (connector = 'files', path = '{0}/s', format = 'json', files_per_batch = 1);
CREATE STREAM r (k STRING KEY, v BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - 1 SEC)
WITH (connector = 'files', path = '{0}/r', format = 'json', files_per_batch = 1);
CREATE VIEW seconds AS SELECT k, COUNT(*) AS n, SUM(v) AS v FROM r GROUP BY k, TUMBLE(time, 1 SEC) RETENTION 2 SEC;
CREATE VIEW grown AS SELECT g, COUNT(DISTINCT v) AS n FROM s GROUP BY g, CUMULATE(time, 1 SEC, 2 SEC) EMIT FINAL;
CREATE TABLE t (id STRING PRIMARY KEY, g STRING, v BIGINT, since TIMESTAMP)
WITH (connector = 'files', path = '{0}/t', format = 'json', operation = 'op', files_per_batch = 1);
SET state_partitions = 2;
"""
QUERIES = {
    # A window before the row's own, of another stream.
    "pairs": """SELECT STREAM s.id AS id, s.g AS g, w.window_start AS since, w.n AS n, w.v AS total
FROM s LEFT JOIN seconds w ON s.g = w.k AND w.window_start = CASE s.v WHEN 1 THEN DATE_TRUNC('SECOND', s.time) - 3 SEC
  ELSE DATE_TRUNC('SECOND', s.time) - 1 SEC END AND w.n > 1 WHERE s.v IS NOT NULL""",
    # What is final of the stream itself.
    "counts": """SELECT STREAM n, window_start, COUNT(*) AS rows FROM (SELECT STREAM s.time AS time, w.n AS n
FROM s LEFT JOIN grown w ON s.g = w.g AND w.window_end = DATE_TRUNC('SECOND', s.time) - 1 SEC) x
GROUP BY n, TUMBLE(time, 2 SEC)""",
}
TABLES = {
    "rows": "SELECT t.id AS id, t.v AS v, w.n AS n FROM t"
    " LEFT JOIN seconds w ON t.g = w.k AND t.since = w.window_start",
    "windows": "SELECT w.k AS k, w.n AS n, t.v AS v FROM seconds w LEFT JOIN t ON w.k = t.id AND t.v > 0",
}


def history(chance: random.Random) -> History:
    """Rows of both streams in disorder, some of them late, with NULL and unknown keys, and missing times."""

    def moment(batch: int, delay: int) -> datetime | None:
        late = chance.choice([0, 0, 0, 0, 0, 2])
        return EPOCH + milliseconds(86_400_000 + 2500 * batch + 250 * chance.randrange(4 * delay) - 1000 * late)

    def looking(id_: int, batch: int) -> Row:
        time = moment(batch, 3) if id_ % 23 else None
        return {
            "id": id_,
            "g": chance.choice(["a", "a", "b", "c", None]),
            "v": chance.choice([0, 1, None]),
            "time": time,
        }

    def counted(batch: int) -> Row:
        key = chance.choice(["a", "a", "b", "d", None])
        return {"k": key, "v": chance.choice([0, 1, 2, None]), "time": moment(batch, 2)}

    def record(batch: int) -> Row:
        id_, group = chance.choice("abcdefgh"), chance.choice(["a", "a", "b", "d", None])
        since = EPOCH + milliseconds(86_400_000 + 1000 * chance.randrange(max(0, 2 * batch - 5), 3 * batch + 2))
        does = chance.choice(["insert", "update", None, "delete"])
        return {"id": id_, "g": group, "v": chance.choice([0, 1, None]), "since": since, "op": does}

    batches: list[Tables] = [
        {
            "t": [record(batch) for _ in range(6)],
            "s": [looking(100 * batch + number, batch) for number in range(ROWS)],
            "r": [counted(batch) for _ in range(0 if batch == 2 else ROWS)],
        }
        for batch in range(BATCHES)
    ]
    return History(tuple(batches))


def known(table: Node, seen: History) -> list[Row]:
    """The windows of a table after the micro-batches seen: those that are only sent when final, if they are."""
    own = clocks(table)
    windows = next(node for node in walk(table) if isinstance(node, WindowAggregate))
    used = sort_out(seen, own)[Fate.USED].tables()
    rows = evaluate(table, used)
    shape = table.shape
    assert isinstance(shape, WTable)
    if windows.emission is Emission.FINAL:
        rows = [row for row in rows if row[shape.end] <= watermarks(seen, own)[-1]]
    return rows


def above(plan: Node) -> list[Node]:
    """The operators above the last one that looks up windows."""
    nodes: list[Node] = []
    while not isinstance(plan, TableLookup):
        nodes.append(plan)
        (plan,) = plan.inputs
    return nodes


def answer(plan: Node, history: History, kept: int | None = None) -> list[Row]:
    """The rows of each micro-batch of the stream beside the windows as they are then, and what is computed of them.

    Rows that are late are left out where windows are above. `kept`: in place of how long windows are kept.
    """
    grouping = next((place for place, node in enumerate(above(plan)) if isinstance(node, WindowAggregate)), None)
    last, whole = (plan, []) if grouping is None else (above(plan)[grouping + 1], above(plan)[: grouping + 1])
    clock = {"s": Clock("time", 2000)}
    fates = sort_out(history, clock)
    found: list[Row] = []
    for number, watermark in enumerate(watermarks(history, clock)[:-1]):
        seen = History(history.batches[: next(each for each in STOPS["STREAM"] if each > number)])
        met = (Fate.USED,) if whole else (Fate.USED, Fate.LATE)
        batch = {"s": [row for fate in met for row in fates[fate].batches[number]["s"]]}

        def rows(node: Node, seen: History = seen, batch: Tables = batch, now: datetime = watermark) -> list[Row]:
            if not any(isinstance(each, TableLookup) for each in walk(node)):
                return evaluate(node, batch)
            if not isinstance(node, TableLookup):
                return apply(node, [rows(each) for each in node.inputs])
            shape, length = node.table.shape, node.kept if kept is None else kept
            assert isinstance(shape, WTable)
            assert length is not None
            windows = [row for row in known(node.table, seen) if row[shape.end] + milliseconds(length) >= now]
            return apply(node, [rows(node.stream), windows])

        found += rows(last)
    for node in reversed(whole):
        found = apply(node, [found])
    return found


class Held:
    """What a join of a windowed table with a table comes to, micro-batch by micro-batch.

    The watermark is that of the ends of windows. A row of a table keeps the one that was in force when it came.
    """

    def __init__(self, plan: Node) -> None:
        self.plan = plan
        self.join = next(node for node in walk(plan) if isinstance(node, ForeignKeyJoin))
        windowed = isinstance(self.join.left.shape, WTable)
        self.windows, self.table = (self.join.left, self.join.right)[:: 1 if windowed else -1]
        self.now = EPOCH
        self.came: dict[str, tuple[Row, datetime]] = {}
        self.shown: dict[str, list[Row]] = {}

    def after(self, seen: History, kept: int | None = None) -> list[Row]:
        """The rows after one more micro-batch. `kept`: in place of how long windows are kept."""
        shape, length = self.windows.shape, self.join.kept if kept is None else kept
        assert isinstance(shape, WTable)
        assert length is not None
        windows, table = known(self.windows, seen), evaluate(self.table, seen.tables())
        until = {repr(row): row[shape.end] + milliseconds(length) for row in windows}
        if self.windows is self.join.left:
            for row in windows:
                if until[repr(row)] >= self.now:
                    self.shown[repr([row[name] for name in shape.identity])] = apply(self.join, [[row], table])
        else:
            keys = {repr([row[name] for name in self.join.shape.key]): row for row in table}
            before = self.came
            self.came = {key: (row, self.now) for key, row in keys.items()}
            self.came |= {key: each for key, each in before.items() if each[0] == keys.get(key)}
            self.shown = {
                key: apply(self.join, [[row], [each for each in windows if until[repr(each)] >= now]])
                for key, (row, now) in self.came.items()
            }
        delay = 2000  # a window's length, and the watermark's delay
        self.now = max([self.now, *(row[shape.end] - milliseconds(delay) for row in windows)])
        rows = [row for each in self.shown.values() for row in each]
        nodes: list[Node] = []
        node = self.plan
        while node is not self.join:
            nodes.append(node)
            (node,) = node.inputs
        for node in reversed(nodes):
            rows = apply(node, [rows])
        return rows


@dataclass(slots=True)
class Outcome:
    """What is wrong in a run, and for which queries it makes a difference that windows are let go."""

    wrong: list[str] = field(default_factory=list)
    differ: set[str] = field(default_factory=set)

    def compare(self, name: str, found: Iterable[Row], expected: list[Row], without: list[Row]) -> None:
        """`without`: what would be expected if all windows were kept."""
        self.wrong += filter(None, [difference(found, expected)])
        self.differ |= {name} if difference(without, expected) else set()


def outcome(queries: Mapping[str, str], kind: str, folder: Path, spark: SparkSession) -> Outcome:
    happened = history(random.Random(SEED))
    folders = write_json_lines(happened, folder)
    made = "".join(f"CREATE {kind} {name} AS {sql};\n" for name, sql in queries.items())
    compiled = penstock.compile(DECLARED.format(folder) + made)
    plans = {query.name: query.root for query in compiled.queries}
    result = Outcome()
    held, all_held = ({name: Held(plan) for name, plan in plans.items() if kind == "TABLE"} for _ in range(2))
    with RuntimeSession(spark, checkpoint=str(folder / "checkpoint")) as running:
        held_back = hold_back(folders.values(), 0)
        for begin, end in pairwise((0, *STOPS[kind])):
            for path, elsewhere in held_back.items():
                if begin <= int(path.stem) < end:
                    elsewhere.rename(path)
            until_done(lambda: running.run_once(compiled.program, drain=False))
            seen = History(happened.batches[:end])
            for name, each in held.items():
                result.compare(name, running.rows(name), each.after(seen), all_held[name].after(seen, FOR_EVER))
        if kind == "STREAM":
            until_done(lambda: running.run_once(compiled.program, drain=True))
            for name, plan in plans.items():
                result.compare(name, running.rows(name), answer(plan, happened), answer(plan, happened, FOR_EVER))
        for _, sink in running._memory.values():
            assert isinstance(sink, Followed)
            result.wrong += sink.wrong
    return result


def test_windows_are_met_while_they_are_kept(only_spark: SparkSession, tmp_path: Path, killing: None) -> None:
    parts = ((QUERIES, "STREAM"), (TABLES, "TABLE"))
    with ThreadPoolExecutor(len(parts)) as pool:
        running = [
            pool.submit(outcome, queries, kind, tmp_path / kind, open_session(only_spark, number))
            for number, (queries, kind) in enumerate(parts)
        ]
        found = [each.result() for each in running]
    assert [each.wrong for each in found] == [[], []]
    assert [each.differ for each in found] == [set(QUERIES), set(TABLES)]
