"""Scripts over topics, and runs of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from examples.kafka.broker import Broker
from penstock.compilation import compile
from penstock.runtime import QueryReport, RuntimeSession


def place(broker: Broker, topic: str, **options: str) -> str:
    """The options of a topic with values in JSON, unless `options` say otherwise; their values are SQL."""
    given = {"topic": f"'{topic}'", "format": "'json'", "bootstrap_servers": f"'{broker.servers}'", **options}
    return "connector = 'kafka', " + ", ".join(f"{name} = {value}" for name, value in given.items())


def run(spark: SparkSession, sql: str, checkpoint: Path | None = None, *, drain: bool = False) -> list[QueryReport]:
    """Runs a script to the end of what is there now, as a process of its own would."""
    with RuntimeSession(spark.newSession(), None if checkpoint is None else str(checkpoint)) as session:
        return session.run_once(compile(sql).program, drain=drain)


def rows_in_memory(spark: SparkSession, sql: str, name: str, *, drain: bool = False) -> list[dict[str, Any]]:
    """The rows that a script leaves in a memory sink."""
    with RuntimeSession(spark.newSession()) as session:
        session.run_once(compile(sql).program, drain=drain)
        return session.rows(name)


def read_json(folder: Path) -> list[dict[str, Any]]:
    """The rows of a folder of JSON files."""
    files = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def values(*rows: Any, partition: int = 0, **more: Any) -> Iterable[dict[str, Any]]:
    """Records of a partition with values in JSON; a text is one as it stands."""
    for row in rows:
        value = row if isinstance(row, bytes) or row is None else json.dumps(row).encode()
        yield {"value": value, "partition": partition, **more}
