"""Program -> what EXPLAIN SPARK prints: the settings, then each query with its views in the order they are made."""

from __future__ import annotations

from textwrap import indent

from penstock.codegen.program import (
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
    RemoteView,
    SessionView,
    SparkQuery,
    View,
)
from penstock.planner.plan import DEFAULTS


def spark_text(program: Program) -> str:
    """The whole program as text for people; every view's SQL is the text that Spark is given."""
    settings = "\n".join(f"  {name} = {value}" for name, value in program.settings)
    queries = (_query(query, program) for query in program.queries)
    return "\n\n".join([f"settings\n{settings}", *queries]) + "\n"


def _query(query: SparkQuery, program: Program) -> str:
    key = f", newest row per ({', '.join(query.key)})" if query.key else ""
    place = f"{query.output.name} ({query.output.connector})"
    is_usual = query.interval == DEFAULTS.trigger_interval
    every = "" if is_usual else f", a micro-batch every {query.interval} ms"
    every += "" if query.real_time is None else f", in real time, committed every {query.real_time} ms"
    state = "" if query.store is None else f", state in {query.store.value}"
    if query.store is not None and str(query.partitions) != program.state_partitions:
        state += f", in {query.partitions} partitions"
    head = f"query {query.name}: {query.mode} rows of {query.result} to {place}{key}{every}{state}"
    head += "".join(
        f"\n  {each.name} is idle after {each.idle} ms" for each in query.watermark_inputs if each.idle is not None
    )
    parts = [head, *map(_input, query.inputs), *map(_view, query.views), *_change(query)]
    return "\n\n".join([parts[0], *(indent(part, "  ") for part in parts[1:])])


def _change(query: SparkQuery) -> list[str]:
    """How the rows change a table that others own, if they do."""
    change = query.change
    if change is None:
        return []
    order = "" if change.order is None else f", ordered by {change.order}"
    text = f"{change.kind} rows of {query.output.name} by ({', '.join(change.key)}){order}"
    if change.kind == "update":
        text += f"\n  set {', '.join(change.assigned)}"
    if change.inserted is not None:
        text += f"\n  of a new row {', '.join(change.inserted) or 'nothing'}"
    if change.fold is not None:
        text += f"\n  computed, with {', '.join(change.current)} of the row as it is, by\n{indent(change.fold, '    ')}"
    if change.sums is not None:
        sums = [f"{name} + {column}" for name, column in change.sums.added]
        sums += [f"{name} - {column}" for name, column in change.sums.subtracted]
        text += f"\n  or, where the database adds exactly, as {', '.join(sums)}"
    return [text]


def _input(source: Input) -> str:
    options = "".join(f"\n  {name} = {value}" for name, value in source.options)
    columns = ", ".join(f"{name} {type_}" for name, type_ in source.columns)
    metadata = "".join(f"\n  metadata {name} = {key}" for name, key in source.metadata)
    return f"source {source.view}: {source.name} ({source.connector})\n  columns {columns}{metadata}{options}"


def _view(view: AnyView) -> str:
    match view:
        case PackedView():
            return _packed_text(view)
        case PartialView():
            return _partial_text(view)
        case PaneView():
            rows = f"the rows of the panes of {view.source}"
            return _by_duckdb(view, rows if view.order is None else f"{rows}, ordered by", view.order)
        case BucketView():
            last = f"{view.back}" if view.only is None else f"{view.back} with {view.only}"
            rows = f"the rows of {view.source} behind the watermark and the last {last} of each pane before"
            return _by_duckdb(view, f"{rows}, ordered by", view.order)
        case LookupView():
            rows = f"the rows of {view.source} and the upserts that are kept"
            return _by_duckdb(view, f"{rows}, narrowed to", view.newest)
        case MultisetView():
            rows = f"the rows of {view.source} and the rows that are kept"
            return _by_duckdb(view, f"{rows}, which add up to", view.fold)
        case SessionView():
            rows = f"the rows of {view.source} and the sessions that are kept"
            return _by_duckdb(view, f"{rows}, which become", view.merge)
        case RemoteView():
            return _remote_text(view)
        case View():
            return _view_text(view)


def _partial_text(view: PartialView) -> str:
    kept = f"\n  and {', '.join(view.kept)} of the row at place" if view.kept else ""
    return f"{_packed_text(view)}, each with what DuckDB answers\n{indent(view.sql, '  ')}{kept}"


def _packed_text(view: PackedView | PartialView) -> str:
    text = f"view {view.name}, the rows of {view.source} in tables"
    if not view.cuts:
        return text
    cuts = " and ".join(f"{cut} us" for cut in view.cuts)
    return f"{text}, cut at {cuts} and every {view.length} us from there"


def _by_duckdb(view: PaneView | BucketedView, rows: str, first: str | None) -> str:
    lines = [f"view {view.name}, by DuckDB over {rows}{'' if first else ':'}"]
    if first is not None:
        lines += [indent(first, "  "), "  answered by"]
    lines.append(indent(view.sql, "  "))
    lines += [f"  and {', '.join(view.kept)} of the row at place"] if view.kept else []
    return "\n".join([*lines, *(f"  {name} = {field} of the row at {name}" for name, field in view.picked)])


def _remote_text(view: RemoteView) -> str:
    rows = "the rows" if view.outer else "those rows"
    there = "" if view.outer else ", where it is there"
    key = " and ".join(f"{column} = {value}" for column, value in view.key)
    options = "".join(f"\n  {name} = {value}" for name, value in view.options)
    picked = "".join(f"\n  {name} = {column} of that row" for name, column in view.picked)
    if view.any_row is not None:
        picked += f"\n  {view.any_row} = whether {view.table} has any row, known where a value of its key is NULL"
    return f"view {view.name}, {rows} of {view.source} and the row of {view.table} with {key}{there}{options}{picked}"


def _view_text(view: View) -> str:
    lines = [f"view {view.name}:", indent(view.sql, "  ")]
    if view.watermark is not None:
        lines.append(f"  watermark {view.watermark.column}, {view.watermark.delay} ms behind")
    lines += [f"  count {metric.name} = {metric.sql}" for metric in view.metrics]
    return "\n".join(lines)
