"""The time of a process tree, also of processes that outlive the one that started them; digests of answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.answers import Answer, answer, columns_of

BUSY = "import time\nwhile time.process_time() < 0.5: pass"
# The first process ends at once, the one that it has started works on.
ORPHAN = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {BUSY!r}])"
MEASURED = f"""
import sys
from pathlib import Path
from bench.measure import adopt_orphans, measure
adopt_orphans()
cost = measure([sys.executable, "-c", {ORPHAN!r}], Path("."), {{}}, Path(sys.argv[1]))
assert cost.cpu >= 0.5, cost
try:
    measure([sys.executable, "-c", "raise SystemExit(3)"], Path("."), {{}}, Path(sys.argv[1]))
except RuntimeError as error:
    assert "ended with 3" in str(error)
else:
    raise AssertionError
"""


def test_time_of_orphans_counts(tmp_path: Path) -> None:
    # In a process of its own, which can make itself the parent of orphans without consequences for this one.
    subprocess.run([sys.executable, "-c", MEASURED, str(tmp_path / "log")], check=True)


def test_answers_are_multisets(tmp_path: Path) -> None:
    columns = columns_of("CREATE VIEW v AS SELECT 1 AS n;\nSELECT n::BIGINT AS n, 0.1::DOUBLE AS x, 'a' AS t FROM v;")
    assert columns == {"n": "BIGINT", "x": "DOUBLE", "t": "VARCHAR"}

    def found(name: str, *parts: str) -> Answer:
        (tmp_path / name).mkdir()
        for number, text in enumerate(parts):
            (tmp_path / name / f"part-{number}").write_text(text)
        return answer(tmp_path / name, columns)

    one = found("one", "1,0.1,a\n2,0.30000000000000004,b\n1,0.1,a\n", "")
    assert one == found("two", "2,0.3,b\n", "1,0.1,a\n1,1e-1,a\n")
    assert one != found("fewer", "1,0.1,a\n2,0.3,b\n")
    assert one != found("other", "1,0.1,a\n2,0.3,b\n2,0.3,b\n")
    assert found("empty", "") == Answer(0, 0)
