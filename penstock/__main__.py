"""`python -m penstock` is the command `penstock`."""

from __future__ import annotations

import atexit
import gc
import sys


def run() -> None:
    """Runs the command in this process, and ends it."""
    if sys.argv[1:2] in (["check"], ["test"]):
        # What they load stays. To look for garbage there would take a fifth of their time. A check ends at once, and
        # `test` looks for garbage again when it runs tests.
        gc.disable()
        atexit.register(gc.freeze)

    from penstock.commands.cli import main
    from penstock.diagnostics.terminal import guard_output

    guard_output()
    main(prog_name="penstock")


if __name__ == "__main__":
    run()
