"""What the queries of the cluster read, how they are run there and on this machine, and what they have written."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.cluster.servers import BUCKET, JAVA, Cluster, ObjectStore, plain_environment, wait_until

OPERATORS = (Path(__file__).parent / "operators.sql").read_text(encoding="utf-8")
STREAMS = frozenset(re.findall(r"CREATE STREAM (\w+) WITH", OPERATORS))
TABLES = {"totals": "customer", "scores": "city", "crowds": "city", "places": "customer", "leaders": "city customer"}
"""The keys of those that change."""
OUTPUTS = STREAMS | TABLES.keys()
PENSTOCK = [sys.executable, "-m", "penstock"]
RUN = [*PENSTOCK, "run", "--once", "--drain"]
SETTINGS = {
    "spark.executor.memory": "640m",
    "spark.driver.memory": "800m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.extraJavaOptions": JAVA,
}
Rows = Counter[str]


def write_inputs() -> dict[str, bytes]:
    """Three files of each input. Times of orders are up to ten seconds out of order. Rows of tables come and go."""
    draw, start = random.Random(7), datetime(2026, 1, 1, tzinfo=UTC)
    orders: list[dict[str, object]] = []
    payments: list[dict[str, object]] = []
    for number in range(300):
        at = start + timedelta(seconds=2 * number - draw.randrange(10))
        order = {"id": number, "customer": f"c{draw.randrange(7)}", "amount": float(draw.randrange(100))}
        orders.append(order | {"tags": draw.sample(["a", "b", "c"], draw.randrange(3)), "time": at.isoformat()})
        if number % 3:
            paid = at + timedelta(seconds=draw.randrange(40))
            payments.append({"id": number, "paid": order["amount"], "time": paid.isoformat()})
    payments.sort(key=lambda each: str(each["time"]))

    def change(row: dict[str, object]) -> dict[str, object]:
        return row | {"op": draw.choice(("insert", "update", "update", "delete"))}

    customers = [
        change({"customer": f"c{draw.randrange(7)}", "city": f"t{draw.randrange(4)}", "score": draw.randrange(9)})
        for _ in range(45)
    ]
    cities = [change({"city": f"t{draw.randrange(4)}", "country": f"n{draw.randrange(3)}"}) for _ in range(24)]
    inputs = {"orders": orders, "payments": payments, "customers": customers, "cities": cities}
    files = {}
    for part in range(3):
        for name, rows in inputs.items():
            third = rows[part * len(rows) // 3 : (part + 1) * len(rows) // 3]
            files[f"in/{name}/{part}.json"] = "".join(json.dumps(row) + "\n" for row in third).encode()
    return files


def put_all(store: ObjectStore, folder: str, files: Mapping[str, bytes]) -> None:
    """Writes objects in their order: the store keeps seconds of the times by which Spark reads them."""
    for path, content in files.items():
        store.put(f"{folder}/{path}", content)
        time.sleep(1.1)


def write_script(path: Path, folder: str, outputs: Collection[str] = OUTPUTS) -> Path:
    """The script with the queries that write these outputs."""
    statements = (each for each in OPERATORS.split(";\n") if each.strip())
    chosen = [each for each in statements if "/out/" not in each or any(f"/out/{name}'" in each for name in outputs)]
    path.write_text("".join(f"{each};\n" for each in chosen).replace("FOLDER", folder), encoding="utf-8")
    return path


@dataclass
class Run:
    """A command of Penstock whose workers are those of a cluster, in a process that has a group of its own."""

    process: subprocess.Popen[bytes]
    log: Path

    @classmethod
    def start(
        cls, cluster: Cluster, store: ObjectStore, jars: Path, folder: str, command: Sequence[str], log: Path
    ) -> Run:
        """Starts it. All that it writes on this machine lies beside its log, where no worker finds it."""
        settings = {**store.settings, **SETTINGS}
        options = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
        place = ["--master", cluster.master, "--checkpoint", f"s3a://{BUCKET}/{folder}/state"]
        here = log.parent / "driver"
        here.mkdir(exist_ok=True)
        environment = {**plain_environment(), "PYTHONPATH": os.pathsep.join(sys.path), "JAVA_TOOL_OPTIONS": JAVA}
        environment |= {"PENSTOCK_JARS": str(jars), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
        environment |= {"HOME": str(here), "TMPDIR": str(here), "SPARK_LOCAL_DIRS": str(here)}
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*command, *place, *options],
                env=environment,
                cwd=here,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return cls(process, log)

    def wait_for(self, text: str, seconds: float = 600) -> bool:
        """Waits until it has told so, or has ended. Returns whether it still runs."""
        wait_until(lambda: text in self.told or self.process.poll() is not None, seconds, text)
        return self.process.poll() is None

    def finish(self, seconds: float = 2400) -> None:
        """Waits for its end; raises AssertionError if it fails."""
        try:
            assert self.process.wait(seconds) == 0, self.told
        finally:
            self.kill()

    def kill(self) -> None:
        """Ends it by SIGKILL: Python, and the JVM of the driver."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.process.wait()

    @property
    def told(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")


def run_script(cluster: Cluster, store: ObjectStore, jars: Path, folder: str, script: Path) -> Run:
    """Starts a run of a script to the end of its inputs."""
    return Run.start(cluster, store, jars, folder, [*RUN, str(script)], script.with_suffix(".log"))


def run_here(folder: Path) -> dict[str, Rows]:
    """The rows that all queries write on this machine alone, whose files are in a new folder."""
    for number, (path, content) in enumerate(write_inputs().items()):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
        os.utime(folder / path, (1_800_000_000 + number, 1_800_000_000 + number))
    script = write_script(folder / "operators.sql", str(folder))
    command = [*RUN, "--checkpoint", str(folder / "state"), str(script)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr

    def read(name: str) -> dict[str, bytes]:
        output = folder / "out" / name
        return {str(each.relative_to(output)): each.read_bytes() for each in output.rglob("*") if each.is_file()}

    rows = {name: read_rows(name, read(name)) for name in OUTPUTS}
    assert all(rows.values()), rows.keys()
    return rows


def read_rows(name: str, files: Mapping[str, bytes]) -> Rows:
    """The rows of the finished micro-batches in the folder of a stream, or those of a table in the end."""
    batches = [
        [json.loads(line) for path in paths for line in files[path].decode().splitlines()]
        for paths in list_batches(files)
    ]
    if name not in TABLES:
        return Counter(json.dumps(row, sort_keys=True) for batch in batches for row in batch)
    keys, newest = TABLES[name].split(), dict[tuple[object, ...], dict[str, object]]()
    for batch in batches:
        touched: set[tuple[object, ...]] = set()
        for row in batch:
            key = tuple(row[each] for each in keys)
            assert key not in touched, f"{name}: two changes of {key} in a micro-batch"
            touched.add(key)
            newest[key] = row
    lasting = (row for row in newest.values() if row.pop("op") != "delete")
    return Counter(json.dumps(row, sort_keys=True) for row in lasting)


def list_batches(files: Mapping[str, bytes]) -> list[list[str]]:
    """The files of each micro-batch that the log of a folder has, in order."""
    batches: list[list[str]] = []
    known: set[str] = set()
    entries = {path.removeprefix("_spark_metadata/"): content for path, content in files.items() if "_spark" in path}
    numbers = {int(name.partition(".")[0]) for name in entries if name.partition(".")[0].isdigit()}
    for number in sorted(numbers):
        content = entries.get(f"{number}.compact") or entries[str(number)]
        paths = [json.loads(line)["path"].rpartition("/")[2] for line in content.decode().splitlines()[1:]]
        batches.append([path for path in paths if path not in known])
        known |= set(paths)
    return batches
