"""The command `penstock check`."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from penstock.commands.script_files import FAILED, FILES, compile_files, exit_code
from penstock.commands.show_findings import show_findings
from penstock.diagnostics import CompileError, Diagnostic, report, show_json

if TYPE_CHECKING:
    from penstock.compilation import Compilation


@click.command()
@FILES
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="How to print findings.")
@click.option("--connect", is_flag=True, help="Ask brokers of Kafka for the partitions of topics.")
@click.option("--spark", "version", metavar="VERSION", help="A version of Spark that must have all functions.")
def check(files: tuple[str, ...], form: str, connect: bool, version: str | None) -> None:
    """Parse and plan the statements and make all checks, without Spark.

    \b
    Examples:
      penstock check declarations.sql queries.sql
      penstock check --format json orders.sql
      penstock check --connect orders.sql
      penstock check --spark 4.2 orders.sql
      cat orders.sql | penstock check -

    --connect makes nothing. Exit code 0: accepted, 1: refused, 2: a file cannot be read, 3: a topic is missing or
    not as it is declared, or no broker answers.
    """
    status = 0
    findings: tuple[Diagnostic, ...]
    topics: list[str] = []
    try:
        with _collection_paused():
            compilation = compile_files(files)
        findings = compilation.diagnostics
        if version is not None:
            _check_spark(compilation, version)
        if connect:
            status, findings, topics = _check_places(compilation)
    except CompileError as refusal:
        status, findings = exit_code(refusal), refusal.diagnostics
    if form == "json":
        click.echo(show_json(json.dumps([report(finding) for finding in findings], indent=2, ensure_ascii=False)))
        sys.exit(status)
    show_findings(findings)
    if status == 0:
        for source in compilation.sources:
            statements = sum(statement.span.source is source for statement in compilation.statements)
            queries = sum(query.span.source is source for query in compilation.queries)
            click.echo(f"ok: {source.name}: {_count(statements, 'statement')}, {_count(queries, 'query', 'queries')}")
        for line in topics:
            click.echo(line)
    sys.exit(status)


def _check_spark(compilation: Compilation, version: str) -> None:
    """Raises CompileError if the script cannot run with this version of Spark."""
    from penstock.codegen import find_newer_functions
    from penstock.codegen.spark_versions import find_objection, read_number
    from penstock.diagnostics.codes.running import R008

    objection, number = find_objection(version), read_number(version)
    if objection is not None or number is None:
        raise CompileError([R008.at(None, version=version, reason=objection)])
    newer = [*find_newer_functions(compilation.program, number)]
    if newer:
        raise CompileError([*newer, *compilation.diagnostics])


def _check_places(compilation: Compilation) -> tuple[int, tuple[Diagnostic, ...], list[str]]:
    """The exit code, the findings, and a line for each topic. Raises CompileError."""
    from penstock.partition_check import compare_places, topic_text
    from penstock.runtime import RunError

    try:
        found = compare_places(compilation)
    except RunError as failure:
        return FAILED, (*failure.diagnostics, *compilation.diagnostics), []
    return 0, (*compilation.diagnostics, *found.warnings), [topic_text(each) for each in found.topics]


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Leaves garbage where it is. A check ends before collecting it would be worth the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
