"""How long `penstock test` takes for a thousand tests of a script with a join, a table and a window.

    python -m bench.script_tests [TESTS]

The script and the test are the first ones of docs/testing.md.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from pathlib import Path

from penstock.diagnostics import Source
from penstock.testing.run_case import run_source

PAGE = Path(__file__).parents[1] / "docs" / "testing.md"


def measure(tests: int) -> tuple[float, float]:
    """The seconds and the CPU seconds of so many tests, without the start of Python."""
    script, test, *_ = re.findall(r"```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "orders.sql").write_text(script, encoding="utf-8")
        begun, used = time.perf_counter(), time.process_time()
        results = run_source(Source("orders_test.sql", test * tests), Path(folder))
        assert len(results) == tests
        assert all(result.passes for result in results)
        return time.perf_counter() - begun, time.process_time() - used


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    seconds, cpu = measure(count)
    print(f"{count:,} tests: {seconds:.1f} s, {cpu:.1f} CPU seconds, {1000 * cpu / count:.1f} ms each")
