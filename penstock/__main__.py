"""`python -m penstock` is the command `penstock`."""

from __future__ import annotations

import atexit
import gc
import sys


def run() -> None:
    """Runs the command in this process, and ends it."""
    if sys.argv[1:2] == ["check"]:
        # It ends at once, and what it loads stays. To look for garbage there would take a fifth of its time.
        gc.disable()
        atexit.register(gc.freeze)

    from penstock.commands.cli import main
    from penstock.diagnostics.terminal import guard_output

    guard_output()
    main(prog_name="penstock")


if __name__ == "__main__":
    run()
