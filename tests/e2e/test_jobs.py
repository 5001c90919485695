"""A compiled job, where nobody can import Penstock, gives what `penstock run` gives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import Row, SparkSession

from tests.e2e.shell import Accounts, accounts, call, penstock_here, write

pytestmark = pytest.mark.spark

# Python imports this module by itself when it starts, also in the processes that Spark starts.
WITHOUT_PENSTOCK = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("penstock", "sqlglot", "lark", "click"):
            raise ImportError("blocked")

sys.meta_path.insert(0, Blocked())
"""
# Jobs one after the other in one process, which needs one JVM. Each of them starts a Spark, and stops it.
ONE_BY_ONE = """
import json, os, runpy, sys
from pyspark import SparkContext

for folder, arguments in json.loads(sys.argv[1]):
    os.chdir(folder)
    sys.argv = ["job/job.py", *arguments]
    print("job in", folder)
    try:
        runpy.run_path("job/job.py", run_name="__main__")
    except SystemExit as ended:
        assert ended.code == 0
    state = SparkContext._gateway.jvm.org.apache.spark.sql.execution.streaming.state
    stores = getattr(getattr(state, "StateStore$"), "MODULE$")
    print("state stores are", "open" if stores.isMaintenanceRunning() else "closed")
"""
DECLARED = """
CREATE STREAM orders (id BIGINT KEY, product STRING, price DOUBLE, day DATE, time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '1' MINUTE)
WITH (connector = 'files', path = 'orders', format = 'json', files_per_batch = 1);
CREATE STREAM payments (order_id BIGINT KEY, amount DECIMAL(10, 2), weight INT, time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '1' MINUTE)
WITH (connector = 'files', path = 'payments', format = 'csv', null = 'NA', files_per_batch = 1);
"""
HOURLY = """
CREATE STREAM hourly WITH (connector = 'files', path = 'hourly', format = 'json') AS
SELECT STREAM product, window_start, COUNT(*) AS orders, SUM(price) AS total
FROM orders WHERE price > 1 GROUP BY product, TUMBLE(time, INTERVAL '1' HOUR);
"""
PAID = """
CREATE STREAM paid WITH (connector = 'files', path = 'paid', format = 'csv') AS
SELECT STREAM o.id AS id, o.time AS time, p.amount AS amount
FROM orders o LEFT JOIN payments p ON o.id = p.order_id AND p.time BETWEEN o.time AND o.time + INTERVAL '10' MINUTE;
"""
RECENT = """
CREATE STREAM recent WITH (connector = 'files', path = 'recent', format = 'parquet') AS
SELECT STREAM id, day, time, AVG(price) OVER recently AS mean
FROM orders WINDOW recently AS (PARTITION BY product ORDER BY time RANGE INTERVAL '30' MINUTE PRECEDING);
"""
BEFORE = """
CREATE STREAM before WITH (connector = 'files', path = 'before', format = 'parquet') AS
SELECT STREAM id, time, LAG(id) OVER (PARTITION BY product ORDER BY time) AS older FROM orders;
"""
SESSIONS = """
CREATE TABLE sessions WITH (connector = 'files', path = 'sessions', format = 'json', operation = 'op') AS
SELECT product, COUNT(*) AS n, MAX(id) AS last FROM orders GROUP BY product, SESSION(time, 2 HOURS) EMIT CHANGES;
"""
LARGE = """
CREATE STREAM large WITH (connector = 'files', path = 'large', format = 'parquet') AS
SELECT STREAM order_id, amount * 2 AS twice, time FROM payments WHERE amount >= 10;
"""
SINKS = {"hourly": "json", "paid": "csv", "recent": "parquet", "large": "parquet"}
REJECTED = ("hourly_rejected/orders", "paid_rejected/payments", "large_rejected/payments")


def order(id_: int, clock: str, price: float) -> dict[str, object]:
    return {"id": id_, "product": "ab"[id_ % 2], "price": price, "time": f"2024-01-01T{clock}Z"}


