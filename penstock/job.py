"""The library of jobs that `penstock compile` writes: their calls make a Program, which runs as in `penstock run`.

A job has this module in its archive, and the modules that it imports, below the package `penstock_kit`.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeVar
from zipfile import ZipFile

import msgspec

from penstock.codegen.job_facts import TEXTS, QueryFacts, digest_query, digest_records, name_parsing, name_text
from penstock.codegen.program import (
    AnyView,
    BucketView,
    Input,
    LookupView,
    Metric,
    MultisetView,
    PackedView,
    PaneView,
    PartialView,
    Program,
    QueryOutput,
    Rejects,
    RemoteView,
    SessionView,
    SparkQuery,
    View,
    ViewWatermark,
)
from penstock.codegen.program_settings import list_settings
from penstock.codegen.record_parsing import Parsing
from penstock.codegen.spark_versions import SPARK_VERSIONS, number_text
from penstock.commands.conf_values import CONF_HELP, split_settings
from penstock.commands.run_program import FAILED, run_program
from penstock.commands.show_findings import show_findings
from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.running import R008, R091
from penstock.diagnostics.terminal import output_guarded
from penstock.planner.plan.script_settings import StateStore
from penstock.planner.plan.secret_option import SecretOption as SecretOption
from penstock.planner.plan.secret_option import Value
from penstock.runtime import RunError, list_packages

Fact = TypeVar("Fact")
_ARCHIVE_END = ".zip"
_REPAIR = "take the file back from a copy, or write the job anew with penstock compile"


class JobFiles:
    """The SQL of a job: beside `job.py`, or in the archive where a cluster does not have the folder.

    Files that cannot be used are recorded, because `job.py` asks for files before anything can be told.
    """

    def __init__(self, file: str) -> None:
        self._folder = Path(file).resolve().parent
        place = Path(__file__)
        self._archive = next((each for each in place.parents if each.suffix == _ARCHIVE_END and each.is_file()), None)
        self._problems: list[Diagnostic] = []

    def report(self, path: str, reason: str) -> None:
        """Records why a file, of this path beside `job.py`, cannot be used."""
        self._problems.append(R091.at(None, path=path, reason=reason).with_hint(_REPAIR))

    def check(self) -> None:
        """Raises RunError if a file that was asked for cannot be used."""
        if self._problems:
            raise RunError([*dict.fromkeys(self._problems)])

    def find(self, path: str) -> bytes | None:
        """What a file of the folder `sql` holds, None if there is no such file."""
        beside = self._folder / "sql" / path
        if beside.is_file() or self._archive is None or (self._folder / "sql").is_dir():
            return beside.read_bytes() if beside.is_file() else None
        with ZipFile(self._archive) as archive:
            name = f"sql/{path}"
            return archive.read(name) if name in archive.namelist() else None

    def text(self, path: str, *, required: bool) -> str | None:
        """The SQL in a file, without the line break at its end. None if there is none."""
        content = self._read(path, required=required)
        try:
            return None if content is None else content.decode().removesuffix("\n")
        except UnicodeDecodeError:
            self.report(f"sql/{path}", "it is not UTF-8")
            return None

    def facts(self, path: str, kind: type[Fact], *, required: bool = False) -> Fact | None:
        """The facts in a file of JSON. None if there are none."""
        content = self._read(path, required=required)
        try:
            return None if content is None else msgspec.json.decode(content, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as damage:
            self.report(f"sql/{path}", f"it is damaged: {damage}")
            return None

    def _read(self, path: str, *, required: bool) -> bytes | None:
        try:
            content = self.find(path)
        except OSError as problem:
            self.report(f"sql/{path}", problem.strerror or type(problem).__name__)
            return None
        if content is None and required:
            self.report(f"sql/{path}", "it is missing")
        return content


class JobQuery:
    """One query. Its calls are in the order in which its views read each other."""

    def __init__(self, files: JobFiles, name: str, mode: Literal["append", "update"], **facts: Any) -> None:
        self._files, self._name, self._mode, self._facts = files, name, mode, facts
        self._inputs: list[Input] = []
        self._views: list[AnyView] = []
        self._rejected: list[tuple[str, Sequence[str], dict[str, Any]]] = []
        self._output: QueryOutput | None = None
        self._result = ""

    def source(
        self,
        view: str,
        name: str,
        connector: str,
        options: Mapping[str, Value],
        columns: Mapping[str, str],
        **facts: Any,
    ) -> None:
        """Reads rows, which are the view `view`. `name`: what accounts call the input."""
        parsing = self._files.facts(f"{self._name}/{name_parsing(view)}", Parsing)
        source = Input(name, view, connector, _pairs(options), _pairs(columns), **_freeze(facts), made_parsing=parsing)
        self._inputs.append(source)

    def view(
        self, name: str, *, watermark: tuple[str, int] | None = None, counts: Mapping[str, str] | None = None
    ) -> None:
        """A view of Spark SQL. `watermark`: a column, and its delay in milliseconds. `counts` are observed."""
        marks = None if watermark is None else ViewWatermark(*watermark)
        metrics = tuple(Metric(*each) for each in (counts or {}).items())
        self._views.append(View(name, self._text(name), marks, metrics))

    def packed_view(self, name: str, **facts: Any) -> None:
        """Rows in tables."""
        self._add(PackedView, name, facts)

    def partial_view(self, name: str, **facts: Any) -> None:
        """Partial aggregates of tables, by DuckDB."""
        self._add(PartialView, name, facts)

    def pane_view(self, name: str, **facts: Any) -> None:
        """What DuckDB computes of panes."""
        self._add(PaneView, name, facts)

    def bucket_view(self, name: str, **facts: Any) -> None:
        """What DuckDB computes of buckets of rows that are remembered."""
        self._add(BucketView, name, facts)

    def lookup_view(self, name: str, **facts: Any) -> None:
        """What DuckDB finds in the kept rows of a table."""
        self._add(LookupView, name, facts)

    def multiset_view(self, name: str, **facts: Any) -> None:
        """What DuckDB makes of the kept rows of groups."""
        self._add(MultisetView, name, facts)

    def session_view(self, name: str, **facts: Any) -> None:
        """What DuckDB makes of sessions that are kept."""
        self._add(SessionView, name, facts)

    def remote_view(self, name: str, **facts: Any) -> None:
        """Rows of another view, with the rows of a database for them."""
        self._add(RemoteView, name, facts)

    def rejected(self, view: str, views: Sequence[str], **facts: Any) -> None:
        """Sets rows of an input aside. `facts`: what the input of these rows has otherwise than the query's."""
        self._rejected.append((view, views, facts))

    def sink(
        self,
        result: str,
        name: str,
        connector: str,
        options: Mapping[str, Value],
        columns: Mapping[str, str],
        **facts: Any,
    ) -> None:
        """Writes the rows of the view `result`."""
        self._result = result
        self._output = QueryOutput(name, connector, _pairs(options), _pairs(columns), **_freeze(facts))

    def build(self) -> SparkQuery:
        """The query as the runtime takes it."""
        path = f"{self._name}/query.json"
        told = self._files.facts(path, QueryFacts, required=True)
        if self._output is None:
            self._files.report("job.py", f"the query {self._name} has no sink")
        if told is not None and len(told.rejected_columns) != len(self._rejected):
            self._files.report(f"sql/{path}", f"it was made for {len(told.rejected_columns)} calls of rejected")
        self._files.check()
        assert told is not None
        assert self._output is not None
        facts = _freeze(self._facts)
        store = facts.pop("store", None)
        rejects = [self._build_rejects(*each) for each in zip(self._rejected, told.rejected_columns, strict=True)]
        self._files.check()
        self._check_records(dict(told.records), rejects)
        self._files.check()
        query = SparkQuery(
            name=self._name,
            inputs=tuple(self._inputs),
            views=tuple(self._views),
            result=self._result,
            output=replace(self._output, avro=told.avro),
            mode=self._mode,
            timed=facts.pop("timed", False),
            key=facts.pop("key", ()),
            rejects=tuple(rejects),
            fingerprint=told.fingerprint,
            store=None if store is None else StateStore(store),
            watermark_inputs=told.watermark_inputs,
            closing=told.closing,
            change=told.change,
            message_items=told.message_items,
            contract_views=told.contract_views,
            **facts,
        )
        return replace(query, fingerprint=_mix_edits(query, told))

    def _check_records(self, made: Mapping[str, str], rejects: Sequence[Rejects]) -> None:
        """Reports inputs that are declared otherwise than the files that say how their records become rows."""
        inputs = [(name_parsing(each.view), each) for each in self._inputs]
        inputs += [(name_parsing(each.input.view, rejected=True), each.input) for each in rejects]
        for path, source in inputs:
            if made.get(path) != digest_records(source, source.made_parsing):
                reason = "it is missing" if source.made_parsing is None else f"job.py declares {source.name} otherwise"
                self._files.report(f"sql/{self._name}/{path}", reason)

    def _build_rejects(
        self, given: tuple[str, Sequence[str], dict[str, Any]], columns: tuple[tuple[str, str], ...]
    ) -> Rejects:
        view, names, facts = given
        folder = f"{self._name}/rejected"
        other: dict[str, Any] = _freeze(facts)
        like = next((each for each in self._inputs if each.view == view), None)
        if like is None:
            self._files.report("job.py", f"rejected names {view}, which is no source of {self._name}")
            self._files.check()
        assert like is not None
        parsing = self._files.facts(f"{self._name}/{name_parsing(view, rejected=True)}", Parsing)
        source = replace(like, **other, made_parsing=parsing)
        views = tuple(View(name, self._text(name, folder)) for name in names)
        return Rejects(source.name, source, views, names[-1], columns)

    def _add(self, kind: type[Any], name: str, facts: Mapping[str, Any]) -> None:
        slots = kind.__dataclass_fields__
        given = {
            field: self._files.text(f"{self._name}/{name_text(name, field)}", required=slots[field].type == "str")
            for field in TEXTS
            if field in slots
        }
        self._views.append(kind(name=name, **given, **_freeze(facts)))

    def _text(self, view: str, folder: str = "") -> str:
        path = f"{folder or self._name}/{name_text(view, 'sql')}"
        return self._files.text(path, required=True) or ""


