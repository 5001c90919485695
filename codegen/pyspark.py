"""Program -> a PySpark program that does the same without Penstock, to read, to keep, to run or to submit."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent

from penstock.codegen.connectors import CHANGES, SINKS, SOURCES
from penstock.codegen.program import (
    CHECK_SETTING,
    PARTITIONS_SETTING,
    BucketView,
    Input,
    LookupView,
    Option,
    Output,
    PackedView,
    PaneView,
    Program,
    Rejects,
    SparkQuery,
    Step,
)
from penstock.codegen.stages import STAGE
from penstock.codegen.worker_parts import worker_parts

_HEAD = '''"""Streaming queries, written by Penstock.

Reads all input that is there now. Without --checkpoint, or with --drain, it is taken as complete, so that every window
is closed; with --checkpoint a later run goes on where this one ended. At the end each input row is accounted for:
in = rejected + late + filtered + used.
"""

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, DataSourceReader
'''

_BASE = '''
class Clock(DataSource):
    """One row, read anew in every micro-batch: the watermark in force and its number, from the newest offsets."""

    @classmethod
    def name(cls):
        return "clock"

    def schema(self):
        return "watermark timestamp, batch bigint"

    def reader(self, schema):
        return ClockReader(self.options["offsets"])


class ClockReader(DataSourceReader):
    def __init__(self, offsets):
        self.offsets = offsets

    def read(self, partition):
        batches = [int(name) for name in os.listdir(self.offsets) if name.isdigit()]
        with open(os.path.join(self.offsets, str(max(batches))), encoding="utf-8") as file:
            milliseconds = json.loads(file.read().splitlines()[1])["batchWatermarkMs"]
        yield datetime.fromtimestamp(milliseconds / 1000, UTC), max(batches)


def clock(spark, query, checkpoint):
    """The watermark in force, and the number of the micro-batch."""
    spark.dataSource.register(Clock)
    moment = spark.read.format("clock").option("offsets", f"{checkpoint}/offsets").load()
    moment.createOrReplaceTempView(f"{query}_clock")


def end_of_time(spark, query, checkpoint):
    """The stream that is empty until the input is declared complete."""
    os.makedirs(f"{checkpoint}/end", exist_ok=True)
    end = spark.readStream.schema("time timestamp, input string").json(f"{checkpoint}/end")
    end.createOrReplaceTempView(f"{query}_end")


def drain(checkpoint):
    """Declares the input complete: a row behind every event time moves the watermark past all windows."""
    unfinished = f"{checkpoint}/unfinished"
    with open(unfinished, "w", encoding="utf-8") as file:
        file.write('{"time":"9999-01-01T00:00:00Z"}')
    os.replace(unfinished, f"{checkpoint}/end/end.json")


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


def absolute(path):
    return path if "://" in path or path.startswith("file:") else os.path.abspath(path)


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

# What the text of codegen/panes.py and codegen/remembered.py needs besides.
_WORKER_IMPORTS = {
    "from collections import Counter\n": "from collections.abc import {}\n",
    "from datetime import UTC, datetime\n": "from typing import Any\n",
}


def eject(program: Program) -> str:
    """The text of a Python program, which takes `--checkpoint` and `--drain`.

    It needs PySpark 4 and nothing else, with OVER and joins also duckdb, and the pyarrow, pandas and numpy that PySpark
    asks for there.
    """
    connectors = {source.connector for query in program.queries for source in query.inputs}
    sinks = set(map(_sink, program.queries))
    sinks |= {"files" for query in program.queries if query.rejects or _sink(query) == CHANGES}
    head, workers = _HEAD, worker_parts(program)
    if workers:
        used = [
            each for each in ("Callable", "Iterable", "Iterator", "Mapping", "Sequence") if each in "".join(workers)
        ]
        for line, after in _WORKER_IMPORTS.items():
            head = head.replace(line, line + after.format(", ".join(used)))
    parts = [
        f"{head}\n{_settings(program)}",
        _BASE,
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
    return _assignment("SETTINGS", "".join(f"    {_text(name)}: {_text(value)},\n" for name, value in kept))


def _assignment(name: str, items: str) -> str:
    return f"{name} = {{\n{items}}}\n"


def _settings_of_state(query: SparkQuery, program: Program) -> list[tuple[str, str]]:
    """What a query sets before it starts: the number of partitions only where queries differ in it."""
    same = all(str(each.partitions) == program.state_partitions for each in program.queries if each.partitions)
    return [each for each in query.state_settings if not (same and each[0] == PARTITIONS_SETTING)]


def _query(query: SparkQuery, settings: Sequence[tuple[str, str]]) -> str:
    """A function that runs one query, preceded by one for each input of which rows can be set aside."""
    body = [f'"""To {query.output.connector}: {_comment(query.output.name)}."""']
    if not query.checked:
        body.append(f'spark.conf.set("{CHECK_SETTING}", "false")')
    body += map(_source, query.inputs)
    if query.timed or query.numbered:
        body.append(f'clock(spark, "{query.name}", checkpoint)')
    if query.timed:
        body.append(f'end_of_time(spark, "{query.name}", checkpoint)')
    body += map(_view, query.views)
    body += [f"spark.conf.set({_text(name)}, {_text(value)})" for name, value in settings]
    body.append(_write(query.output, query))
    body.append(f'counts = run(writer(), "{query.mode}", checkpoint)')
    if query.timed:
        body.append(
            f'if draining:\n    drain(checkpoint)\n    counts.update(run(writer(), "{query.mode}", checkpoint))'
        )
    body += [_set_aside(query, rejects) for rejects in query.rejects]
    names = ", ".join(_text(source.name) for source in query.inputs)
    body.append(f"report({_text(query.output.name)}, counts, [{names}])")
    if query.output.connector == "memory":
        body.append(f"for row in KEPT[{_text(query.name)}].values():\n    print(row)")
    if not query.checked:
        body.append(f'spark.conf.set("{CHECK_SETTING}", "true")')
    return f"def {_function(query)}(spark, checkpoint, kept, draining):\n{indent(chr(10).join(body), '    ')}\n"


def _function(query: SparkQuery) -> str:
    # A prefix, because a query may be called `run` or `import`.
    return f"query_{query.name}"


def _source(source: Input) -> str:
    columns = ", ".join(f"{_text(name)}: {_text(type_)}" for name, type_ in source.columns)
    arguments = _arguments(source.options, leave_out=("partitions",))
    if source.connector == STAGE:
        arguments = f', f"{{os.path.dirname(checkpoint)}}/{source.name}/rows"'
    if source.ordered:
        arguments += ", ordered=True"
    return (
        f"rows = read_{source.connector}(spark, {{{columns}}}{arguments})\n"
        f'rows.createOrReplaceTempView("{source.view}")'
    )


def _view(view: Step) -> str:
    if isinstance(view, PackedView):
        cuts = f"cuts=[{', '.join(map(str, view.cuts))}]"
        arguments = [_text(view.name), _text(view.source), f"length={view.length}", cuts, f"schema={_sql(view.schema)}"]
        return _call("packed_view", arguments)
    if isinstance(view, PaneView):
        order = "None" if view.order is None else _sql(view.order)
        return _call("pane_view", [_text(view.name), _text(view.source), f"order={order}", *_asked(view)])
    if isinstance(view, BucketView):
        own = [f"order={_sql(view.order)}", f"time={_text(view.time)}", f"back={view.back}"]
        own.append("only=None" if view.only is None else f"only={_text(view.only)}")
        return _in_buckets(view, "answered_rows", "remembered BINARY, waiting BINARY", "EventTimeTimeout", own)
    if isinstance(view, LookupView):
        return _in_buckets(view, "looked_up", "records BINARY", "NoTimeout", [f"newest={_sql(view.newest)}"])
    extra = ""
    if view.metrics:
        counts = "".join(f"\n        {_text(each.name)}: {_text(each.sql)}," for each in view.metrics)
        extra += f"\n    counts={{{counts}\n    }},"
    if view.watermark is not None:
        extra += f"\n    watermark=({_text(view.watermark.column)}, {view.watermark.delay}),"
    return f'view(\n    spark,\n    "{view.name}",\n    {_sql(view.sql)},{extra}\n)'


def _in_buckets(view: BucketView | LookupView, function: str, state: str, timeout: str, own: Sequence[str]) -> str:
    kept = [f"state={_text(state)}", f"timeout={_text(timeout)}"]
    return _call("bucket_view", [_text(view.name), _text(view.source), function, *kept, *own, *_asked(view)])


def _asked(view: PaneView | BucketView | LookupView) -> list[str]:
    """What DuckDB is asked last, and what is made of its answer."""
    picked = ", ".join(f"{_text(name)}: {_text(field)}" for name, field in view.picked)
    return [
        *(f"sql={_sql(view.sql)}", f"given=[{_list(view.given)}]", f"kept=[{_list(view.kept)}]"),
        *(f"picked={{{picked}}}", f"schema={_sql(view.schema)}"),
    ]


def _call(function: str, arguments: list[str]) -> str:
    return f"{function}(\n    spark,\n" + "".join(f"    {each},\n" for each in arguments) + ")"


def _list(names: tuple[str, ...]) -> str:
    return ", ".join(map(_text, names))


def _sql(sql: str) -> str:
    """A raw triple-quoted text, or a plain literal where the SQL can not stand in one."""
    if '"""' in sql or sql.endswith(("\\", '"')) or not all(char.isprintable() or char == "\n" for char in sql):
        return _text(sql)
    return f'r"""\n{sql}\n"""'