ORDERS = {
    "orders/day=2024-01-01/1.json": [
        order(1, "00:00:00.123456", 1.5),
        order(2, "00:20:00", 0.5),
        order(3, "00:40:00", 2.5),
        {"id": "no number", "time": "2024-01-01T00:00:00Z"},
    ],
    "orders/day=2024-01-01/2.json": [
        order(4, "02:00:00", 4.5),
        order(5, "02:00:01", 5.5),
        order(6, "00:10:00", 6.5),
        {"id": 7},
    ],
}
LATER = {
    "orders/day=2024-01-02/3.json": [order(8, "02:10:00", 8.5), order(9, "04:00:00", 9.5), order(10, "00:00:00", 1.0)]
}
# No query uses the weight.
PAYMENTS = {
    "payments/1.csv": """time,order_id,weight,amount,note
2024-01-01T00:05:00Z,1,7,10.00,
2024-01-01T00:41:00Z,3,,NA,none
2024-01-01T00:42:00Z,3,,much,
2024-01-01T00:43:00Z,3,heavy,30.00,
broken
""",
    "payments/2.csv": """time,order_id,weight,amount,note
2024-01-01T02:02:00Z,4,,12.50,"a, b"
2024-01-01T00:03:00Z,2,,11.00,late
,5,,1.00,
""",
}

TABLES = """
CREATE TABLE users (id BIGINT PRIMARY KEY, region STRING, score DECIMAL(10, 2))
WITH (connector = 'files', path = 'users', format = 'json', operation = 'op', files_per_batch = 1);
CREATE TABLE homes (id BIGINT PRIMARY KEY, city STRING)
WITH (connector = 'files', path = 'homes', format = 'csv', operation = 'op', files_per_batch = 1);
CREATE VIEW living AS SELECT u.id, u.region, h.city, u.score FROM users u LEFT JOIN homes h ON u.id = h.id;
CREATE TABLE cities WITH (connector = 'files', path = 'cities', format = 'json', operation = 'op') AS
SELECT city, COUNT(*) AS n, AVG(score) AS mean, VARIANCE(score) AS spread FROM living GROUP BY city HAVING COUNT(*) > 1;
CREATE TABLE zones (city STRING PRIMARY KEY, zone STRING) WITH (connector = 'files', path = 'zones', format = 'json');
CREATE TABLE located WITH (connector = 'files', path = 'located', format = 'json', operation = 'op') AS
SELECT h.id, z.zone FROM homes h LEFT JOIN zones z ON h.city = z.city;
CREATE STREAM visits (id BIGINT KEY, number INT)
WITH (connector = 'files', path = 'visits', format = 'json', files_per_batch = 1);
CREATE STREAM seen WITH (connector = 'files', path = 'seen', format = 'json') AS
SELECT STREAM v.number, h.city FROM visits v LEFT JOIN homes h ON v.id = h.id;
"""
USERS: dict[str, str | list[object]] = {
    "users/1.json": [{"id": n, "region": "ab"[n % 2], "score": n / 4} for n in range(6)],
    "users/2.json": [{"id": 1, "op": "delete"}, {"id": 2, "region": "c", "score": 9}, {"id": None}],
    "homes/1.csv": "id,city,op\n0,x,\n1,x,\n2,x,\n3,y,\n4,y,\n",
    "homes/2.csv": "id,city,op\n0,y,\n4,,delete\n5,y,insert\n",
    "zones/1.json": [{"city": "x", "zone": "A"}, {"city": "y", "zone": "B"}],
    "visits/1.json": [{"id": n, "number": n} for n in range(7)],
    "visits/2.json": [{"id": n, "number": 10 + n} for n in (0, 4, 5)],
}
MOVED: dict[str, str | list[object]] = {
    "users/3.json": [{"id": 1, "region": "b", "score": 1.25}, {"id": 3, "op": "delete"}],
    "homes/3.csv": "id,city,op\n2,,delete\n2,x,\n1,x,\n",
    "zones/2.json": [{"city": "x", "zone": "C"}],
    "visits/3.json": [{"id": None, "number": 20}, {"id": 2, "number": 21}],
}


