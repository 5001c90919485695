"""A script of Flink SQL in streaming mode, to the end of its input: `flink.py SCRIPT OUT [JARS [NAME=VALUE...]]`."""

from __future__ import annotations

import sys
from pathlib import Path

from pyflink.common import Configuration
from pyflink.table import EnvironmentSettings, TableEnvironment

SETTINGS = {
    "parallelism.default": "2",
    "pipeline.object-reuse": "true",
    "table.local-time-zone": "UTC",
    "state.backend.type": "hashmap",
    # As often as Spark makes one: about once for each file.
    "execution.checkpointing.interval": "3 s",
    # A program that fails has failed.
    "restart-strategy.type": "none",
    # No two rows of the join have the same key, so nothing is kept to tell which one comes last.
    "table.exec.sink.require-on-conflict": "false",
    "table.exec.sink.upsert-materialize": "NONE",
    "execution.checkpointing.dir": "",
}


def main(script: str, out: str, jars: str = "", *more: str) -> None:
    """Run every statement; the INSERT ends with its input.

    `jars`: paths of connectors, with commas between. `more`: settings that go before those of this program.
    """
    settings = SETTINGS | {"execution.checkpointing.dir": f"file://{Path(out).parent}/checkpoints"}
    settings |= dict(each.split("=", 1) for each in more)
    if jars:
        settings["pipeline.jars"] = ";".join(f"file://{jar}" for jar in jars.split(","))
    configuration = Configuration()
    for name, value in settings.items():
        configuration.set_string(name, value)
    builder = EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(configuration)
    environment = TableEnvironment.create(builder.build())
    for statement in Path(script).read_text(encoding="utf-8").split(";\n"):
        if statement.strip():
            result = environment.execute_sql(statement)
    result.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
