"""The process of the engine. Its first line of standard input says what to do; at the end of that input it stops."""

from __future__ import annotations

import logging
import signal
import sys
import threading
import time

import psycopg

from penstock.diagnostics import CompileError, render
from penstock.diagnostics.logs import log_to_stderr
from penstock.diagnostics.terminal import guard_output
from penstock.runtime import RunError
from penstock.server.running.engine_process import EngineProcess
from penstock.server.running.settings import REFUSED, EngineSettings

FAILED = 3
BEAT_SECONDS = 2


def main() -> int:
    """Runs the engine. Exit codes: 0 stopped, 3 Spark or PostgreSQL failed, 4 a file was refused."""
    guard_output()
    log_to_stderr(logging.INFO, "%(asctime)s %(levelname)s %(name)s: %(message)s")
    settings = EngineSettings.from_json(sys.stdin.readline())
    stopping = threading.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: stopping.set())
    threading.Thread(target=wait_for_end, args=(stopping,), daemon=True).start()
    try:
        with settings.connect() as db:
            threading.Thread(target=beat, args=(settings, stopping), daemon=True).start()
            EngineProcess(settings, db).run(stopping)
    except (CompileError, RunError) as error:
        for finding in error.diagnostics:
            print(render(finding, color=False), file=sys.stderr)
        return REFUSED if isinstance(error, CompileError) else FAILED
    except psycopg.Error as error:
        logging.error("PostgreSQL: %s", str(error).strip())
        return FAILED
    return 0


def wait_for_end(stopping: threading.Event) -> None:
    """Sets the event when the server's process has ended, however it ended."""
    sys.stdin.read()
    stopping.set()


def beat(settings: EngineSettings, stopping: threading.Event) -> None:
    """Tells the doors that the engine lives, also while it runs a long statement."""
    while not stopping.wait(BEAT_SECONDS):
        try:
            with settings.connect() as db:
                while not stopping.wait(BEAT_SECONDS):
                    db.execute("UPDATE penstock.engine SET seen = now() WHERE state <> 'STOPPED'")
        except psycopg.Error:
            time.sleep(BEAT_SECONDS)


sys.exit(main())
