"""Checked plans -> a Program: settings, views as Spark SQL text, sinks. Plain data, no pyspark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from penstock.codegen.cut_queries import cut_at_intermediates
from penstock.codegen.job_text import write_job
from penstock.codegen.local_reads import make_local_read
from penstock.codegen.newer_functions import find_newer_functions, find_newer_in_read
from penstock.codegen.program import Program, Read, SparkQuery
from penstock.codegen.program_settings import list_settings
from penstock.codegen.program_text import spark_text
from penstock.codegen.run_record import RECORD_FILE, RunRecord, record_path
from penstock.codegen.sampling import lower_sampling
from penstock.codegen.spark_versions import SPARK_VERSIONS
from penstock.codegen.sql.expression_places import record_places
from penstock.codegen.sql.read_views import read_views
from penstock.codegen.sql.spark_query import lower_query
from penstock.planner.physical.fuse import find_fused, list_operators
from penstock.planner.plan import DEFAULTS, Intermediate, Node, RunningQuery, Scan, Settings
from penstock.planner.plan.walk import walk

__all__ = [
    "RECORD_FILE",
    "RunRecord",
    "find_newer_functions",
    "find_newer_in_read",
    "lower",
    "lower_read",
    "lower_sampling",
    "name_operators",
    "record_path",
    "spark_text",
    "write_job",
]


def lower(queries: Sequence[RunningQuery], settings: Settings = DEFAULTS) -> Program:
    """The Spark program of a script's queries.

    The plans have passed all checks; one that cannot be lowered is a defect and fails an assertion.
    """
    names = _names([query.name for query in queries])
    shared: dict[Node, Scan] = {}
    chains = [cut_at_intermediates(query, name, names, shared) for query, name in zip(queries, names, strict=True)]
    parts = [part for chain in chains for part in chain]
    takes_heartbeats = any(
        isinstance(node, Scan) and node.origin.idle is not None for part in parts for node in walk(part.root)
    )
    queries_: list[SparkQuery] = []
    for chain in chains:
        *above, last = [lower_query(part, settings, takes_heartbeats=takes_heartbeats) for part in chain]
        queries_ += [*(replace(each, rejects_beside=last.output.folder) for each in above), last]
    program = Program(settings=list_settings(settings.state_partitions), queries=tuple(queries_))
    newer = ((number, tuple(find_newer_functions(program, number))) for number in SPARK_VERSIONS)
    return replace(program, newer=tuple(newer))


def name_operators(queries: Sequence[RunningQuery]) -> list[dict[Node, str]]:
    """For each query of a script: its operators with state, and the name of the Spark query that runs each."""
    names = _names([query.name for query in queries])
    shared: dict[Node, Scan] = {}
    named: list[dict[Node, str]] = []
    for query, name in zip(queries, names, strict=True):
        streams: dict[Intermediate, str] = {}
        cut_at_intermediates(query, name, names, shared, streams)
        parts = [(query.root, name), *((node.input, stream) for node, stream in streams.items())]
        fused = find_fused(query.root)
        named.append({node: part for root, part in parts for node in list_operators(root, fused)})
    return named


def lower_read(root: Node) -> Read:
    """The plan of a read as Spark SQL."""
    with record_places() as printed:
        inputs, views, result = read_views(root)
    columns = tuple(each.name for each in root.schema)
    settings = list_settings(DEFAULTS.state_partitions)
    read = Read(settings, inputs, views, result, columns, tuple(printed), make_local_read(root))
    return replace(read, newer=tuple((number, tuple(find_newer_in_read(read, number))) for number in SPARK_VERSIONS))


def _names(wanted: Sequence[str]) -> list[str]:
    """Each name as a plain identifier, different from the others without regard to case."""
    taken: list[str] = []
    for name in wanted:
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
        plain = plain if re.match(r"[A-Za-z_]", plain) else f"_{plain}"
        number, unique = 1, plain
        while unique.lower() in {other.lower() for other in taken}:
            number += 1
            unique = f"{plain}_{number}"
        taken.append(unique)
    return taken