class SparkJob:
    """The queries of a script. `file`: the path of `job.py`. `spark`: the versions of Spark that have all it calls."""

    def __init__(self, file: str, *, state_partitions: int, spark: Sequence[str]) -> None:
        self._files = JobFiles(file)
        self._settings = list_settings(state_partitions)
        self._versions = spark
        self._queries: list[JobQuery] = []

    def query(self, name: str, mode: Literal["append", "update"], **facts: Any) -> JobQuery:
        """A query, to which its inputs, its views and its sink are added."""
        self._queries.append(JobQuery(self._files, name, mode, **facts))
        return self._queries[-1]

    def build(self) -> Program:
        """The program of all queries. Raises RunError if a file of the job cannot be used."""
        lacking = [number for number in SPARK_VERSIONS if number_text(number) not in self._versions]
        reason = f"this job runs on {' and '.join(self._versions)}"
        newer = ((number, (R008.at(None, version=number_text(number), reason=reason),)) for number in lacking)
        return Program(self._settings, tuple(each.build() for each in self._queries), tuple(newer))

    def main(self) -> None:
        """Runs the job by the options of the command line, and ends the process with an exit code."""
        given = _read_options()
        submitted = "PYSPARK_GATEWAY_PORT" in os.environ
        with output_guarded():
            try:
                program = self.build()
                needed = {} if submitted else list_packages(program, given.checkpoint)
            except RunError as failure:
                show_findings(failure.diagnostics)
                sys.exit(FAILED)
            code = run_program(
                program,
                once=given.once,
                checkpoint=given.checkpoint,
                reset=given.reset,
                overwrite=given.overwrite,
                master=given.master,
                drain=given.drain,
                settings=_join_packages(needed, given.settings),
            )
        sys.exit(code)


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Runs the queries of this job until Ctrl-C or SIGTERM.")
    parser.add_argument("--once", action="store_true", help="read what is there, then end and account for every row")
    parser.add_argument("--checkpoint", metavar="FOLDER", help="where progress and state are kept between runs")
    parser.add_argument("--reset", action="store_true", help="begin anew: remove the checkpoints before")
    parser.add_argument(
        "--overwrite", action="store_true", help="begin anew: remove the checkpoints, and the files that were written"
    )
    parser.add_argument("--master", metavar="URL", help="a cluster; the default is this machine, or spark-submit's")
    parser.add_argument(
        "--drain",
        action=argparse.BooleanOptionalAction,
        help="take the input as complete: close all windows at its end; on for --once without --checkpoint",
    )
    parser.add_argument("--conf", metavar="KEY=VALUE", action="append", default=[], help=CONF_HELP)
    given = parser.parse_args()
    try:
        given.settings = split_settings(given.conf)
    except ValueError as refused:
        parser.error(str(refused))
    if given.drain is not None and not given.once:
        parser.error("--drain and --no-drain need --once")
    if given.reset and given.checkpoint is None:
        parser.error("--reset needs --checkpoint")
    return given


def _join_packages(needed: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """The settings of the command line, with the archives that the job itself needs."""
    both = {name: f"{value},{given[name]}" if given.get(name) else value for name, value in needed.items()}
    return {**given, **both}


def _mix_edits(query: SparkQuery, told: QueryFacts) -> str:
    """The fingerprint of the query that was compiled; another one for each other query that a person has made of it."""
    digest = digest_query(query)
    if digest == told.digest:
        return told.fingerprint
    return hashlib.sha256(f"{told.fingerprint} {digest}".encode()).hexdigest()


def _pairs(values: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(values.items())


def _freeze(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts with tuples in place of lists, and with pairs in place of dicts."""
    return {name: _freeze_value(value) for name, value in facts.items()}


def _freeze_value(value: Any) -> Any:
    if isinstance(value, dict):
        return _pairs(value)
    return tuple(map(_freeze_value, value)) if isinstance(value, list | tuple) else value
