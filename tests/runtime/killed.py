"""A process to be killed: reads a folder of JSON files, one per batch, into a files sink, from a checkpoint."""

import sys
from pathlib import Path
from typing import Any

from pyspark import SparkContext

from penstock.runtime import connect
from tests.runtime.programs import Place

if __name__ == "__main__":
    root = Path(sys.argv[1])
    place = Place(root, (("format", "json"), ("files_per_batch", 1)))
    kept = place.kept(connector="files", path=str(root / "kept"), format="json")
    windows = place.windows(connector="files", path=str(root / "windows"), format="json")
    with connect("local[2]", checkpoint=str(root / "checkpoint")) as session:
        print("started", flush=True)
        for program in (kept, windows):
            for report in session.run_once(program, drain=True, progress=lambda _: print("batch", flush=True)):
                for source in report.inputs:
                    print(source.read == source.rejected + source.late + source.filtered + source.used, flush=True)
    state: Any = SparkContext._gateway.jvm.org.apache.spark.sql.execution.streaming.state  # type: ignore[union-attr]
    stores = getattr(getattr(state, "StateStore$"), "MODULE$")
    print("state stores are", "open" if stores.isMaintenanceRunning() else "closed")
