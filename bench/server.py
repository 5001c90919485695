"""A PostgreSQL of Debian or on the PATH, with default settings, on a socket in a folder of its own or on a port."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    """A server that runs. `folder` has its socket. `port`: at which it listens on this machine, if it does."""

    def __init__(self, folder: Path, port: int | None = None) -> None:
        self.folder, self.port = folder, port
        self._data = folder / "data"

    def url(self, database: str) -> str:
        """The address of a database."""
        if self.port is not None:
            return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def cpu_seconds(self) -> float:
        """User and system time of the server, with all of its processes that have ended."""
        pid = int((self._data / "postmaster.pid").read_text().splitlines()[0])
        total = 0
        for process in [pid, *_children(pid)]:
            try:
                times = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:15]
            except FileNotFoundError:
                continue
            total += sum(map(int, times))
        return total / _TICKS


def _children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@contextmanager
def serve_postgres(folder: Path, port: int | None = None) -> Iterator[Server]:
    """Starts a new server, and stops it at the end. For root it runs as the user `postgres`, as it refuses root.

    `port`: where it listens on this machine. Without one there is only the socket.
    """
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    postgres = shutil.which("initdb") or (str(programs[-1] / "initdb") if programs else None)
    if postgres is None:
        sys.exit("there is no PostgreSQL: install the package postgresql, or put its programs on the PATH")
    programs_folder = Path(postgres).resolve().parent
    user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    folder.mkdir(parents=True, exist_ok=True)
    if user:
        shutil.chown(folder, "postgres")
        folder.parent.chmod(0o755)
    server = Server(folder, port)
    listening = "-h ''" if port is None else f"-h 127.0.0.1 -p {port}"

    def call(*command: str) -> None:
        subprocess.run([*user, *command], check=True, cwd="/", stdout=subprocess.DEVNULL)

    call(f"{programs_folder}/initdb", "-D", f"{folder}/data", "-U", "postgres", "-A", "trust", "-E", "UTF8")
    control = (f"{programs_folder}/pg_ctl", "-w", "-D", f"{folder}/data", "-l", f"{folder}/log")
    call(*control, "-o", f"{listening} -k {folder}", "start")
    try:
        yield server
    finally:
        call(*control, "-m", "immediate", "stop")
