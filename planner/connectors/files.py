"""Folders of files: each new file is read once."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from penstock.diagnostics import Span
from penstock.planner import types
from penstock.planner.connectors.file_formats import check_format, check_null
from penstock.planner.connectors.local_paths import list_read_paths, resolve_path, sees_folder
from penstock.planner.connectors.option import (
    BOOLEAN,
    INTEGER,
    INTERVAL,
    NAME,
    STRING,
    Connector,
    ConnectorOption,
    Metadata,
    OptionType,
    RecordPlace,
)
from penstock.planner.plan import Column, Options

EXAMPLE = "connector = 'files', path = 'data', format = 'json'"
"""Options for hints: a place that every stream and table can have."""


def check(
    options: Options, columns: Sequence[Column], span: Span, *, key: Collection[str], table: bool, written: bool
) -> None:
    """Raises CompileError for columns that files of the format cannot hold."""
    check_format(options, columns, span)
    if written:
        check_null(options, columns, span)


def place(options: Options) -> str:
    """The folder. On this machine it is the real path, however the script writes it."""
    return resolve_path(str(dict(options)["path"]))


def list_places(options: Options) -> tuple[str, ...]:
    """What a reader reads: folders, files and patterns."""
    return list_read_paths(str(dict(options)["path"]))


def has_header(options: Options) -> bool:
    """Whether they are CSV files with names in the first record."""
    given = dict(options)
    return given["format"] == "csv" and bool(given.get("header", True))


FILES = Connector(
    "files",
    "a folder of JSON, CSV or Parquet files",
    reads_stream=True,
    reads_table=True,
    reads_now=True,
    parses_records=True,
    record_place=RecordPlace(
        shown=(("file", "_file", types.STRING),),
        order=(("arrived", "_arrived"), ("file", "_file"), ("line", "_place")),
    ),
    metadata=(
        Metadata("file.path", types.STRING, "path of the file, as `file:/data/orders/1.json`"),
        Metadata("file.name", types.STRING, "name of the file, without its folder"),
        Metadata("file.size", types.BIGINT, "size of the file in bytes"),
        Metadata("file.modification-time", types.TIMESTAMP, "when the file was last written"),
    ),
    appends=True,
    exactly_once=True,
    has_partitions=True,
    check=check,
    place=place,
    list_places=list_places,
    sees=sees_folder,
    has_header=has_header,
    own_options=(
        ConnectorOption(
            "path",
            NAME,
            "folder, file or glob; relative to the current directory",
            required=True,
            identifies=True,
            is_path=True,
        ),
        ConnectorOption(
            "format",
            OptionType("STRING", ("json", "csv", "parquet")),
            "format of the files",
            required=True,
            identifies=True,
        ),
        ConnectorOption("header", BOOLEAN, "csv: whether the first line names the columns", default=True),
        ConnectorOption(
            "multi_line", BOOLEAN, "csv: whether a field in quotes may have line ends; faster without", default=True
        ),
        ConnectorOption(
            "folder_columns", BOOLEAN, "whether folders such as `day=2026-01-01` have values of columns", default=True
        ),
        ConnectorOption("null", STRING, "csv: the text that stands for NULL; empty unless set"),
        ConnectorOption("operation", NAME, "table: one more column; 'delete', 'd' or '-D' in it deletes the row"),
        ConnectorOption("sequence", NAME, "table: the column that is greatest in the newest row of a key"),
        ConnectorOption("retention", INTERVAL, "table: how long its former rows can be asked for, in event time"),
        ConnectorOption(
            "files_per_batch",
            INTEGER,
            "at most so many new files in one micro-batch; all unless set",
            limits_batch=True,
        ),
    ),
)
