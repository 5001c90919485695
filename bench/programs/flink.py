"""A script of Flink SQL, run in streaming mode to the end of its files: `flink.py SCRIPT OUT`."""

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
    "execution.checkpointing.dir": "",
}


def main(script: str, out: str) -> None:
    """Run every statement; the INSERT ends with its input."""
    settings = SETTINGS | {"execution.checkpointing.dir": f"file://{Path(out).parent}/checkpoints"}
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
