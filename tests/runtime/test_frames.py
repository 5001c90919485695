"""The function that answers panes, as a Spark worker meets it."""

from __future__ import annotations

import subprocess
import sys

from pyspark import cloudpickle

from penstock.codegen import lower
from penstock.codegen.program import PaneView
from penstock.runtime.frames import answerer
from tests.codegen.plans import MINUTE, aggregate, over, query, scan

WORKER = """
import pickle, sys
sys.modules["penstock"] = None
import pyarrow as pa
answer = pickle.loads(bytes.fromhex(sys.argv[1]))
rows = [{"c0": "1", "c1": "a", "c2": 70_000_000, "c3": 7}, {"c0": "0", "c1": "a", "c2": 50_000_000, "c3": 2}]
pane = pa.struct([("c0", pa.string()), ("c1", pa.string()), ("c2", pa.timestamp("us")), ("c3", pa.int64())])
schema = pa.schema([("begin", pa.timestamp("us")), ("pane", pa.list_(pane))])
batch = pa.RecordBatch.from_pylist([{"begin": 60_000_000, "pane": rows}], schema)
print([(row["c0"], row["r0"]) for each in answer(iter([batch])) for row in each.to_pylist()])
"""


def test_it_needs_no_penstock() -> None:
    (lowered,) = lower([query(over(scan(), (aggregate("total", "SUM", "v"), MINUTE)))]).queries
    (view,) = (view for view in lowered.views if isinstance(view, PaneView))
    travelling = cloudpickle.dumps(answerer(view)).hex()  # type: ignore[no-untyped-call]
    worker = subprocess.run([sys.executable, "-c", WORKER, travelling], capture_output=True, text=True, check=False)
    assert (worker.stdout, worker.stderr) == ("[('1', 9)]\n", "")
