"""Program -> a PySpark program that does the same without Penstock, to read, to keep, to run or to submit."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from textwrap import indent

from penstock.codegen.connectors import CHANGES, FORMATS, SINKS, SOURCES
from penstock.codegen.folders import folder_name
from penstock.codegen.intermediates import INTERMEDIATE
from penstock.codegen.literals import comment_text, literal, sql_in_line, sql_literal
from penstock.codegen.program import (
    CHECK_SETTING,
    COST_SETTING,
    PARTITIONS_SETTING,
    AnyView,
    BucketView,
    Input,
    LookupView,
    Option,
    PackedView,
    PaneView,
    Program,
    QueryOutput,
    Rejects,
    SparkQuery,
    files_cost,
)
from penstock.codegen.sql.records import records_of
from penstock.codegen.watermark import text_of, watermark_of
from penstock.codegen.worker.ship import list_worker_sources

_HEAD = '''"""Streaming queries, written by Penstock.

Reads all input that is there now. Without --checkpoint, or with --drain, it is taken as complete, so that every window
is closed; with --checkpoint a later run goes on where this one ended. At the end each input row is accounted for:
in = rejected + late + filtered + used.
"""

import argparse
import json
import os
import re
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime

from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, DataSourceReader
'''

_BASE = '''
class Clock(DataSource):
    """One row, read anew in every micro-batch: the watermark in force, and the number of the micro-batch."""

    @classmethod
    def name(cls):
        return "clock"

    def schema(self):
        return "watermark timestamp, batch bigint"

    def reader(self, schema):
        return ClockReader(self.options["checkpoint"])


class ClockReader(DataSourceReader):
    def __init__(self, checkpoint):
        self.checkpoint = checkpoint

    def read(self, partition):
        batch, query = map(TaskContext.get().getLocalProperty, ("streaming.sql.batchId", "sql.streaming.queryId"))
        yield watermark_of(self.checkpoint, batch, query), int(batch)


def clock(spark, query, checkpoint):
    """The watermark in force, and the number of the micro-batch."""
    spark.dataSource.register(Clock)
    moment = spark.read.format("clock").option("checkpoint", checkpoint).load()
    moment.createOrReplaceTempView(f"{query}_clock")


def end_of_time(spark, query, checkpoint):
    """The stream that is empty until the input is declared complete."""
    make_folder(spark, f"{checkpoint}/end")
    end = spark.readStream.schema("time timestamp, input string").json(f"{checkpoint}/end")
    end.createOrReplaceTempView(f"{query}_end")


def drain(spark, checkpoint):
    """Declares the input complete: a row behind every event time moves the watermark past all windows."""
    end = f"{checkpoint}/end"
    if spark.read.schema("time timestamp, input string").json(end).isEmpty():
        rows = spark.sql("SELECT TIMESTAMP '9999-01-01 00:00:00' AS time, CAST(NULL AS STRING) AS input")
        rows.write.mode("append").json(end)


def make_folder(spark, path):
    """Makes a folder, wherever Spark can write. Who reads it passes over names that begin with `_`."""
    spark.range(0, 0, 1, 1).write.mode("ignore").parquet(f"{path}/_made")


def view(spark, name, sql, counts=None, watermark=None):
    """A view; `counts` are observed on its rows, `watermark` is (column, milliseconds)."""
    rows = spark.sql(sql)
    if watermark is not None:
        rows = rows.withWatermark(quoted(watermark[0]), f"{watermark[1]} milliseconds")
    if counts is not None:
        rows = rows.observe(name, *(F.expr(sql).alias(count) for count, sql in counts.items()))
    rows.createOrReplaceTempView(name)


def quoted(name):
    return "`" + name.replace("`", "``") + "`"


def absolute(spark, path):
    """On a cluster a path without a scheme is one of its default file system, else one of this machine."""
    return path if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:/", path) or on_cluster(spark) else os.path.abspath(path)


def on_cluster(spark):
    return spark.conf.get("spark.master").partition("[")[0] != "local"


def run(writer, mode, checkpoint):
    """Runs a query to the end of what is there now; returns its counts."""
    writer = writer.outputMode(mode).option("checkpointLocation", checkpoint)
    started = writer.trigger(availableNow=True).start()
    started.awaitTermination()
    counts = Counter()
    for progress in started.recentProgress:
        for observed in progress.observedMetrics.values():
            counts.update({name: count or 0 for name, count in observed.asDict().items()})
    return counts


def report(query, counts, inputs):
    """One line for each input."""
    for name in inputs:
        fates = ("rejected", "late", "filtered", "used")
        text = " + ".join(f"{counts[f'{fate}:{name}']} {fate}" for fate in fates)
        print(f"{query}: {counts[f'in:{name}']} rows of {name} = {text}")
'''

# What the text of codegen/worker/panes.py and codegen/worker/over_rows.py needs besides.
_WORKER_IMPORTS = {
    "from collections import Counter\n": "from collections.abc import {}\n",
    "from datetime import UTC, datetime\n": "from typing import Any\n",
}
_CSV_IMPORTS = {"import json\n": "import csv\nimport io\nimport itertools\n"}


def eject(program: Program) -> str:
    """The text of a Python program, which takes `--checkpoint` and `--drain`.

    It needs PySpark 4, and the pyarrow, pandas and numpy that PySpark asks for; with OVER and joins also duckdb.
    """
    connectors = {source.connector for query in program.queries for source in query.inputs}
    sinks = set(map(_sink, program.queries))
    sinks |= {"files" for query in program.queries if query.rejects or _sink(query) == CHANGES}
    head, workers = _HEAD, list_worker_sources(program)
    sources = (source for query in program.queries for source in query.inputs if source.connector == "files")
    formats = dict.fromkeys(str(dict(source.options)["format"]) for source in sources)
    workers += [part for each in formats for part in FORMATS[each]]
    if "csv" in formats:
        for line, before in _CSV_IMPORTS.items():
            head = head.replace(line, before + line)
    used = [each for each in ("Callable", "Iterable", "Iterator", "Mapping", "Sequence") if each in "".join(workers)]
    if used:
        for line, after in _WORKER_IMPORTS.items():
            head = head.replace(line, line + after.format(", ".join(used)))
    parts = [
        f"{head}\n{_settings(program)}",
        _BASE,
        inspect.getsource(watermark_of),
        inspect.getsource(text_of),
        *workers,
        *(text for connector, text in SOURCES.items() if connector in connectors),
        *(text for connector, text in SINKS.items() if connector in sinks),
        *(_query(query, _settings_of_state(query, program)) for query in program.queries),
        _main(program),
    ]
    return "\n\n".join(part.strip("\n") + "\n" for part in parts).replace("\n\n\n\n", "\n\n\n")


def _settings(program: Program) -> str:
    # recentProgress is where the counts of all batches are summed up from.
    kept = (*program.settings, ("spark.sql.streaming.numRecentProgressUpdates", "1000000"))
    return _assignment("SETTINGS", "".join(f"    {literal(name)}: {literal(value)},\n" for name, value in kept))


def _assignment(name: str, items: str) -> str:
    return f"{name} = {{\n{items}}}\n"


def _settings_of_state(query: SparkQuery, program: Program) -> list[tuple[str, str]]:
    """What a query sets before it starts: the number of partitions only where queries differ in it."""
    same = all(str(each.partitions) == program.state_partitions for each in program.queries if each.partitions)
    return [each for each in query.state_settings if not (same and each[0] == PARTITIONS_SETTING)]


def _query(query: SparkQuery, settings: Sequence[tuple[str, str]]) -> str:
    """A function that runs one query, preceded by one for each input of which rows can be set aside."""
    body = [f'"""To {query.output.connector}: {comment_text(query.output.name)}."""']
    if not query.checked:
        body.append(f'spark.conf.set("{CHECK_SETTING}", "false")')
    if any(source.connector == "files" for source in query.inputs):
        # A header is found where a task reads no more than one file.
        body.append(f'spark.conf.set("{COST_SETTING}", "{files_cost(query.inputs)}")')
    body += map(_source, query.inputs)
    if query.timed or query.numbered:
        body.append(f'clock(spark, "{query.name}", checkpoint)')
    if query.timed:
        body.append(f'end_of_time(spark, "{query.name}", checkpoint)')
    body += map(_view, query.views)
    body += [f"spark.conf.set({literal(name)}, {literal(value)})" for name, value in settings]
    body.append(_write(query.output, query))
    body.append(f'counts = run(writer(), "{query.mode}", checkpoint)')
    if query.timed:
        body.append(
            f'if draining:\n    drain(spark, checkpoint)\n    counts.update(run(writer(), "{query.mode}", checkpoint))'
        )
    body += [_set_aside(query, rejects) for rejects in query.rejects]
    names = ", ".join(literal(source.name) for source in query.inputs)
    body.append(f"report({literal(query.output.name)}, counts, [{names}])")
    if query.output.connector == "memory":
        body.append(f"for row in KEPT[{literal(query.name)}].values():\n    print(row)")
    if not query.checked:
        body.append(f'spark.conf.set("{CHECK_SETTING}", "true")')
    return f"def {_function(query)}(spark, checkpoint, kept, draining):\n{indent(chr(10).join(body), '    ')}\n"


def _function(query: SparkQuery) -> str:
    # A prefix, because a query may be called `run` or `import`.
    return f"query_{query.name}"


def _source(source: Input) -> str:
    columns = ", ".join(f"{literal(name)}: {literal(type_)}" for name, type_ in source.columns)
    arguments = _arguments(source.options, leave_out=("partitions",))
    if source.connector == INTERMEDIATE:
        arguments = f', f"{{os.path.dirname(checkpoint)}}/{source.name}/rows"'
    view = f'rows.createOrReplaceTempView("{source.view}")'
    if source.connector != "files":
        return f"rows = read_{source.connector}(spark, {{{columns}}}{arguments})\n{view}"
    records = records_of(source)
    steps = "".join(f"        [{', '.join(map(sql_in_line, step))}],\n" for step in records.steps)
    items = "".join(f"        {sql_in_line(item)},\n" for item in records.items)
    given = [
        "spark",
        f"{{{columns}}}",
        *_keywords(source.options, leave_out=("partitions", "format", "null")),
        f"read=read_{dict(source.options)['format']}",
        *(["ordered=True"] if source.ordered else []),
        *([f"schema={literal(records.schema)}"] if records.schema else []),
        f"steps=[\n{steps}    ]",
        f"items=[\n{items}    ]",
        f"malformed={sql_in_line(records.malformed)}",
    ]
    return "rows = read_files(\n" + "".join(f"    {each},\n" for each in given) + f")\n{view}"


def _view(view: AnyView) -> str:
    if isinstance(view, PackedView):
        cuts = f"cuts=[{', '.join(map(str, view.cuts))}]"
        arguments = [
            literal(view.name),
            literal(view.source),
            f"length={view.length}",
            cuts,
            f"schema={sql_literal(view.schema)}",
        ]
        return _call("packed_view", arguments)
    if isinstance(view, PaneView):
        order = "None" if view.order is None else sql_literal(view.order)
        return _call("pane_view", [literal(view.name), literal(view.source), f"order={order}", *_asked(view)])
    if isinstance(view, BucketView):
        own = [f"order={sql_literal(view.order)}", f"time={literal(view.time)}", f"back={view.back}"]
        own.append("only=None" if view.only is None else f"only={literal(view.only)}")
        return _in_buckets(view, "answer_rows", "remembered BINARY, waiting BINARY", "EventTimeTimeout", own)
    if isinstance(view, LookupView):
        return _in_buckets(view, "look_up_rows", "records BINARY", "NoTimeout", [f"newest={sql_literal(view.newest)}"])
    extra = ""
    if view.metrics:
        counts = "".join(f"\n        {literal(each.name)}: {literal(each.sql)}," for each in view.metrics)
        extra += f"\n    counts={{{counts}\n    }},"
    if view.watermark is not None:
        extra += f"\n    watermark=({literal(view.watermark.column)}, {view.watermark.delay}),"
    return f'view(\n    spark,\n    "{view.name}",\n    {sql_literal(view.sql)},{extra}\n)'


def _in_buckets(view: BucketView | LookupView, function: str, state: str, timeout: str, own: Sequence[str]) -> str:
    kept = [f"state={literal(state)}", f"timeout={literal(timeout)}"]
    return _call("bucket_view", [literal(view.name), literal(view.source), function, *kept, *own, *_asked(view)])


def _asked(view: PaneView | BucketView | LookupView) -> list[str]:
    """What DuckDB is asked last, and what is made of its answer."""
    picked = ", ".join(f"{literal(name)}: {literal(field)}" for name, field in view.picked)
    return [
        *(f"sql={sql_literal(view.sql)}", f"given=[{_list(view.given)}]", f"kept=[{_list(view.kept)}]"),
        *(f"picked={{{picked}}}", f"schema={sql_literal(view.schema)}"),
    ]


def _call(function: str, arguments: list[str]) -> str:
    return f"{function}(\n    spark,\n" + "".join(f"    {each},\n" for each in arguments) + ")"


def _list(names: tuple[str, ...]) -> str:
    return ", ".join(map(literal, names))


def _sink(query: SparkQuery) -> str:
    """What is written there: a connector, or CHANGES."""
    is_files = query.output.connector in ("files", INTERMEDIATE)
    return CHANGES if is_files and query.mode == "update" else query.output.connector


def _write(output: QueryOutput, query: SparkQuery) -> str:
    options = {"rows": "rows_shown"} if output.connector == "console" else {}
    arguments = _arguments(
        tuple((options.get(name, name), value) for name, value in output.options),
        leave_out=("partitions", "rows", "files_per_batch", "operation"),
    )
    sink = _sink(query)
    if output.connector == INTERMEDIATE:
        arguments = ', f"{checkpoint}/rows"' + (', "parquet"' if sink == CHANGES else "")
    if output.connector == "memory" and query.mode == "update":
        arguments += f", key=[{', '.join(map(literal, query.key))}]"
        arguments += "" if query.operation is None else f", operation={literal(query.operation)}"
    return f'def writer():\n    return write_{sink}(spark.table("{query.result}"), {literal(query.name)}{arguments})\n'


def _set_aside(query: SparkQuery, rejects: Rejects) -> str:
    """Writes the rejected rows of an input beside the files of the sink, or in the checkpoint if it is kept."""
    if query.output.connector == "files":
        place = f"absolute(spark, {literal(str(dict(query.output.options)['path']))})"
        kept = f"counts[{literal(f'rejected:{rejects.name}')}]"
    else:
        place, kept = "checkpoint", f"kept and counts[{literal(f'rejected:{rejects.name}')}]"
    views = "\n".join(map(_view, rejects.views))
    body = (
        f"{views}\n"
        f"place = {place} + {literal(f'_rejected/{folder_name(rejects.name)}')}\n"
        f'aside = write_files(spark.table("{rejects.view}"), "{rejects.view}", place, "json")\n'
        f'run(aside, "append", checkpoint + {literal(f"/rejected/{folder_name(rejects.name)}")})\n'
        f'print(f"rejected rows are in {{place}}")'
    )
    return f"if {kept}:\n{indent(body, '    ')}"


def _main(program: Program) -> str:
    calls = "\n".join(
        f'    {_function(query)}(spark, f"{{folder}}/{query.name}", kept, draining)' for query in program.queries
    )
    return f"""def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", help="folder that keeps the state from run to run")
    parser.add_argument("--drain", action="store_true", help="take the input as complete, for good")
    arguments = parser.parse_args()
    kept = arguments.checkpoint is not None
    draining = arguments.drain or not kept
    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # started by itself, not by spark-submit
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.appName("penstock").getOrCreate()
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    if on_cluster(spark) and "://" not in (arguments.checkpoint or ""):
        parser.error("on a cluster --checkpoint has to be the URI of a folder that all workers see, as hdfs://host/state")
    folder = absolute(spark, arguments.checkpoint or tempfile.mkdtemp()).rstrip("/")
{calls}
    # Spark leaves its state stores open, and a JVM that ends while RocksDB compacts one waits for it forever.
    if hasattr(spark, "_jvm"):  # by Spark Connect it is elsewhere, and does not end here
        stores = getattr(spark._jvm.org.apache.spark.sql.execution.streaming.state, "StateStore$")
        getattr(stores, "MODULE$").stop()
    spark.stop()


if __name__ == "__main__":
    main()
"""


def _arguments(options: tuple[Option, ...], *, leave_out: tuple[str, ...]) -> str:
    return "".join(f", {each}" for each in _keywords(options, leave_out=leave_out))


def _keywords(options: tuple[Option, ...], *, leave_out: tuple[str, ...]) -> list[str]:
    given = ((name, value) for name, value in options if name not in leave_out)
    return [f"{name}={literal(value) if isinstance(value, str) else value}" for name, value in given]