def _sink(query: SparkQuery) -> str:
    """What is written there: a connector, or CHANGES."""
    is_files = query.output.connector in ("files", STAGE)
    return CHANGES if is_files and query.mode == "update" else query.output.connector


def _write(output: Output, query: SparkQuery) -> str:
    options = {"rows": "rows_shown"} if output.connector == "console" else {}
    arguments = _arguments(
        tuple((options.get(name, name), value) for name, value in output.options),
        leave_out=("partitions", "rows", "files_per_batch", "operation"),
    )
    sink = _sink(query)
    if output.connector == STAGE:
        arguments = ', f"{checkpoint}/rows"' + (', "parquet"' if sink == CHANGES else "")
    if output.connector == "memory" and query.mode == "update":
        arguments += f", key=[{', '.join(map(_text, query.key))}]"
        arguments += "" if query.operation is None else f", operation={_text(query.operation)}"
    return f'def writer():\n    return write_{sink}(spark.table("{query.result}"), {_text(query.name)}{arguments})\n'


def _set_aside(query: SparkQuery, rejects: Rejects) -> str:
    """Writes the rejected rows of an input beside the files of the sink, or in the checkpoint if it is kept."""
    if query.output.connector == "files":
        place = f"absolute({_text(str(dict(query.output.options)['path']))})"
        kept = f"counts[{_text(f'rejected:{rejects.name}')}]"
    else:
        place, kept = "checkpoint", f"kept and counts[{_text(f'rejected:{rejects.name}')}]"
    views = "\n".join(map(_view, rejects.views))
    body = (
        f"{views}\n"
        f"place = {place} + {_text(f'_rejected/{rejects.name}')}\n"
        f'aside = write_files(spark.table("{rejects.view}"), "{rejects.view}", place, "json")\n'
        f'run(aside, "append", checkpoint + {_text(f"/rejected/{rejects.name}")})\n'
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
    folder = os.path.abspath(arguments.checkpoint or tempfile.mkdtemp())
{calls}
    # Spark leaves its state stores open, and a JVM that ends while RocksDB compacts one waits for it for ever.
    if hasattr(spark, "_jvm"):  # by Spark Connect it is elsewhere, and does not end here
        stores = getattr(spark._jvm.org.apache.spark.sql.execution.streaming.state, "StateStore$")
        getattr(stores, "MODULE$").stop()
    spark.stop()


if __name__ == "__main__":
    main()
"""


def _arguments(options: tuple[Option, ...], *, leave_out: tuple[str, ...]) -> str:
    given = ((name, value) for name, value in options if name not in leave_out)
    return "".join(f", {name}={_text(value) if isinstance(value, str) else value}" for name, value in given)


def _text(value: str) -> str:
    """A Python literal in double quotes where that needs no escapes."""
    plain = value.isprintable() and not any(char in value for char in '"\\')
    return f'"{value}"' if plain else repr(value)


def _comment(value: str) -> str:
    return "".join(char if char.isprintable() and char not in '"\\' else "?" for char in value)
