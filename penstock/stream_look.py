"""SELECT STREAM … LIMIT n over one declared stream -> its first rows, without Spark.

The records are read as `penstock peek` reads them, and the evaluator computes the SELECT over them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from penstock.diagnostics import CompileError, Source, nearest
from penstock.diagnostics.codes.kinds import K012
from penstock.diagnostics.codes.running import R097
from penstock.parser import ast, name_text, parse

if TYPE_CHECKING:
    from penstock.codegen.sampled import Sampling
    from penstock.planner.catalog import Catalog
    from penstock.planner.plan import Node, Scan
    from penstock.runtime.samples.take import Sample

_HINT = "leave LIMIT out, and penstock run --once shows all rows"


@dataclass(frozen=True, slots=True)
class StreamLook:
    """A SELECT STREAM with LIMIT. `plan` has no LIMIT; `sampling` is how the records of its one input are read."""

    plan: Node
    scan: Scan
    sampling: Sampling
    limit: int


@dataclass(frozen=True, slots=True)
class SeenRows:
    """What a look has found. `sample`: the records that were read for it."""

    columns: tuple[str, ...]
    rows: list[dict[str, Any]]
    sample: Sample


def find_look(source: Source, catalog: Catalog) -> StreamLook | None:
    """The text as a look at a stream, None if it is no single SELECT STREAM with LIMIT.

    Raises:
        CompileError: it is refused, or it is more than a look at the rows of one declared stream.
    """
    statements = parse(source)
    statement = statements[0] if len(statements) == 1 else None
    if not isinstance(statement, ast.QueryStatement) or not isinstance(statement.query, ast.Select):
        return None
    query = statement.query
    if not query.stream or query.limit is None:
        return None

    from penstock.planner import plan_script
    from penstock.planner.plan import Filter, Project, Scan
    from penstock.planner.plan.walk import walk

    limit = query.limit.count
    if limit is None or query.limit.skipped:
        raise CompileError([R097.at(query.limit.span, name="the stream", reason="OFFSET needs an order of all rows")])
    planned = plan_script([replace(statement, query=replace(query, limit=None))], catalog)
    plan = planned.queries[0].root
    nodes = [*walk(plan)]
    scans = [each for each in nodes if isinstance(each, Scan)]
    if len(scans) != 1 or not all(isinstance(each, Scan | Project | Filter) for each in nodes):
        found = R097.at(query.span, name="the result", reason="it is more than the rows of one declared stream")
        raise CompileError([found.with_hint(_HINT)])
    return StreamLook(plan, scans[0], find_sampling(catalog, scans[0].origin.name), limit)


def find_sampling(catalog: Catalog, name: str) -> Sampling:
    """What is read for a name of the script. Raises CompileError if that cannot be peeked at."""
    from penstock.codegen import lower_sampling
    from penstock.planner.catalog import Declared
    from penstock.planner.connectors import connector_of

    entry = catalog.find(name)
    if entry is None:
        raise CompileError([K012.at(None, name=name).with_guess(nearest(name, catalog.names()))])
    if not isinstance(entry, Declared):
        reason = "it is computed by a query"
        hint = f'penstock query … "SELECT * FROM {name_text(entry.name)} LIMIT 20"'
        if entry.kind != "TABLE":
            hint = "penstock run --once shows its rows"
        raise CompileError([R097.at(entry.span, name=entry.name, reason=reason).with_hint(hint)])
    connector = connector_of(entry.origin.connector)
    if not connector.parses_records:
        reason = f"its rows are in {connector.doc}"
        hint = "penstock run --once shows rows of a query over it"
        if connector.reads_now:
            hint = f'penstock query … "SELECT * FROM {name_text(entry.name)} LIMIT 20"'
        raise CompileError([R097.at(entry.span, name=entry.name, reason=reason).with_hint(hint)])
    if dict(entry.origin.options).get("format") == "avro" or dict(entry.origin.options).get("key_format") == "avro":
        found = R097.at(entry.span, name=entry.name, reason="its messages are in Avro")
        raise CompileError([found.with_hint("penstock run --once shows rows of a query over it")])
    return lower_sampling(entry)


def look_at(found: StreamLook) -> SeenRows:
    """The first rows of the answer. More records are read until there are enough.

    Raises:
        RunError: the place is not there, or cannot be read.
        CompileError: the evaluator does not know a function of the SELECT.
    """
    from penstock.evaluator import QueryFailure, Unsupported, evaluate
    from penstock.runtime.samples.look import look

    read = found.limit
    while True:
        sample = look(found.sampling, read)
        rows = [{name: _without_zone(value) for name, value in row.items()} for row in sample.rows]
        missing = [each.name for each in found.scan.schema if each.name in sample.left_out]
        if missing:
            found_gap = R097.at(None, name=found.scan.origin.name, reason=f"only Spark computes {', '.join(missing)}")
            raise CompileError([found_gap.with_hint(_HINT)])
        try:
            answer = evaluate(found.plan, {found.scan.origin.name: rows})
        except (Unsupported, QueryFailure, ArithmeticError, ValueError, TypeError) as unknown:
            reason = f"it needs Spark for {unknown}"
            raise CompileError([R097.at(found.plan.span, name="the result", reason=reason).with_hint(_HINT)]) from None
        is_topic = found.sampling.input.counts_partitions
        is_over = sample.read < read if is_topic else len(rows) < read
        if len(answer) >= found.limit or is_over:
            names = tuple(each.name for each in found.plan.schema)
            return SeenRows(names, answer[-found.limit :] if is_topic else answer[: found.limit], sample)
        read *= 4


def _without_zone(value: Any) -> Any:
    """A value as the evaluator has it: points in time have no zone, also within others."""
    match value:
        case datetime():
            return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
        case dict():
            return {_without_zone(key): _without_zone(each) for key, each in value.items()}
        case list() | tuple():
            return [_without_zone(each) for each in value]
        case _:
            return value
