"""Folders of files: each new file is read once."""

from penstock.planner.connectors.option import BOOLEAN, INTEGER, STRING, Connector, ConnectorOption, OptionType

FILES = Connector(
    "files",
    "a folder of JSON, CSV or Parquet files",
    reads=True,
    writes=True,
    built=True,
    options=(
        ConnectorOption("path", STRING, "folder, file or glob; relative to the current directory", required=True),
        ConnectorOption(
            "format", OptionType("STRING", ("json", "csv", "parquet")), "format of the files", required=True
        ),
        ConnectorOption("header", BOOLEAN, "csv: whether the first line names the columns; TRUE unless set"),
        ConnectorOption("null", STRING, "csv: the text that stands for NULL; empty unless set"),
        ConnectorOption("files_per_batch", INTEGER, "at most so many new files in one micro-batch; all unless set"),
        ConnectorOption("partitions", INTEGER, "number of partitions by the key"),
    ),
)
