"""The functions that pack rows and answer panes, as a Spark worker meets them."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

from pyspark import cloudpickle

from penstock.codegen import lower
from penstock.codegen.program import PackedView, PaneView
from penstock.runtime.query.worker_frames import compute_frame
from penstock.runtime.spark.shipping import ship_kit
from tests.codegen.plans import MINUTE, aggregate, over, query, scan

WORKER = """
import pickle, sys
sys.modules["penstock"] = None
import pyarrow as pa
pack, answer = (pickle.loads(bytes.fromhex(text)) for text in sys.argv[1:])
rows = [{"c0": "1", "c1": "a", "c2": 70_000_000, "c3": 7}, {"c0": "0", "c1": "a", "c2": 50_000_000, "c3": 2}]
row = pa.struct([("c0", pa.string()), ("c1", pa.string()), ("c2", pa.timestamp("us")), ("c3", pa.int64())])
schema = pa.schema([("bucket", pa.int32()), ("time", pa.timestamp("us")), ("row", row)])
records = [{"bucket": 3, "time": each["c2"], "row": each} for each in rows]
tables = [table for each in pack(iter([pa.RecordBatch.from_pylist(records, schema)])) for table in each.to_pylist()]
assert [(each["bucket"], each["time"].second) for each in tables] == [(3, 50), (3, 10)]
schema = pa.schema([("begin", pa.timestamp("us")), ("bucket", pa.int32()), ("tables", pa.list_(pa.binary()))])
pane = {"begin": 60_000_000, "bucket": 3, "tables": [each["rows"] for each in tables]}
batch = pa.RecordBatch.from_pylist([pane], schema)
print([(row["c0"], row["r0"]) for each in answer(iter([batch])) for row in each.to_pylist()])
"""


def test_it_needs_no_penstock() -> None:
    (lowered,) = lower([query(over(scan(), (aggregate("total", "SUM", "v"), MINUTE)))]).queries
    (tables,) = (view for view in lowered.views if isinstance(view, PackedView))
    (panes,) = (view for view in lowered.views if isinstance(view, PaneView))
    rows = SimpleNamespace(mapInArrow=lambda function, schema: function)
    spark: Any = SimpleNamespace(table=lambda name: rows, sql=lambda text: SimpleNamespace(schema=None))
    functions = (compute_frame(spark, tables), compute_frame(spark, panes))
    ship_kit()
    travelling = [cloudpickle.dumps(each).hex() for each in functions]  # type: ignore[no-untyped-call]
    worker = subprocess.run([sys.executable, "-c", WORKER, *travelling], capture_output=True, text=True, check=False)
    assert (worker.stdout, worker.stderr) == ("[('1', 9)]\n", "")
