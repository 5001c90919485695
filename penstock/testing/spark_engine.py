"""Steps of a test on Spark: each step is a micro-batch of files, and a query runs again from the first step to it.

So the watermark of a step is the one that the steps before have made, as in a query that is not stopped between them.
What came out up to a step, without what came out up to the step before, is what the step gives.
"""

from __future__ import annotations

import base64
import json
import math
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from penstock.diagnostics import CompileError
from penstock.diagnostics.all_codes import CATALOG
from penstock.diagnostics.codes.testing import T117
from penstock.evaluator import Arrival, QueryFailure, Row, StepAnswer, Value
from penstock.parser.ast import (
    Given,
    GivenRows,
    GivenSilence,
    GivenWatermark,
    RowsOf,
    Then,
    ThenFails,
    ThenRefused,
    ThenRows,
    ThenState,
)
from penstock.planner.connectors.memory import MEMORY
from penstock.planner.plan import KStream, Node, RemoteLookup, RunningQuery, Scan, Settings, Sink
from penstock.planner.plan.walk import walk
from penstock.testing.cases import Case
from penstock.testing.given_values import plain_time
from penstock.testing.query_runs import Key, QueryRun
from penstock.testing.script_relations import ScriptRelations, list_stored

EPOCH = datetime(1970, 1, 1)
CODES = {code.id: code for code in CATALOG}


class SparkEngine:
    """Spark, for the tests of one command. Use it in a `with` statement."""

    def __init__(self) -> None:
        from penstock import runtime

        self.session = runtime.connect(short=True)

    def __enter__(self) -> SparkEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.session.close()

    def run(self, query: RunningQuery, settings: Settings, arrivals: Sequence[Arrival]) -> list[Row]:
        """The rows that a query has written when all of these have arrived. Raises RunError."""
        from penstock import runtime
        from penstock.codegen import lower

        with tempfile.TemporaryDirectory(prefix="penstock-test-", ignore_cleanup_errors=True) as folder:
            folders: dict[str, Path] = {}
            for scan in list_scans(query.root):
                folders[scan.origin.name] = Path(folder, f"input-{len(folders)}")
                write_files(scan, arrivals, folders[scan.origin.name])
            sink = Sink("result", MEMORY.name, (), key=query.sink.key, time=query.sink.time, table=query.sink.table)
            placed = replace(query, root=place_inputs(query.root, folders), sink=sink)
            with runtime.connect(checkpoint=str(Path(folder, "checkpoint"))) as session:
                session.run_once(lower([placed], settings), drain=arrivals[-1].is_end)
                return [{name: plain_value(value) for name, value in row.items()} for row in session.rows("result")]


class SparkQueryRun(QueryRun):
    """One query, whose rows come from Spark."""

    refusal = T117

    def __init__(self, query: RunningQuery, engine: SparkEngine, settings: Settings) -> None:
        super().__init__(query)
        self.engine, self.settings = engine, settings
        self.problem = find_problem(query)
        self.arrivals: list[Arrival] = []
        self.before: list[Row] = []
        self.listed: dict[Key, Row] = {}
        self.is_asked = False

    def step(self, arrival: Arrival) -> None:
        """Runs all steps up to this one. What fails is kept, and ends the query."""
        from penstock.runtime import RunError

        self.sent, self.changes, self.failed_with = [], [], None
        self.arrivals.append(arrival)
        if self.problem is not None or self.failure is not None or not self.is_asked:
            return
        try:
            rows = self.engine.run(self.query, self.settings, self.arrivals)
        except RunError as error:
            first = next((each for each in error.diagnostics if each.severity == "error"), error.diagnostics[0])
            self.failure, self.failed_with = QueryFailure(first.message, CODES[first.code]), first.code
            return
        if isinstance(self.query.root.shape, KStream) or not self.query.key:
            self.take(StepAnswer(rows[len(self.before) :]), is_table=False)
        else:
            keyed = {tuple(row[name] for name in self.query.key): row for row in rows}
            for gone in [key for key in self.listed if key not in keyed]:
                self.replace(gone, None)
            for key, row in keyed.items():
                if self.listed.get(key) != row:
                    self.replace(key, row)
            self.listed = keyed
        self.before = rows


