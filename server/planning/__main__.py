"""The process that forks: `python -m penstock.server.planning checks`, with a socket as its standard input."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys

from penstock import codegen
from penstock.compilation import compile
from penstock.diagnostics.logs import log_to_stderr
from penstock.diagnostics.terminal import guard_output
from penstock.server.planning.fork_server import ForkServer, Planner


def make_planner(kind: str) -> Planner:
    """The planner of a kind: `checks` of the doors, `statements` of the engine."""
    if kind == "checks":
        from penstock.server.planning.checks import CheckPlanner

        return CheckPlanner()
    from penstock.server.planning.statement_planner import StatementPlanner

    return StatementPlanner()


WARM = """CREATE STREAM a (k BIGINT KEY, s STRING, t TIMESTAMP, WATERMARK FOR t AS t - INTERVAL '1' SECOND)
WITH (connector = 'files', path = 'a', format = 'json');
CREATE TABLE b AS SELECT s, window_start, COUNT(*) AS n FROM TUMBLE(a, t, INTERVAL '1' HOUR) GROUP BY s, window_start"""


def warm_up() -> None:
    """Plans something, so that what is loaded at the first use is there when processes are forked."""
    compilation = compile(WARM)
    codegen.lower(compilation.queries, compilation.settings)


def main() -> int:
    """Serves until the other end of standard input is closed."""
    guard_output()
    log_to_stderr(logging.INFO, "%(asctime)s %(levelname)s %(name)s: %(message)s")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which closes the socket
    plug = socket.socket(fileno=os.dup(0))
    warm_up()
    ForkServer(plug, make_planner(sys.argv[1])).serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
