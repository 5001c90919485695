"""The command `penstock test`."""

from __future__ import annotations

import difflib
import gc
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from penstock.commands.script_files import (
    REFUSED,
    TESTS,
    USAGE,
    errors_shown,
    failures_shown,
    read_source,
    write_file,
)
from penstock.commands.show_findings import show_findings
from penstock.diagnostics import show_json, show_text

if TYPE_CHECKING:
    from penstock.testing.run_case import CaseResult, Part
    from penstock.testing.spark_engine import SparkEngine


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(exists=True))
@click.option("-k", "keyword", metavar="TEXT", default="", help="Only the tests whose names have this text.")
@click.option("--update", is_flag=True, help="Write what came into THEN, and show what that changes.")
@click.option("--spark", "on_spark", is_flag=True, help="Compute the rows on Spark, each step as a micro-batch.")
@click.option("--cover", "covers", is_flag=True, help="List the kinds of rows that no test gives, with such rows.")
@click.option("--mutate", is_flag=True, help="Put slips into the scripts, and list the ones that no test notices.")
@click.option("--watch", is_flag=True, help="Go on: run tests again when their file, or one that it names, is saved.")
@click.option(
    "-j", "processes", type=click.IntRange(1, 64), default=1, metavar="N", help="Run the tests in N processes."
)
@click.option("--junit", metavar="FILE", help="Write a report for CI systems, in the XML of JUnit.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="How to print results.")
def test(
    paths: tuple[str, ...],
    keyword: str,
    update: bool,
    on_spark: bool,
    covers: bool,
    mutate: bool,
    watch: bool,
    processes: int,
    junit: str | None,
    form: str,
) -> None:
    """Run the tests of scripts: rows that are given, and rows that are expected. Without --spark, neither Spark nor
    Java is needed.

    A PATH is a file of tests, or a folder in which names of such files end in _test.sql. Without a PATH it is the
    folder here.

    \b
    Examples:
      penstock test orders_test.sql -k late
      penstock test
      penstock test --update orders_test.sql
      penstock test --cover orders_test.sql
      penstock test --mutate -k late
      penstock test --junit report.xml pipelines

    Exit code 0: all tests pass, 1: one fails, 2: a file cannot be read or written, or there is no test. 3: Spark does
    not start. With --cover and --mutate, 1: something was found that the tests lack.
    """
    begun = time.perf_counter()
    alone = "--cover" if covers else "--mutate" if mutate else "--watch" if watch else None
    given = {"--update": update and not watch, "--junit": junit is not None, "--format json": form == "json"}
    if covers:
        del given["--format json"]
    unused = [option for option, is_given in given.items() if is_given]
    if alone is not None and unused:
        raise click.UsageError(f"{alone} does not take {' and '.join(unused)}")
    load_runner()
    files = list(find_files(paths or (".",)))
    if update:
        for file in files:
            update_file(file, keyword)
    if on_spark and (watch or mutate or covers or processes > 1):
        words = "--spark runs tests once, and one after the other: leave out --watch, --cover, --mutate and -j"
        raise click.UsageError(words)
    if covers + mutate + watch + (processes > 1) > 1:
        raise click.UsageError("--cover, --mutate, --watch and -j stand alone: leave out all but one")
    if covers:
        sys.exit(REFUSED if show_coverage(files, keyword, form) else 0)
    if mutate:
        sys.exit(REFUSED if show_mutants(files, keyword) else 0)
    if watch:
        watch_files(paths or (".",), keyword)
        return
    if on_spark:
        results = run_on_spark(files, keyword)
    elif processes > 1:
        results = run_side_by_side(files, keyword, processes)
    else:
        results = [result for file in files for result in run_file(file, keyword)]
    if not results:
        click.echo(show_text(explain_none(files, keyword)), err=True)
        sys.exit(USAGE)
    seconds = time.perf_counter() - begun
    if junit is not None:
        from penstock.testing.reports import junit_report

        write_file(junit, junit_report(results), "--junit")
    if form == "json":
        from penstock.testing.reports import json_report

        click.echo(show_json(json.dumps(json_report(results, seconds), indent=2, ensure_ascii=False)))
    else:
        show_results(results, seconds)
    sys.exit(0 if all(result.passes for result in results) else REFUSED)


def load_runner() -> None:
    """Loads what runs tests. It stays, so that to look for garbage there would only take time."""
    import penstock.testing.run_case  # noqa: F401

    gc.freeze()
    gc.enable()


def explain_none(files: Sequence[str], keyword: str) -> str:
    """Why there is no test."""
    if not files:
        return "no tests: the names of their files end in _test.sql"
    if keyword:
        return f"no tests: no name of a test has {keyword!r}"
    return f"no tests in {', '.join(files)}: a test begins with TEST"


def find_files(paths: tuple[str, ...]) -> Iterator[str]:
    """The files of tests, each once. Hidden folders are left out."""
    seen: set[Path] = set()
    for path in paths:
        for file in [path] if os.path.isfile(path) else walk_folder(path):
            if Path(file).resolve() not in seen:
                seen.add(Path(file).resolve())
                yield file


def walk_folder(path: str) -> Iterator[str]:
    for folder, inner, names in os.walk(path):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        yield from (os.path.normpath(os.path.join(folder, name)) for name in sorted(names) if name.endswith(TESTS))


def run_on_spark(files: Sequence[str], keyword: str) -> list[CaseResult]:
    """The results of all files, in one session with Spark."""
    from penstock.testing.spark_engine import SparkEngine

    with failures_shown(), SparkEngine() as engine:
        return [result for file in files for result in run_file(file, keyword, engine=engine)]


def run_side_by_side(files: Sequence[str], keyword: str, processes: int) -> list[CaseResult]:
    """The results of all files, in several processes. Each takes a part of each file."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    parts = [(file, keyword, (first, processes)) for file in files for first in range(processes)]
    with ProcessPoolExecutor(processes, multiprocessing.get_context("fork")) as pool:
        results = [result for found in pool.map(run_part, parts) for result in found]
    once = {(result.source.name, result.line, result.name): result for result in results}  # a file may fail as a whole
    return sorted(once.values(), key=lambda result: (files.index(result.source.name), result.line))


def run_part(part: tuple[str, str, Part]) -> list[CaseResult]:
    """The results of a part of a file, without the rows that came."""
    file, keyword, tests = part
    results = run_file(file, keyword, part=tests)
    for result in results:
        result.seen.clear()
    return results


def show_mutants(files: Sequence[str], keyword: str) -> int:
    """Puts slips into the scripts. Shows the ones that no test notices, and gives their number."""
    from penstock.commands.diff import show_difference
    from penstock.testing.mutation import try_mutants

    tried = survivors = 0
    for file in files:
        with errors_shown():
            found = try_mutants(read_source(file), Path(file).parent, keyword)
        tried, survivors = tried + found.tried, survivors + len(found.survivors)
        for each in found.survivors:
            click.echo(show_text(f"{each.file}:{each.mutant.line} no test of {file} notices this slip:"))
            click.echo(show_text(f"- {each.mutant.before}"))
            click.echo(show_text(f"+ {each.mutant.after}"))
            if each.found is None:
                click.echo("No rows were found that show it.")
            else:
                click.echo(f"These rows show it, by {show_text(each.found.relation)}:")
                click.echo("\n".join(show_difference(each.found, each.versions)))
            click.echo()
    click.echo(f"{tried} slips, {tried - survivors} noticed, {survivors} not")
    return survivors


def show_coverage(files: Sequence[str], keyword: str, form: str) -> int:
    """Shows which classes of rows the tests meet. Gives the number of the classes that they could meet, and do not."""
    from penstock.commands.show_coverage import count_missed, coverage_report, list_coverage_lines
    from penstock.testing.coverage import ScriptCoverage, cover

    results: list[ScriptCoverage] = []
    for file in files:
        with errors_shown():
            results += cover(read_source(file), Path(file).parent, keyword)
    if not results:
        click.echo(show_text(explain_none(files, keyword)), err=True)
        sys.exit(USAGE)
    if form == "json":
        click.echo(show_json(json.dumps(coverage_report(results), indent=2, ensure_ascii=False)))
    else:
        for line in list_coverage_lines(results):
            click.echo(show_text(line))
    return count_missed(results)


def watch_files(paths: tuple[str, ...], keyword: str) -> None:
    """Runs the tests of each file, and again when it changes, until Ctrl-C."""
    from penstock.commands.watch_tests import follow_changes

    try:
        for files in follow_changes(lambda: list(find_files(paths))):
            begun = time.perf_counter()
            results = [result for file in files for result in run_file(file, keyword)]
            show_results(results, time.perf_counter() - begun)
    except KeyboardInterrupt:
        click.echo()


def run_file(
    file: str, keyword: str, *, to_end: bool = False, engine: SparkEngine | None = None, part: Part = (0, 1)
) -> list[CaseResult]:
    """The results of a file. What is no test makes a result of its own."""
    from penstock.diagnostics import CompileError
    from penstock.testing.run_case import CaseResult, run_source

    with errors_shown():
        source = read_source(file)
    try:
        return run_source(source, Path(file).parent, keyword=keyword, to_end=to_end, engine=engine, part=part)
    except CompileError as refusal:
        return [CaseResult("the file", source, 1, list(refusal.diagnostics))]


def update_file(file: str, keyword: str) -> None:
    """Writes what came into the file, if that is not what is expected."""
    from penstock.testing.snapshots import rewrite

    results = run_file(file, keyword, to_end=True)
    if not results:
        return
    source = results[0].source
    text = rewrite(source, results)
    if text == source.text:
        return
    lines = difflib.unified_diff(source.text.splitlines(), text.splitlines(), file, file, lineterm="", n=1)
    click.echo("\n".join(lines))
    write_file(file, text, "PATH")
    click.echo(f"updated: {file}")


def show_results(results: list[CaseResult], seconds: float) -> None:
    """Each test that fails with its findings, then the numbers."""
    for result in results:
        if not result.passes:
            click.echo(f"FAILED {result.source.name}:{result.line} {result.name}")
            show_findings(result.findings)
    failed = sum(not result.passes for result in results)
    passed = f"{len(results) - failed} passed"
    click.echo(f"{f'{failed} failed, ' if failed else ''}{passed} in {seconds:.2f} s")
