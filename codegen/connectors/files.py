"""Folders of JSON, CSV or Parquet files, for ejected programs."""

from __future__ import annotations

from penstock.codegen.program import Input, QueryOutput, SparkQuery
from penstock.codegen.python_literals import keywords, literal, sql_in_line
from penstock.codegen.sql.records import records_of

_OF_FORMATS = {"json": (), "csv": ("header", "multi_line"), "parquet": ()}
"""The options that the reader of a format takes."""


def read(source: Input) -> str:
    """A call of `read_files`."""
    records, format_ = records_of(source), str(source.values["format"])
    taken = ("files_per_batch", *_OF_FORMATS[format_])
    steps = "".join(f"        [{', '.join(map(sql_in_line, step))}],\n" for step in records.steps)
    items = "".join(f"        {sql_in_line(item)},\n" for item in records.items)
    given = [
        "spark",
        _absolute(source),
        f"[{', '.join(literal(name) for name, _ in source.columns)}]",
        *keywords(each for each in source.options if each[0] in taken),
        *(["order=OrderedReader"] if "files_per_batch" in dict(source.options) else []),
        f"read=read_{format_}",
        *([f"place={literal(records.place)}"] if source.ordered else []),
        *([f"schema={literal(records.schema)}"] if records.schema else []),
        *([f"known=[{', '.join(map(literal, records.origin))}]"] if records.origin else []),
        *([f"folders=[{', '.join(map(literal, records.folders))}]"] if records.folders else []),
        f"steps=[\n{steps}    ]",
        f"items=[\n{items}    ]",
        f"malformed={sql_in_line(records.malformed)}",
    ]
    return "read_files(\n" + "".join(f"    {each},\n" for each in given) + ")"


def write(query: SparkQuery) -> str:
    """A call of `write_files`, or of `write_changes` for a table that changes."""
    function = "write_changes" if query.mode == "update" else "write_files"
    given = keywords(each for each in query.output.options if each[0] in ("format", "header", "null"))
    return f"{function}(rows, {', '.join([_absolute(query.output), *given])})"


def _absolute(place: Input | QueryOutput) -> str:
    return f"absolute(spark, {literal(place.folder or '')})"
