"""A registry of others: Apicurio, which speaks Confluent's REST API. Maven fetches it once."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from examples.kafka.broker import JAVA, find_port

VERSION = "3.0.9"
"""The newest one that runs on Java 17."""
CACHE = Path(f"~/.cache/penstock/apicurio-{VERSION}").expanduser()
ARTIFACT = f"io.apicurio:apicurio-registry-app:{VERSION}:tar.gz:all"
JAR = f"apicurio-registry-app-{VERSION}-runner.jar"
SETTINGS = {
    "quarkus.http.host": "127.0.0.1",
    "apicurio.storage.kind": "sql",
    "apicurio.storage.sql.kind": "h2",
}


def fetch_apicurio() -> str | None:
    """The registry, which is 100 MB. Returns why it is missing."""
    if (CACHE / JAR).exists():
        return None
    if shutil.which("mvn") is None:
        return "Maven is not installed"
    draft = CACHE.with_name(f"{CACHE.name}.{os.getpid()}")
    draft.mkdir(parents=True)
    copy = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={ARTIFACT}", f"-DoutputDirectory={draft}"]
    run = subprocess.run(copy, cwd=draft, capture_output=True, timeout=600, check=False)
    archive = next(draft.glob("*.tar.gz"), None)
    if run.returncode or archive is None:
        shutil.rmtree(draft)
        return f"Maven cannot fetch {ARTIFACT}"
    with tarfile.open(archive) as packed:
        packed.extractall(draft, filter="data")
    archive.unlink()
    draft.rename(CACHE)
    return None


@contextmanager
def run_apicurio(log: Path) -> Iterator[str]:
    """A registry with nothing in it, which asks new versions to read records of the one before. Gives its address."""
    port = find_port()
    given = [f"-D{name}={value}" for name, value in {**SETTINGS, "quarkus.http.port": port}.items()]
    with log.open("wb") as file:
        command = [*JAVA, *given, "-jar", JAR]
        process = subprocess.Popen(command, cwd=CACHE, stdout=file, stderr=file, start_new_session=True)
    url = f"http://127.0.0.1:{port}/apis/ccompat/v7"
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"{url}/subjects", timeout=5).close()
                break
            except OSError:
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < deadline, "the registry does not answer"
                time.sleep(0.5)
        body, kind = b'{"compatibility": "BACKWARD"}', {"Content-Type": "application/vnd.schemaregistry.v1+json"}
        asked = urllib.request.Request(f"{url}/config", body, kind, method="PUT")
        urllib.request.urlopen(asked, timeout=30).close()
        yield url
    finally:
        process.terminate()
        process.wait(30)
