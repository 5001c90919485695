"""Program -> a PySpark program that does the same without Penstock, to read, to keep, to run or to submit."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent

from penstock.codegen.bundle import bundle_definitions
from penstock.codegen.connectors import CALLS
from penstock.codegen.connectors.database_calls import look_up, write_engines
from penstock.codegen.files_cost import files_settings
from penstock.codegen.folders import folder_name, source_name
from penstock.codegen.newer_functions import list_versions_for
from penstock.codegen.program import (
    CHECK_SETTING,
    ONE_VERSION,
    PARTITIONS_SETTING,
    VERSIONS_SETTING,
    AnyView,
    BucketedView,
    BucketView,
    Input,
    LookupView,
    MultisetView,
    PackedView,
    PaneView,
    PartialView,
    Program,
    Rejects,
    RemoteView,
    SessionView,
    SparkQuery,
)
from penstock.codegen.python_literals import comment_text, literal, sql_literal
from penstock.codegen.spark_versions import number_text
from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.building import B002
from penstock.planner.connectors import DATABASES

_DOCUMENTATION = '''"""Streaming queries, written by Penstock.

Reads all input that is there now. Without --checkpoint, or with --drain, it is taken as complete, so that every window
is closed; with --checkpoint a later run goes on where this one ended. At the end each input row is accounted for:
in = rejected + late + filtered + used.
"""
'''

_DATABASES = (
    *("faults", "secret_refs", "locks", "spark_types", "refused_records", "counters", "retries", "found_table"),
    *("address", "target_table", "operations", "reads", "row_values", "engine", "postgres_operations"),
    *(*DATABASES, "engines"),
    *("attempts", "table_ledger", "collations", "batch_changes", "writer", "finder"),
)
_WORKER = ("pack", "panes", "partials", "bucket_rows", "bucket_lookup", "bucket_multiset", "bucket_sessions")
MODULES = (
    "penstock.diagnostics.terminal",
    *(f"penstock.kit.{name}" for name in ("spark_columns", "watermark", "clock_view", "checkpoint_sources")),
    *(f"penstock.kit.worker.{name}" for name in (*_WORKER, "computed_views")),
    *(
        f"penstock.kit.files.{name}"
        for name in ("openable_files", "csv_files", "folder_names", "ordered_files", "files")
    ),
    *(f"penstock.kit.{name}" for name in ("rate", "intermediate", "console", "memory")),
    *(f"penstock.kit.databases.{name}" for name in _DATABASES),
    *(f"penstock.kit.{name}" for name in ("tables.table_rows", "tables.table_updates")),
    *(f"penstock.kit.{name}" for name in ("delta.delta_table", "delta.delta_writer")),
    *(f"penstock.kit.{name}" for name in ("tables.table_batches", "tables.table_lookup", "ejected_program")),
)
"""What a program is made of, in this order, as far as it is called."""


def eject(program: Program) -> str:
    """The text of a Python program, which takes `--checkpoint` and `--drain`.

    It needs a PySpark that Penstock runs on, and the pyarrow, pandas and numpy that PySpark asks for. OVER, joins
    and partial aggregates also need duckdb.
    Raises CompileError where a connector is not made for it.
    """
    queries = [_query(query, _settings_of(query, program)) for query in program.queries]
    own = [*write_engines(program), *queries, _main(program)]
    imports, parts = bundle_definitions("\n".join(own), MODULES)
    head = "\n".join([_DOCUMENTATION, imports, _settings(program)])
    return "\n\n".join(part.strip("\n") + "\n" for part in (head, *parts, *own))


def _settings(program: Program) -> str:
    # recentProgress is where the counts of all batches are summed up from.
    progress = ("spark.sql.streaming.numRecentProgressUpdates", "1000000")
    kept = (*program.settings, (VERSIONS_SETTING, ONE_VERSION), progress)
    items = "".join(f"    {literal(name)}: {literal(value)},\n" for name, value in kept)
    return f"SETTINGS = {{\n{items}}}\n"


def _settings_of(query: SparkQuery, program: Program) -> list[tuple[str, str | None]]:
    """What a query sets before it starts: the number of partitions only where queries differ in it.

    None stands for the value that Spark has by default.
    """
    same = all(str(each.partitions) == program.state_partitions for each in program.queries if each.partitions)
    kept = [each for each in query.state_settings if not (same and each[0] == PARTITIONS_SETTING)]
    # One query follows the other in the same session.
    of_others = files_settings(source for each in program.queries for source in each.inputs)
    return [*kept, *(dict.fromkeys(of_others) | files_settings(query.inputs)).items()]


def _query(query: SparkQuery, settings: Sequence[tuple[str, str | None]]) -> str:
    """A function that runs one query. Before it stands a function for each input that can have rows set aside."""
    body = [f'"""To {query.output.connector}: {comment_text(query.output.name)}."""']
    if not query.checked:
        body.append(f'spark.conf.set("{CHECK_SETTING}", "false")')
    body += (_source(each, query) for each in query.inputs)
    if query.timed or query.numbered:
        body.append(f'clock(spark, "{query.name}", checkpoint)')
    if query.timed:
        body.append(f'end_of_time(spark, "{query.name}", checkpoint)')
    body += map(_view, query.views)
    body += [_set(name, value) for name, value in settings]
    body.append(_write(query))
    body.append(f'counts = run(spark, writer(), "{query.mode}", checkpoint)')
    if query.timed:
        again = f'counts.update(run(spark, writer(), "{query.mode}", checkpoint))'
        body.append(f"if draining:\n    drain(spark, checkpoint)\n    {again}")
    body += [_set_aside(query, rejects) for rejects in query.rejects]
    names = ", ".join(literal(source.name) for source in query.inputs)
    body.append(f"report({literal(query.output.name)}, counts, [{names}])")
    body.append(CALLS[query.output.connector].end(query))
    if not query.checked:
        body.append(f'spark.conf.set("{CHECK_SETTING}", "true")')
    lines = indent("\n".join(filter(None, body)), "    ")
    return f"def {_function(query)}(spark, checkpoint, kept, draining):\n{lines}\n"


def _set(name: str, value: str | None) -> str:
    if value is None:
        return f"spark.conf.unset({literal(name)})"
    return f"spark.conf.set({literal(name)}, {literal(value)})"


def _function(query: SparkQuery) -> str:
    # A prefix, because a query may be called `run` or `import`.
    return f"query_{query.name}"


def _source(source: Input, query: SparkQuery) -> str:
    read = CALLS[source.connector].read if source.connector in CALLS else None
    if read is None:
        raise CompileError([B002.at(query.span, "", construct=f"a program that reads through {source.connector}")])
    named = f"call_source(rows, {literal(source_name(source.name))}, checkpoint)"
    return f'rows = {read(source)}\n{named}.createOrReplaceTempView("{source.view}")'


def _view(view: AnyView) -> str:
    if isinstance(view, PackedView):
        cuts = f"cuts=[{', '.join(map(str, view.cuts))}]"
        arguments = [literal(view.source), f"length={view.length}", cuts, f"schema={sql_literal(view.schema)}"]
        return _call(view, "packed_view", arguments)
    if isinstance(view, PartialView):
        cuts = f"cuts=[{', '.join(map(str, view.cuts))}]"
        own = [f"length={view.length}", cuts, f"sql={sql_literal(view.sql)}"]
        fields = [f"given=[{_list(view.given)}]", f"kept=[{_list(view.kept)}]", f"schema={sql_literal(view.schema)}"]
        return _call(view, "partial_view", [literal(view.source), *own, *fields])
    if isinstance(view, PaneView):
        order = "None" if view.order is None else sql_literal(view.order)
        return _call(view, "pane_view", [literal(view.source), f"order={order}", *_asked(view)])
    if isinstance(view, BucketView):
        own = [f"order={sql_literal(view.order)}", f"time={literal(view.time)}", f"back={view.back}"]
        own.append("only=None" if view.only is None else f"only={literal(view.only)}")
        return _in_buckets(view, "answer_rows", "remembered BINARY, waiting BINARY", "EventTimeTimeout", own)
    if isinstance(view, LookupView):
        return _in_buckets(view, "look_up_rows", "records BINARY", "NoTimeout", [f"newest={sql_literal(view.newest)}"])
    if isinstance(view, MultisetView):
        return _in_buckets(view, "fold_rows", "counted BINARY", "NoTimeout", [f"fold={sql_literal(view.fold)}"])
    if isinstance(view, SessionView):
        own = [f"merge={sql_literal(view.merge)}"]
        return _in_buckets(view, "merge_sessions", "sessions BINARY", "EventTimeTimeout", own)
    if isinstance(view, RemoteView):
        return f"{look_up(view)}.createOrReplaceTempView({literal(view.name)})"
    extra = ""
    counted = [each for each in view.metrics if ":" in each.name]  # nobody asks how far an input is
    if counted:
        counts = "".join(f"\n        {literal(each.name)}: {literal(each.sql)}," for each in counted)
        extra += f"\n    counts={{{counts}\n    }},"
    if view.watermark is not None:
        extra += f"\n    watermark=({literal(view.watermark.column)}, {view.watermark.delay}),"
    return f'view(\n    spark,\n    "{view.name}",\n    {sql_literal(view.sql)},{extra}\n)'


def _in_buckets(
    view: BucketedView,
    function: str,
    state: str,
    timeout: str,
    own: Sequence[str],
) -> str:
    kept = [f"state={literal(state)}", f"timeout={literal(timeout)}"]
    return _call(view, "bucket_view", [literal(view.source), function, *kept, *own, *_asked(view)])


def _asked(view: PaneView | BucketedView) -> list[str]:
    """What DuckDB is asked last, and what is made of its answer."""
    picked = ", ".join(f"{literal(name)}: {literal(field)}" for name, field in view.picked)
    return [
        *(f"sql={sql_literal(view.sql)}", f"given=[{_list(view.given)}]", f"kept=[{_list(view.kept)}]"),
        *(f"picked={{{picked}}}", f"schema={sql_literal(view.schema)}"),
    ]


def _call(view: AnyView, function: str, arguments: list[str]) -> str:
    rows = f"{function}(\n    spark,\n" + "".join(f"    {each},\n" for each in arguments) + ")"
    return f"{rows}.createOrReplaceTempView({literal(view.name)})"


def _list(names: tuple[str, ...]) -> str:
    return ", ".join(map(literal, names))


def _write(query: SparkQuery) -> str:
    write = CALLS[query.output.connector].write if query.output.connector in CALLS else None
    if write is None:
        construct = f"a program that writes through {query.output.connector}"
        raise CompileError([B002.at(query.span, "", construct=construct)])
    rows = f'settle_sources(spark.table("{query.result}"), checkpoint)'
    return f"def writer():\n    rows = {rows}\n    return {write(query)}\n"


def _set_aside(query: SparkQuery, rejects: Rejects) -> str:
    """Writes the rejected rows of an input beside the folder of the sink, or in the checkpoint if it is kept."""
    counted = f"counts[{literal(f'rejected:{rejects.name}')}]"
    folder = query.rejects_folder
    name = folder_name(rejects.name)
    beside = literal(f"_rejected/{name}" if folder is None else f"/{name}")
    place = f"{'checkpoint' if folder is None else f'absolute(spark, {literal(folder)})'} + {beside}"
    state = literal(f"/rejected/{folder_name(rejects.name)}")
    there = {each.name for each in query.views}
    views = "\n".join(_view(each) for each in rejects.views if each.name not in there)
    body = f"{views}\nset_aside(spark, {literal(rejects.view)}, {place}, checkpoint + {state})"
    return f"if {counted if folder is not None else f'kept and {counted}'}:\n{indent(body, '    ')}"


def _main(program: Program) -> str:
    queries = ", ".join(f"{literal(query.name)}: {_function(query)}" for query in program.queries)
    versions = _list(tuple(map(number_text, list_versions_for(program))))
    return f"""if __name__ == "__main__":
    guard_output()
    main(__doc__, SETTINGS, {{{queries}}}, [{versions}])
"""
