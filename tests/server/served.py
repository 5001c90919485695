"""`penstock serve` as a process, and what it prints."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import psycopg

SECONDS = 240


def wait_for(condition: Callable[[], Any], what: str = "") -> Any:
    """The first answer that is true."""
    deadline = time.monotonic() + SECONDS
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline, f"it has not come true: {what}"
        time.sleep(0.1)


class ServedProcess:
    """A server over a state folder. Ports are chosen by the machine."""

    def __init__(self, state: Path, *arguments: str | Path) -> None:
        self.state = state
        command = [sys.executable, "-m", "penstock", "serve", "--state", state, "--pg-port", "0", "--http-port", "0"]
        self.process = subprocess.Popen(
            [*map(str, command), "--master", "local[2]", *map(str, arguments)], stderr=subprocess.PIPE, text=True
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def find(self, pattern: str) -> str:
        """What the first group of a pattern is in the lines that the server prints."""

        def look() -> re.Match[str] | None:
            assert self.process.poll() is None or re.search(pattern, self.text), self.text
            return re.search(pattern, self.text)

        match: re.Match[str] = wait_for(look, pattern)
        return match[1]

    def connect(self) -> psycopg.Connection:
        """A connection by the line that is there to be copied."""
        return psycopg.connect(self.find(r'psql "(.*)"'), autocommit=True)

    def client(self) -> httpx.Client:
        """A client with the operator's token."""
        token = Path(self.find(r"its token is in (\S+)\)")).read_text(encoding="utf-8")
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.find(r"(http://\S+)"), headers=headers, timeout=60)

    def wait_until_ready(self) -> None:
        self.find(r"(engine +ready)")

    def stop(self) -> int:
        """Asks it to stop; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(SECONDS)
        self._reader.join(10)
        return code

    def __enter__(self) -> ServedProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.stop()
