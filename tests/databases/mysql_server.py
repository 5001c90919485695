"""A MariaDB for tests, with its data in a folder of its own."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pymysql

SCRIPTS = Path("/usr/share/mysql")
ARGUMENTS = ("--no-defaults", "--skip-log-bin", "--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=0")
TEXTS = ("--character-set-server=utf8mb4", "--collation-server=utf8mb4_nopad_bin")


class MysqlConnection:
    """A connection that commits each statement, with the methods that drivers of other databases have."""

    def __init__(self, url: str) -> None:
        user, _, rest = url.removeprefix("mysql://").partition("@")
        address, _, database = rest.partition("/")
        host, _, port = address.partition(":")
        modes = "SET SESSION sql_mode = 'ANSI_QUOTES,STRICT_ALL_TABLES', time_zone = '+00:00'"
        self._connection = pymysql.connect(
            host=host, port=int(port), user=user, database=database or None, autocommit=True, init_command=modes
        )

    def execute(self, text: str) -> Any:
        cursor = self._connection.cursor()
        cursor.execute(adapt(text))
        return cursor

    def close(self) -> None:
        self._connection.close()


def adapt(text: str) -> str:
    """What tests say to all databases, as MySQL has it. Its texts without a length are no keys."""
    if re.match("CREATE TABLE", text):
        text = re.sub(r"\bTEXT\b", "VARCHAR(255)", text)
    text = re.sub(r"ALTER COLUMN (\w+) TYPE", r"MODIFY \1", text)
    return text.replace(", rows FROM penstock_ledger", ', "rows" FROM penstock_ledger')


def find_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


def find_program() -> str | None:
    """The server, which Debian has where only root looks."""
    return shutil.which("mariadbd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@contextmanager
def run_server(folder: Path, *more: str) -> Iterator[str]:
    """The URL of a server that ends with the context."""
    program = find_program()
    assert program is not None, "it is asked for before"
    user = ["--user=root"] if os.geteuid() == 0 else []
    data = folder / "data"
    data.mkdir()
    started = [program, *ARGUMENTS, f"--datadir={data}", *user]
    scripts = [SCRIPTS / name for name in ("mysql_system_tables.sql", "mysql_system_tables_data.sql")]
    first = "CREATE DATABASE mysql;\nUSE mysql;\n" + "".join(each.read_text(encoding="utf-8") for each in scripts)
    subprocess.run([*started, "--bootstrap"], input=first, text=True, check=True, capture_output=True)
    port = find_port()
    own = [f"--port={port}", "--bind-address=127.0.0.1", f"--socket={folder / 'socket'}", "--skip-name-resolve"]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen([*started, *own, *TEXTS, *more], stdout=log, stderr=log)
    url = f"mysql://root@127.0.0.1:{port}/"
    try:
        wait_for_server(url)
        yield url
    finally:
        server.kill()  # nobody reads its data again
        server.wait(60)


def wait_for_server(url: str) -> None:
    """Returns when the server answers."""
    until = time.monotonic() + 60
    while True:
        try:
            MysqlConnection(url).close()
            return
        except pymysql.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
