"""Program -> what EXPLAIN SPARK prints: the settings, then each query with its views in the order they are made."""

from __future__ import annotations

from textwrap import indent

from penstock.codegen.program import BucketView, Input, PaneView, Program, SparkQuery, Step


def spark_text(program: Program) -> str:
    """The whole program as text for people; every view's SQL is the text that Spark is given."""
    settings = "\n".join(f"  {name} = {value}" for name, value in program.settings)
    return "\n\n".join([f"settings\n{settings}", *map(_query, program.queries)]) + "\n"


def _query(query: SparkQuery) -> str:
    key = f", newest row per ({', '.join(query.key)})" if query.key else ""
    place = f"{query.output.name} ({query.output.connector})"
    every = "" if query.every is None else f", a micro-batch every {query.every} ms"
    state = "" if query.store is None else f", state in {query.store.value}"
    head = f"query {query.name}: {query.mode} rows of {query.result} to {place}{key}{every}{state}"
    head += "".join(f"\n  {each.name} is idle after {each.idle} ms" for each in query.paced if each.idle is not None)
    parts = [head, *map(_input, query.inputs), *map(_view, query.views)]
    return "\n\n".join([parts[0], *(indent(part, "  ") for part in parts[1:])])


def _input(source: Input) -> str:
    options = "".join(f"\n  {name} = {value}" for name, value in source.options)
    columns = ", ".join(f"{name} {type_}" for name, type_ in source.columns)
    return f"source {source.view}: {source.name} ({source.connector})\n  columns {columns}{options}"


def _view(view: Step) -> str:
    if isinstance(view, PaneView):
        head = f"view {view.name}, by DuckDB over the rows of the panes of {view.source}:"
        lines = [head, indent(view.sql, "  "), f"  and {', '.join(view.kept)} of the row at place"]
        return "\n".join([*lines, *(f"  {name} = {field} of the row at {name}" for name, field in view.picked)])
    if isinstance(view, BucketView):
        rows = f"the rows of {view.source} behind the watermark and the last {view.back} of each pane before"
        head = f"view {view.name}, by DuckDB over {rows}, ordered by"
        lines = [head, indent(view.order, "  "), "  answered by", indent(view.sql, "  ")]
        lines.append(f"  and {', '.join(view.kept)} of the row at place")
        return "\n".join([*lines, *(f"  {name} = {field} of the row at {name}" for name, field in view.picked)])
    lines = [f"view {view.name}:", indent(view.sql, "  ")]
    if view.watermark is not None:
        lines.append(f"  watermark {view.watermark.column}, {view.watermark.delay} ms behind")
    lines += [f"  count {metric.name} = {metric.sql}" for metric in view.metrics]
    return "\n".join(lines)