@dataclass(frozen=True)
class Place:
    """A script in a folder, with the same files for both sides: to be run, and to be compiled."""

    folder: Path

    def give(self, files: Mapping[str, str | Sequence[object]]) -> None:
        """Writes files for both sides."""
        for side in ("run", "compiled"):
            write(self.folder / side, files)

    def run(self, *options: str) -> Accounts:
        """Runs the script by Penstock; returns its accounts."""
        ended = penstock_here(self.folder / "run", "run", "--once", *options, "script.sql")
        assert ended.exit_code == 0, ended.output
        return accounts(ended.stdout)

    def compile(self) -> Path:
        """Compiles the script; returns the folder in which the folder of the job is."""
        compiled = penstock_here(self.folder / "compiled", "compile", "script.sql", "-o", "job/")
        assert (compiled.exit_code, compiled.stdout) == (0, "")
        assert "error" not in compiled.stderr
        return self.folder / "compiled"

    def rows(self, spark: SparkSession, sink: str, format: str) -> tuple[Counter[Row], Counter[Row]]:
        """The rows of a sink: of the job, and of the run."""
        return self._rows(spark, "compiled", sink, format), self._rows(spark, "run", sink, format)

    def _rows(self, spark: SparkSession, side: str, sink: str, format: str) -> Counter[Row]:
        return Counter(spark.read.format(format).option("header", True).load(str(self.folder / side / sink)).collect())


@pytest.fixture
def alone(tmp_path: Path) -> Mapping[str, str]:
    """The environment of jobs that cannot import Penstock."""
    write(tmp_path, {"blocked/sitecustomize.py": WITHOUT_PENSTOCK})
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "blocked")}
    environment.pop("PYSPARK_PYTHON", None)
    tried = call(tmp_path, sys.executable, "-c", "import penstock", environment=environment)
    assert "ImportError: blocked" in tried.stderr
    return environment


def run_alone(alone: Mapping[str, str], folder: Path, *command: str, seconds: float = 300) -> str:
    """What jobs print."""
    ended = call(folder, sys.executable, *command, environment=alone, seconds=seconds)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_the_job_gives_the_rows_and_the_accounts_of_a_run(
    tmp_path: Path, alone: Mapping[str, str], spark: SparkSession
) -> None:
    place = Place(tmp_path)
    place.give(
        {**ORDERS, **PAYMENTS, "script.sql": "SET state_partitions = 2;" + DECLARED + HOURLY + PAID + RECENT + LARGE}
    )
    in_penstock = place.run()
    assert accounts(run_alone(alone, place.compile(), "job/job.py", "--once")) == in_penstock
    assert in_penstock == {
        ("hourly", "orders"): [8, 2, 1, 1, 4, 3],
        ("paid", "orders"): [8, 2, 1, 0, 5, 5],
        ("paid", "payments"): [8, 4, 1, 0, 3],
        ("recent", "orders"): [8, 2, 1, 0, 5, 5],
        ("large", "payments"): [8, 4, 0, 1, 3, 3],
    }
    for sink, format in SINKS.items():
        found, expected = place.rows(spark, sink, format)
        assert expected
        assert found == expected, sink
    assert {str(row.day) for row in place.rows(spark, "recent", "parquet")[0].elements()} == {"2024-01-01"}
    for sink in REJECTED:
        aside, wanted = (
            Counter((row.reason, row.record, row.file.rpartition("/")[2]) for row in found.elements())
            for found in place.rows(spark, sink, "json")
        )
        assert aside == wanted, sink


