"""Installs the clients that `make setup` does not, for campaigns: `python -m tests.server.clients.install`.

Each comes from the registry of its language, by the ordinary client of that registry. What is installed stays.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[3] / ".venv" / "clients"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "penstock"

PYTHON = ("psycopg2-binary==2.9.13", "pyodbc==5.5.0", "adbc-driver-manager==1.13.0", "adbc-driver-postgresql==1.13.0")
NODE = ("pg@8.23.1", "pg-cursor@2.22.0", "pg-query-stream@4.17.0")
AXE = ("axe-core@4.14.1",)
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
JDBC = "org.postgresql:postgresql:42.7.8"
# Debian keeps one version of each package in a release.
DEBIAN = ("odbc-postgresql=1:13.02*", "libodbc2=2.3.11*", "libodbcinst2=2.3.11*", "libltdl7=2.4.7*")
SUPERSET_PINS = Path(__file__).with_name("superset.txt")


@dataclass(frozen=True)
class Client:
    """What is installed together into a folder of its own. `needs`: programs that have to be there."""

    needs: tuple[str, ...]
    versions: tuple[str, ...]
    fetch: Callable[[Path], None]
    parent: Path = FOLDER

    @property
    def missing(self) -> list[str]:
        """The programs that it needs and that are not there."""
        return [name for name in self.needs if shutil.which(name) is None]


def fetch_python(folder: Path) -> None:
    """Packages of Python, without those that they need: `make setup` has them."""
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), *PYTHON)


def fetch_node(folder: Path) -> None:
    """Packages of Node.js."""
    run("npm", "install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder), *NODE)


def fetch_axe(folder: Path) -> None:
    """What looks for faults of a page that keep people from using it."""
    run("npm", "install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder), *AXE)


def fetch_jdbc(folder: Path) -> None:
    """The archive of pgjdbc."""
    run("mvn", "--quiet", "--batch-mode", COPY, f"-Dartifact={JDBC}", f"-DoutputDirectory={folder}")


def fetch_odbc(folder: Path) -> None:
    """The libraries of psqlODBC and of its driver manager, out of Debian's packages."""
    run("apt-get", "download", "--quiet", *DEBIAN, cwd=folder)
    for package in folder.glob("*.deb"):
        run("dpkg-deb", "--extract", str(package), str(folder))


def fetch_superset(folder: Path) -> None:
    """Superset in an environment of its own: it needs older packages than Penstock. Its own tables have one user."""
    venv.create(folder, with_pip=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(*pip, "--no-deps", "--requirement", str(SUPERSET_PINS))
    config = Path(__file__).parent / "programs" / "superset_config.py"
    variables = {
        "FLASK_APP": "superset",
        "SUPERSET_CONFIG_PATH": str(config),
        "SUPERSET_HOME": str(folder),
        "PYTHONPATH": "",
    }
    user = ("--username", "admin", "--password", "admin", "--email", "admin@example.org")
    for command in (
        ("db", "upgrade"),
        ("fab", "create-admin", *user, "--firstname", "a", "--lastname", "b"),
        ("init",),
    ):
        run(str(folder / "bin" / "superset"), *command, variables=variables)


CLIENTS = {
    "python": Client((), PYTHON, fetch_python),
    "node": Client(("node", "npm"), NODE, fetch_node),
    "jdbc": Client(("java", "mvn"), (JDBC,), fetch_jdbc),
    "odbc": Client(("apt-get", "dpkg-deb"), DEBIAN, fetch_odbc),
    "axe": Client(("npm",), AXE, fetch_axe, CACHE),
    "superset": Client((), (SUPERSET_PINS.read_text(encoding="utf-8"),), fetch_superset, CACHE),
}


def install(name: str) -> Path:
    """The folder of a client, which is installed if it is not there in its version."""
    client = CLIENTS[name]
    folder = client.parent / name
    note = folder / "installed.txt"
    versions = "\n".join(client.versions)
    with lock(client.parent / f"{name}.lock"):
        if not note.is_file() or note.read_text(encoding="utf-8") != versions:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            client.fetch(folder)
            note.write_text(versions, encoding="utf-8")
    return folder


@contextmanager
def lock(path: Path) -> Iterator[None]:
    """Other processes wait: the tests of a campaign run in several."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def run(*command: str, cwd: Path | None = None, variables: Mapping[str, str] | None = None) -> None:
    """Runs a command, with what it prints in the error if it fails."""
    environment = {**os.environ, **(variables or {})}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def main() -> None:
    """Installs all clients whose programs are there."""
    for name, client in CLIENTS.items():
        print(f"{name}: {', '.join(client.missing)} is missing" if client.missing else f"{name}: {install(name)}")


if __name__ == "__main__":
    main()
