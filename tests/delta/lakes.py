"""Tables of Delta Lake for tests, and a reader of them that knows only JSON and Parquet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.kit.delta.delta_table import DeltaTarget
from penstock.kit.delta.delta_writer import DeltaPolicy, DeltaWriter

HASTY = DeltaPolicy(attempts=4, backoff_ms=1, max_delay_ms=2, max_rejected=5)
COLUMNS = (("k", "BIGINT", False), ("v", "BIGINT", True), ("s", "STRING", True))
QUERY = "0f0e"


def target_of(path: Path, **changed: Any) -> DeltaTarget:
    """The declaration of a table of COLUMNS with the key `k`, which is made if it is missing."""
    return DeltaTarget(**{"path": str(path), "columns": COLUMNS, "key": ("k",), "create": True, **changed})


def open_writer(target: DeltaTarget, policy: DeltaPolicy = HASTY) -> DeltaWriter:
    """A writer that may write from now on."""
    writer = DeltaWriter(target, "q", policy, by_key=bool(target.key))
    writer.check()
    writer.open(QUERY, "rows")
    return writer


def rows_of(*rows: tuple[Any, ...]) -> pa.Table:
    """Rows of COLUMNS."""
    return pa.table([[row[place] for row in rows] for place in range(3)], schema=SCHEMA)


SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.int64()), ("s", pa.string())])


def list_actions(path: Path) -> list[dict[str, Any]]:
    """All actions of the log, commit by commit. Checkpoints are not read."""
    commits = sorted((path / "_delta_log").glob("*.json"))
    return [json.loads(line) for commit in commits for line in commit.read_text(encoding="utf-8").splitlines()]


def read_by_hand(path: Path) -> list[dict[str, Any]]:
    """The rows of the newest version, by the log alone: files that were added and not removed."""
    files: dict[str, dict[str, str | None]] = {}
    types: dict[str, str] = {}
    for action in list_actions(path):
        if "metaData" in action:
            fields = json.loads(action["metaData"]["schemaString"])["fields"]
            types = {field["name"]: str(field["type"]) for field in fields}
        if "add" in action:
            files[action["add"]["path"]] = action["add"]["partitionValues"]
        if "remove" in action:
            del files[action["remove"]["path"]]
    rows = []
    for file, partition in files.items():
        values = {name: read_value(types[name], text) for name, text in partition.items()}
        with pq.ParquetFile(path / unquote(file)) as parquet:
            rows += [row | values for row in parquet.read().to_pylist()]
    return rows


def read_value(type_: str, text: str | None) -> Any:
    """A value of a partition, which the log has as text."""
    if not text:
        return None
    return int(text) if type_ in ("byte", "short", "integer", "long") else text


def held(path: Path) -> list[tuple[Any, ...]]:
    """The rows of COLUMNS in order, as the log has them."""
    return sorted(((row["k"], row["v"], row["s"]) for row in read_by_hand(path)), key=repr)
