"""Checked plans -> a Program: settings, views as Spark SQL text, sinks. Plain data, no pyspark."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from penstock.codegen.connectors import PACKAGES
from penstock.codegen.connectors.database_calls import list_address, list_arguments, list_find_arguments, list_tries
from penstock.codegen.connectors.delta import LEDGER_SINK, list_delta_arguments, list_delta_place
from penstock.codegen.cut_queries import cut_at_intermediates
from penstock.codegen.files_cost import files_settings
from penstock.codegen.fingerprint import leave_numbers_out
from penstock.codegen.folders import checkpoint_name, folder_name, source_name
from penstock.codegen.local_reads import make_local_read
from penstock.codegen.newer_functions import find_newer_functions, find_newer_in_read
from penstock.codegen.program import Program, Read, SparkQuery
from penstock.codegen.program_text import spark_text
from penstock.codegen.pyspark import eject
from penstock.codegen.run_record import RECORD_FILE, RunRecord, record_path
from penstock.codegen.sql.expression_places import record_places
from penstock.codegen.sql.json_fields import BITS, HAVE, NAMES, RECORDS, WATCHED, FieldWatch
from penstock.codegen.sql.metadata_items import HEADERS
from penstock.codegen.sql.read_views import read_views
from penstock.codegen.sql.records import Records, records_of
from penstock.codegen.sql.sent_messages import KEY, VALUE, list_avro_parts, list_message_items
from penstock.codegen.sql.spark_query import lower_query
from penstock.codegen.sql.topic_columns import Messages, Starting, messages_of, starting_of, watch_of
from penstock.planner import find_fused
from penstock.planner.connectors import DATABASES
from penstock.planner.plan import DEFAULTS, Intermediate, Node, RunningQuery, Scan, Settings, Stateful
from penstock.planner.plan.walk import walk

__all__ = [
    "BITS",
    "DATABASES",
    "HAVE",
    "HEADERS",
    "KEY",
    "LEDGER_SINK",
    "NAMES",
    "PACKAGES",
    "RECORDS",
    "RECORD_FILE",
    "VALUE",
    "WATCHED",
    "FieldWatch",
    "Messages",
    "Records",
    "RunRecord",
    "Starting",
    "checkpoint_name",
    "eject",
    "files_settings",
    "find_newer_functions",
    "find_newer_in_read",
    "folder_name",
    "leave_numbers_out",
    "list_address",
    "list_arguments",
    "list_avro_parts",
    "list_delta_arguments",
    "list_delta_place",
    "list_find_arguments",
    "list_message_items",
    "list_tries",
    "lower",
    "lower_read",
    "messages_of",
    "name_operators",
    "record_path",
    "records_of",
    "source_name",
    "spark_text",
    "starting_of",
    "watch_of",
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
    return Program(settings=_settings(settings.state_partitions), queries=tuple(queries_))


def name_operators(queries: Sequence[RunningQuery]) -> list[dict[Node, str]]:
    """For each query of a script: its operators with state, and the name of the Spark query that runs each."""
    names = _names([query.name for query in queries])
    shared: dict[Node, Scan] = {}
    named = []
    for query, name in zip(queries, names, strict=True):
        streams: dict[Intermediate, str] = {}
        cut_at_intermediates(query, name, names, shared, streams)
        parts = [(query.root, name), *((node.input, stream) for node, stream in streams.items())]
        fused = find_fused(query.root)
        named.append({node: part for root, part in parts for node in _list_operators(root, fused)})
    return named


def _list_operators(root: Node, fused: Collection[Node]) -> Iterator[Node]:
    """The operators with state of one Spark query. `fused`: the `Intermediate` nodes that lie within queries."""
    pending = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, Stateful):
            yield node
        if not isinstance(node, Intermediate) or node in fused:
            pending += node.inputs


def lower_read(root: Node) -> Read:
    """The plan of a read as Spark SQL."""
    with record_places() as printed:
        inputs, views, result = read_views(root)
    columns = tuple(each.name for each in root.schema)
    settings = _settings(DEFAULTS.state_partitions)
    return Read(settings, inputs, views, result, columns, tuple(printed), make_local_read(root))


def _settings(state_partitions: int) -> tuple[tuple[str, str], ...]:
    return (
        ("spark.sql.session.timeZone", "UTC"),
        ("spark.sql.ansi.enabled", "true"),
        ("spark.sql.timeType.enabled", "true"),
        ("spark.sql.caseSensitive", "false"),
        ("spark.sql.groupByOrdinal", "false"),
        ("spark.sql.parser.escapedStringLiterals", "false"),
        ("spark.sql.variable.substitute", "false"),
        ("spark.sql.runSQLOnFiles", "false"),
        # Re-used exchanges lose rows of self-joined aggregates.
        ("spark.sql.exchange.reuse", "false"),
        # By default Spark writes times as others read them wrongly outside of the years 1677 to 2262.
        ("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS"),
        # What Spark would infer of columns takes it minutes where many are computed.
        ("spark.sql.constraintPropagation.enabled", "false"),
        ("spark.sql.streaming.multipleWatermarkPolicy", "min"),
        ("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true"),
        # A query that was killed in its first write leaves a file there that is not an entry.
        ("spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart", "false"),
        ("spark.sql.shuffle.partitions", str(state_partitions)),
    )


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