def make_spark_runs(case: Case, script: ScriptRelations, engine: SparkEngine) -> dict[RunningQuery, QueryRun]:
    """The queries of a script, and which of them the test asks for. Raises CompileError for what Spark cannot do."""
    findings = [
        T117.at(each.span, reason=reason)
        for step in case.steps
        for each in (*step.given, *step.then)
        if (reason := explain_statement(each)) is not None
    ]
    if findings:
        raise CompileError(findings)
    then = [each for step in case.steps for each in step.then]
    relations = [each.relation for each in then if not isinstance(each, ThenFails | ThenRefused)]
    asked = [query for each in relations for query in script.find_output(each).queries]
    fails = any(isinstance(each, ThenFails) for each in then)
    settings = script.compilation.settings
    runs = {query: SparkQueryRun(query, engine, settings) for query in script.queries}
    for query, run in runs.items():
        run.is_asked = fails or query in asked
    return dict(runs)


def explain_statement(statement: Given | Then) -> str | None:
    """Why Spark is not given or asked this, None if it is."""
    match statement:
        case GivenWatermark():
            return "GIVEN WATERMARK has no row that Spark could read"
        case GivenSilence():
            return "GIVEN SILENCE would take as long as it says"
        case GivenRows() if statement.table:
            return "GIVEN TABLE stands for a database"
        case ThenRows() if statement.of is not RowsOf.RESULT:
            return "Spark counts rows that are late or rejected, and does not tell which"
        case ThenState():
            return "Spark counts state in other units"
        case _:
            return None


def find_problem(query: RunningQuery) -> str | None:
    """Why the inputs of a query cannot be files, None if they can."""
    if query.change is not None:
        return "rows of a table that others own, which are put, updated or deleted"
    for node in walk(query.root):
        if isinstance(node, RemoteLookup):
            return f"lookups in {node.origin.name}, which is in a database"
        if isinstance(node, Scan) and node.origin.metadata:
            return f"{node.origin.name}, whose connector fills columns itself"
    return None


def list_scans(plan: Node) -> list[Scan]:
    """The readings of declared relations, each relation once."""
    return list({node.origin.name: node for node in walk(plan) if isinstance(node, Scan)}.values())


def place_inputs(plan: Node, folders: Mapping[str, Path]) -> Node:
    """The plan over files of JSON, one of which is read in each micro-batch. Parts that are shared stay shared."""
    made: dict[Node, Node] = {}

    def remake(node: Node) -> Node:
        if node not in made:
            made[node] = move(node) if isinstance(node, Scan) else node.with_inputs(tuple(map(remake, node.inputs)))
        return made[node]

    def move(scan: Scan) -> Scan:
        path = str(folders[scan.origin.name])
        options = (("path", path), ("format", "json"), ("files_per_batch", 1))
        return replace(scan, origin=replace(scan.origin, connector="files", options=options, partitions=None))

    return remake(plan)


def plain_value(value: Value) -> Value:
    """A value of Spark's rows as the evaluator has it: times are UTC without a zone."""
    match value:
        case datetime():
            return plain_time(value)
        case list():
            return [plain_value(each) for each in value]
        case dict():
            return {plain_value(key): plain_value(each) for key, each in value.items()}
        case _:
            return value


def write_files(scan: Scan, arrivals: Sequence[Arrival], folder: Path) -> None:
    """A file for each step. A step without rows of the relation has an empty one, so that the others keep pace."""
    folder.mkdir(parents=True)
    names = [each.name for each in list_stored(scan.origin)]
    times = [value for each in arrivals for rows in each.rows.values() for row in rows for value in row.values()]
    newest = max((value for value in times if isinstance(value, datetime)), default=EPOCH)
    written = (newest - EPOCH + timedelta(days=1)).total_seconds()  # no row is from the future of its file
    for number, arrival in enumerate(arrivals):
        rows = arrival.rows.get(scan.origin.name, [])
        path = folder / f"{number:05}.json"
        path.write_text("".join(json_line(row, names) + "\n" for row in rows), encoding="utf-8")
        os.utime(path, (written + number, written + number))


def json_line(row: Row, names: Iterable[str]) -> str:
    """A row as a record. Numbers keep their digits."""
    return json_text({name: row[name] for name in names if row[name] is not None})


def json_text(value: Value) -> str:
    """A value as JSON, as sources read it."""
    match value:
        case Decimal():
            return f"{value:f}"
        case float() if not math.isfinite(value):
            return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'
        case datetime():
            return json.dumps(value.isoformat(timespec="microseconds") + "Z")
        case date() | time():
            return json.dumps(value.isoformat())
        case bytes():
            return json.dumps(base64.b64encode(value).decode())
        case dict():
            items = (f"{json.dumps(key_text(key))}: {json_text(each)}" for key, each in value.items())
            return f"{{{', '.join(items)}}}"
        case list():
            return f"[{', '.join(map(json_text, value))}]"
        case _:
            return json.dumps(value)


def key_text(key: Any) -> str:
    """The key of a map, as records have it."""
    return key if isinstance(key, str) else json_text(key).strip('"')
