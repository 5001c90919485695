"""Prints how large the code is, and what one join of two streams takes from text to program.

    python -m tests.house.evidence [CHECKOUT]

Another checkout is measured with the packages that are installed here.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

ROOMS = ("kit", "grammar", "parser", "diagnostics", "planner", "evaluator", "codegen", "runtime", "penstock")
ROUNDS = 30
JOIN = """
CREATE STREAM orders (id BIGINT, placed TIMESTAMP, price DECIMAL(10, 2),
  WATERMARK FOR placed AS placed - INTERVAL 1 MINUTE)
WITH (connector = 'files', path = 'orders', format = 'json');
CREATE STREAM payments (order_id BIGINT, paid TIMESTAMP, amount DECIMAL(10, 2),
  WATERMARK FOR paid AS paid - INTERVAL 1 MINUTE)
WITH (connector = 'files', path = 'payments', format = 'json');
CREATE STREAM settled AS
SELECT STREAM o.id, o.placed, p.paid, o.price - p.amount AS rest
FROM orders AS o JOIN payments AS p ON o.id = p.order_id AND p.paid BETWEEN o.placed AND o.placed + INTERVAL 10 MINUTES
WHERE o.price > 0;
"""


def count_lines(root: Path, room: str) -> int:
    """The lines of a room's modules; links to other rooms are not followed."""
    files = [file for file in (root / room).rglob("*.py") if not any(up.is_symlink() for up in file.parents)]
    return sum(len(file.read_text().splitlines()) for file in files)


def trace_calls(root: Path, run: Callable[[], object]) -> tuple[int, int, int]:
    """How many calls of the project's functions `run` makes, of how many functions, in how many files."""
    calls: list[tuple[str, int]] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(str(root)) and "site-packages" not in file:
            calls.append((file, frame.f_code.co_firstlineno))

    sys.setprofile(note)
    run()
    sys.setprofile(None)
    return len(calls), len(set(calls)), len({file for file, _ in calls})


def main() -> None:
    """Prints the figures as a table."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    sys.path.insert(0, str(root))
    import penstock

    sizes = {room: count_lines(root, room) for room in ROOMS}
    for room, lines in sizes.items():
        print(f"{room:<28}{lines:>8,} lines")
    print(f"{'planner, codegen, runtime':<28}{sum(sizes[room] for room in ROOMS[4:7]):>8,} lines")
    penstock.compile(JOIN)
    calls, functions, files = trace_calls(root, lambda: penstock.compile(JOIN).program)
    print(f"{'a join, text to program':<28}{calls:>8,} calls of {functions:,} functions in {files} files")
    taken: dict[str, list[float]] = {"text to plan": [], "plan to program": []}
    for _ in range(ROUNDS):
        begin = time.process_time()
        compiled = penstock.compile(JOIN)
        planned = time.process_time()
        _ = compiled.program
        taken["text to plan"].append(planned - begin)
        taken["plan to program"].append(time.process_time() - planned)
    for stage, seconds in taken.items():
        print(f"{stage:<28}{statistics.median(seconds) * 1000:>8.1f} ms of CPU, median of {ROUNDS}")


if __name__ == "__main__":
    main()
