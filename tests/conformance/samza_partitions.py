"""Samza's cases of partition counts -> graphs, and SQL that says the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.compilation import Compilation
from penstock.planner.partitions.agree import Partitions, find_partitions
from penstock.planner.partitions.counts import Counts
from penstock.planner.partitions.graph import Graph, Role, Stream
from tests.conformance.differences import SAMZA_COUNTS

CASES = json.loads((Path(__file__).parent / "cases" / "samza_partitions.json").read_text(encoding="utf-8"))["cases"]
DEFAULT = "job.intermediate.stream.partitions"

Case = dict[str, Any]


def inputs_of(op: Case) -> list[str]:
    """The ops that an op reads."""
    given = op.get("in", [])
    return [given] if isinstance(given, str) else given


def graph_of(case: Case) -> Graph:
    """The graph of a case. Streams and tables are called as in the case, everything else by its op."""
    streams = {name: Stream(name, Role.OUTSIDE) for name in case["tables"]}
    joins, filled = dict[str, str](), dict[str, list[str]]()
    readers: dict[str, list[str]] = {}
    vertex: dict[str, str] = {}

    def fill(name: str, table: str, stream: str) -> None:
        readers.setdefault(stream, []).append(name)
        filled.setdefault(table, []).append(name)

    for op in case["ops"]:
        below = [vertex[each] for each in inputs_of(op)]
        match op["op"]:
            case "input":
                vertex[op["id"]] = name = op["stream"]
                streams[name] = Stream(name, Role.OUTSIDE, case["streams"][name])
            case "partition_by":
                vertex[op["id"]] = name = op["intermediate"]
                streams[name] = Stream(name, Role.REKEYED)
            case "send_to":
                vertex[op["id"]] = name = f"to {op['stream']}"
                streams[name] = Stream(op["stream"], Role.OUTPUT, case["streams"][op["stream"]])
            case "join" | "join_table":
                vertex[op["id"]] = name = joins[op["id"]] = op["id"]
                below += [op["table"]] if "table" in op else []
            case "send_to_table":
                fill(op["id"], op["table"], *below)
                continue
            case _:
                vertex[op["id"]] = below[0]
                continue
        for each in below:
            readers.setdefault(each, []).append(name)
    for table, facts in case["tables"].items():
        for side in facts.get("side_inputs", ()):
            streams.setdefault(side, Stream(side, Role.OUTSIDE, case["streams"][side]))
            fill(f"{table} from {side}", table, side)
        readers.update(dict.fromkeys(filled.get(table, ()), readers.get(table, [])))
    return Graph(streams, joins, readers)


def expected_counts(case: Case) -> dict[str, int]:
    given: dict[str, int] = case["expect"]["intermediate_partitions"]
    return SAMZA_COUNTS.get(case["id"], (given, ""))[0]


def compare(case: Case, counts: Counts, names: dict[str, str]) -> None:
    """Refused or not, the counts of re-keyed streams, and who meets where. `names`: as the case calls things."""
    assert bool(counts.conflicts) == case["expect"]["rejected"]
    if case["expect"]["rejected"]:
        return
    rekeyed = {op["intermediate"] for op in case["ops"] if op["op"] == "partition_by"}
    found = {names[name]: count.partitions for name, count in counts.of.items() if names.get(name) in rekeyed}
    assert found == expected_counts(case)
    join_streams = {
        names[join]: sorted(names[each] for each in streams if names[each] not in case["tables"])
        for join, streams in counts.join_streams.items()
    }
    for join, streams in case["expect"].get("join_sets", {}).items():
        assert join_streams[join] == sorted(streams)


def in_files(name: str, count: int) -> str:
    """The options of a folder of files that declares its partitions."""
    return f"connector = 'files', path = '{name}', format = 'json', partitions = {count}"


def sql_of(case: Case, options: Callable[[str, int], str] = in_files) -> list[str]:
    """A statement a line. Every stream has a key, by which everything is joined and re-keyed.

    `options`: those of a stream's place, of its name and its number of partitions.
    """
    columns = "(k BIGINT KEY, v BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - 1 SEC)"
    lines = [f"SET intermediate_partitions = {case['config'][DEFAULT]};"] if DEFAULT in case["config"] else []

    def place(name: str, count: int) -> str:
        return f"CREATE STREAM {name} {columns} WITH ({options(name, count)});"

    lines += [place(name, count) for name, count in case["streams"].items()]
    for table, facts in case["tables"].items():
        files = f"connector = 'files', path = '{table}', format = 'json'"
        lines.append(f"CREATE TABLE {table} (k BIGINT PRIMARY KEY, v BIGINT) WITH ({files});")
        lines += [f"INSERT INTO {table} SELECT STREAM k, v FROM {side};" for side in facts["side_inputs"]]
    for op in case["ops"]:
        name, rows = op["id"], f"SELECT STREAM k, v, time FROM {', '.join(inputs_of(op))}"
        match op["op"]:
            case "input":
                lines.append(f"CREATE VIEW {name} AS SELECT STREAM * FROM {op['stream']};")
            case "partition_by":
                lines.append(f"CREATE STREAM {name} AS {rows} PARTITION BY k;")
            case "filter":
                lines.append(f"CREATE STREAM {name} AS {rows} WHERE v > 0;")
            case "window":
                size, window = op["size_ms"], "SELECT STREAM k, COUNT(*) AS v, window_end AS time"
                text = f"{window} FROM {inputs_of(op)[0]} GROUP BY k, TUMBLE(time, {size} MILLISECOND)"
                lines.append(f"CREATE STREAM {name} AS {text};")
            case "join":
                one, other = inputs_of(op)
                on = f"ON a.k = b.k AND b.time BETWEEN a.time AND a.time + {op['ttl_ms']} MILLISECOND"
                text = f"SELECT STREAM a.k, a.v, a.time FROM {one} a JOIN {other} b {on}"
                lines.append(f"CREATE STREAM {name} AS {text};")
            case "join_table":
                text = f"SELECT STREAM a.k, a.v, a.time FROM {inputs_of(op)[0]} a JOIN {op['table']} b ON a.k = b.k"
                lines.append(f"CREATE STREAM {name} AS {text};")
            case "send_to_table":
                lines.append(f"INSERT INTO {op['table']} SELECT STREAM k, v FROM {inputs_of(op)[0]};")
            case "send_to":
                # Files have one writer.
                sink = f"{op['stream']}_{name}"
                lines += [place(sink, case["streams"][op["stream"]]), f"INSERT INTO {sink} {rows};"]
            case _:
                lines.append(f"CREATE STREAM {name} AS {rows};")
    return lines


def compare_planned(case: Case, lines: list[str], compilation: Compilation) -> Partitions:
    """Compares what the planner has made of `lines`, which are `sql_of` the case. Returns it."""
    found = find_partitions(compilation.queries, compilation.settings, compilation.catalog)
    names: dict[str, str] = {}
    made_by = {op["id"]: op.get("intermediate", op["id"]) for op in case["ops"]}
    for name, stream in found.script.graph.streams.items():
        assert stream.span is not None
        words = lines[stream.span.source.position(stream.span.start)[0] - 1].split()
        names[name] = made_by.get(words[2], words[2]) if stream.role is Role.REKEYED else stream.name
    for name, join in found.script.joins.items():
        names[name] = lines[join.span.source.position(join.span.start)[0] - 1].split()[2]
    compare(case, found.counts, names)
    return found
