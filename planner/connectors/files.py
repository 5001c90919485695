"""Folders of files: each new file is read once."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.diagnostics import CompileError, Span
from penstock.diagnostics.codes.connectors import C009
from penstock.planner.connectors.option import (
    BOOLEAN,
    INTEGER,
    INTERVAL,
    NAME,
    STRING,
    Connector,
    ConnectorOption,
    OptionType,
    Value,
)
from penstock.planner.plan import Column

# The types that a format has no way to write down, by the word with which they begin.
UNHELD = {
    "csv": ("ARRAY", "MAP", "STRUCT", "BINARY", "INTERVAL"),
    "json": ("INTERVAL",),
    "parquet": ("INTERVAL",),
}

FILES = Connector(
    "files",
    "a folder of JSON, CSV or Parquet files",
    reads=True,
    writes=True,
    built=True,
    options=(
        ConnectorOption("path", NAME, "folder, file or glob; relative to the current directory", required=True),
        ConnectorOption(
            "format", OptionType("STRING", ("json", "csv", "parquet")), "format of the files", required=True
        ),
        ConnectorOption("header", BOOLEAN, "csv: whether the first line names the columns; TRUE unless set"),
        ConnectorOption("null", STRING, "csv: the text that stands for NULL; empty unless set"),
        ConnectorOption("operation", NAME, "table: one more column; 'delete', 'd' or '-D' in it deletes the row"),
        ConnectorOption("sequence", NAME, "table: the column that is greatest in the newest row of a key"),
        ConnectorOption("retention", INTERVAL, "table: how long its former rows can be asked for, in event time"),
        ConnectorOption("files_per_batch", INTEGER, "at most so many new files in one micro-batch; all unless set"),
        ConnectorOption("partitions", INTEGER, "number of partitions by the key"),
    ),
)


def unheld(format_: str, columns: Iterable[Column]) -> Column | None:
    """A column that files of the format can not hold, None if they can hold all."""
    return next((each for each in columns if str(each.type).startswith(UNHELD.get(format_, ()))), None)


def check_format(options: tuple[tuple[str, Value], ...], columns: Iterable[Column], span: Span) -> None:
    """Raises CompileError for a column that the files' format can not hold."""
    format_ = str(dict(options).get("format"))
    column = unheld(format_, columns)
    if column is not None:
        found = C009.at(span, "", format=format_, column=column.name, type=column.type)
        raise CompileError([found.with_hint(f"CAST({column.name} AS STRING), or another format")])
