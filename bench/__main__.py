"""`python -m bench`: generate, run every system on every query, compare the answers, tell the costs."""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from string import Template
from typing import TypeVar

from rich.console import Console

from bench import changelog, nexmark
from bench.answers import Answer, answer, columns_of
from bench.changelog import Log
from bench.machine import machine
from bench.measure import adopt_orphans, measure
from bench.nexmark import Recipe
from bench.page import write_page
from bench.report import Run, Runs, print_tables
from bench.turns import write_settings
from bench.watch import EVENTS, WARM_UP, warm_batches
from bench.workload import QUERY_SETS, SYSTEMS, Query, System, can_run, install_flink, program

Named = TypeVar("Named", Query, System)

HERE = Path(__file__).parent
ROOT = HERE.parent
SMALL = 0.1
"""The part of the events over which each query is run as well: the difference is what rows cost, without start-up."""
CHANGES = 10_000
"""Records of each table in a micro-batch, where tables of several sizes are compared."""


@dataclass(frozen=True, eq=False)
class Job:
    """A query over some events. `columns` are those of its answer."""

    query: Query
    data: Path
    rows: int
    columns: dict[str, str]


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--events", type=int, default=2_000_000, help="of which 92 %% are bids (default %(default)s)")
    parser.add_argument("--files", type=int, default=8, help="micro-batches, and files of each stream")
    parser.add_argument("--runs", type=int, default=5, help="of each query on each system, in turns")
    parser.add_argument("--sets", default="main", help=f"of {', '.join(QUERY_SETS)}; with commas between")
    parser.add_argument("--queries", help="only these, with commas between")
    parser.add_argument("--systems", default="penstock,spark,flink,duckdb", help=", ".join(s.name for s in SYSTEMS))
    parser.add_argument("--format", choices=("csv", "parquet"), default="csv", help="of the input (Flink: csv)")
    parser.add_argument("--folder", type=Path, default=HERE / "out", help="for data, answers and logs")
    parser.add_argument("--page", action="store_true", help="write docs/performance.md from all that was measured")
    arguments = parser.parse_args()
    systems = _named(SYSTEMS, arguments.systems)
    queries = [query for word in arguments.sets.split(",") for query in QUERY_SETS[word]]
    if arguments.queries:
        queries = _named(queries, arguments.queries)
    console = Console()
    if any(system.language == "flink" for system in systems):
        install_flink(console)
    adopt_orphans()
    recipe = Recipe(arguments.events, arguments.files, format=arguments.format)
    measured = {name: Runs(machine(), asdict(recipe), []) for name in arguments.sets.split(",")}
    for run in _runs(queries, systems, recipe, arguments, console):
        for name, runs in measured.items():
            if run.query in {query.name for query in QUERY_SETS[name]}:
                runs.runs.append(run)
                runs.write(arguments.folder / f"{name}.json")
    for runs in measured.values():
        print_tables(console, runs)
    if arguments.page:
        write_page(ROOT / "docs", {path.stem: Runs.read(path) for path in arguments.folder.glob("*.json")})


def _named(known: Iterable[Named], names: str) -> list[Named]:
    by_name = {each.name: each for each in known}
    return [by_name[name] for name in names.split(",")]


def _runs(
    queries: list[Query], systems: list[System], recipe: Recipe, arguments: argparse.Namespace, console: Console
) -> Iterator[Run]:
    jobs = [
        _job(query, part, recipe, arguments.folder)
        for query in queries
        for part in ((1,) if query.is_of_batches else (SMALL, 1))
    ]
    expected: dict[Job, tuple[str, Answer]] = {}
    for number in range(arguments.runs):
        for job in jobs:
            for system in systems[number % len(systems) :] + systems[: number % len(systems)]:
                if not can_run(system, job.query):
                    continue
                with console.status(f"run {number + 1}: {job.query.title}, {system.title}"):
                    run, found = _run(job, system, recipe, arguments.folder)
                costs = f"{run.cpu:7.1f} CPU s {run.wall:7.1f} s"
                console.print(f"{run.query:12} {run.rows:>10,} {run.system:17} {costs} {found.rows:>10,}")
                other, wanted = expected.setdefault(job, (system.title, found))
                if found != wanted:
                    raise SystemExit(f"{job.query.name}: {system.title} has {found}, {other} has {wanted}")
                yield run


def _job(query: Query, part: float, recipe: Recipe, folder: Path) -> Job:
    data, rows = _inputs(query, replace(recipe, events=int(recipe.events * query.share * part)), folder / "data")
    texts = [(path / "duckdb.sql").read_text(encoding="utf-8") for path in (query.inputs, query.path)]
    script = Template("\n".join(texts)).substitute(data=data, format=recipe.format, **query.parameters)
    return Job(query, data, sum(rows[name] for name in query.reads), columns_of(script))


def _inputs(query: Query, recipe: Recipe, root: Path) -> tuple[Path, dict[str, int]]:
    if query.inputs.name == "streams":
        if query.per_batch:
            recipe = replace(recipe, events=query.per_batch * recipe.files)
        return nexmark.generate(recipe, root)
    if query.size:
        log = Log(query.size, recipe.files * CHANGES, recipe.files, grown=True)
    else:
        # Half of the records are of each table; a row has ten of them.
        log = Log(recipe.events // 20, recipe.events // 2, recipe.files)
    return changelog.generate(replace(log, seed=recipe.seed, format=recipe.format), root)


def _run(job: Job, system: System, recipe: Recipe, folder: Path) -> tuple[Run, Answer]:
    log = folder / "logs" / f"{job.query.name}-{system.name}.log"
    log.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        place = Path(work)
        out = place / "out"
        settings = dict(system.settings)
        watched = job.query.is_of_batches and system.language in ("penstock", "spark")
        if watched:
            (place / "events").mkdir()
            settings |= {**EVENTS, "spark.eventLog.dir": f"{place}/events"}
        write_settings(place, system.language == "penstock", settings)
        environment = {"SPARK_CONF_DIR": work, "TMPDIR": work, "PYTHONPATH": str(ROOT)}
        command = program(system, job.query, job.data, out, place, recipe.format)
        cost = measure(command, place, environment, log, watched=watched)
        # Where they are small, the JVM still compiles in the first half of them.
        skipped = recipe.files // 2 if job.query.per_batch else WARM_UP
        batches = warm_batches(place / "events", cost.moments, skipped) if watched else None
        found = answer(out, job.columns, job.query.key)
        shutil.rmtree(out, ignore_errors=True)
    query = job.query
    return Run(query.name, query.title, system.name, job.rows, found.rows, cost.cpu, cost.wall, batches), found


if __name__ == "__main__":
    main()
