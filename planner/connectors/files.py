"""Folders of files: each new file is read once."""

from __future__ import annotations

from penstock.planner.connectors.option import (
    BOOLEAN,
    INTEGER,
    INTERVAL,
    NAME,
    STRING,
    Connector,
    ConnectorOption,
    OptionType,
)

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