def run_job(alone: Mapping[str, str], place: Place, *options: str) -> Accounts:
    """Compiles the script, and runs the job in a process that then looks at what is left of Spark."""
    jobs = [(str(place.compile()), ("--once", *options))]
    output = run_alone(alone, place.folder, "-c", ONE_BY_ONE, json.dumps(jobs))
    assert output.count("state stores are closed") == len(jobs)
    return accounts(output)


def test_with_a_checkpoint_jobs_of_streams_go_on(tmp_path: Path, alone: Mapping[str, str], spark: SparkSession) -> None:
    place, resumed = Place(tmp_path), ("--checkpoint", "state")
    script = "SET state_partitions = 1;" + DECLARED + HOURLY + BEFORE + SESSIONS + LARGE
    place.give({**ORDERS, **PAYMENTS, "script.sql": script})
    assert run_job(alone, place, *resumed) == place.run(*resumed)
    place.give(LATER)
    expected = place.run(*resumed, "--drain")
    assert run_job(alone, place, *resumed, "--drain") == expected
    assert expected["hourly", "orders"][:5] == [3, 0, 1, 0, 2]
    assert expected["large", "payments"] == [0, 0, 0, 0, 0, 0]
    for sink, format in {"hourly": "json", "before": "parquet", "sessions": "json", "large": "parquet"}.items():
        found, wanted = place.rows(spark, sink, format)
        assert found == wanted, sink


@pytest.mark.campaign
def test_with_a_checkpoint_jobs_of_tables_go_on(tmp_path: Path, alone: Mapping[str, str], spark: SparkSession) -> None:
    place, elsewhere = Place(tmp_path), f"file://{tmp_path}/state of tables"
    place.give({**USERS, "script.sql": "SET state_partitions = 1;" + TABLES})
    for files in ({}, MOVED):
        place.give(files)
        assert run_job(alone, place, "--checkpoint", elsewhere) == place.run("--checkpoint", "state")
        for sink in ("cities", "located", "seen"):
            found, expected = place.rows(spark, sink, "json")
            assert expected
            assert found == expected, sink


def test_spark_submit_runs_it_and_a_second_start_is_refused(tmp_path: Path, alone: Mapping[str, str]) -> None:
    """The job keeps running, and goes on from a checkpoint of `penstock run`."""
    place = Place(tmp_path)
    place.give({**ORDERS, "script.sql": "SET state_partitions = 1;" + DECLARED + LARGE + HOURLY, **PAYMENTS})
    folder = place.compile()
    here = penstock_here(folder, "run", "--once", "--no-drain", "--checkpoint", "state", "script.sql")
    assert here.exit_code == 0, here.output
    write(folder, LATER)
    home = Path(pyspark.__file__).parent
    submit = [str(home / "bin" / "spark-submit"), "--master", "local[2]", "--py-files", "job/kit.zip"]
    environment = {**alone, "PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(home)}
    with (tmp_path / "log").open("w") as log:
        started = subprocess.Popen(
            [*submit, "job/job.py", "--checkpoint", "state"], cwd=folder, env=environment, stdout=log, stderr=log
        )
    try:
        lock = folder / "state" / "hourly" / "lock"
        wait_until(lambda: lock.is_file() and "running:" in (tmp_path / "log").read_text(), started)
        second = call(folder, sys.executable, "job/job.py", "--once", "--checkpoint", "state", environment=alone)
        assert second.returncode == 3
        assert "error[R012]" in second.stderr
        offsets = folder / "state" / "hourly" / "commits"
        wait_until(lambda: len([*offsets.glob("[0-9]*")]) > 2, started)
    finally:
        started.terminate()  # which ends Spark at once, and with it the job
        started.wait(60)


def wait_until(is_so: Callable[[], bool], started: subprocess.Popen[bytes], seconds: float = 120) -> None:
    """Raises AssertionError if it is not so in time, or if the process has ended."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert started.poll() is None, "the process has ended"
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.2)
