"""Queries whose workers share no disk with the driver, and that keep everything in an object store."""

from __future__ import annotations

import os
import random
import runpy
import time
from collections.abc import Collection
from pathlib import Path

import duckdb
import pytest

from tests.cluster.runs import (
    OUTPUTS,
    PENSTOCK,
    Rows,
    Run,
    list_batches,
    put_all,
    read_rows,
    run_here,
    run_script,
    write_inputs,
    write_script,
)
from tests.cluster.servers import BUCKET, Cluster, ObjectStore

pytestmark = [pytest.mark.spark, pytest.mark.campaign]

FLIGHTS = Path(__file__).parents[2] / "examples" / "flights"
MONTHS = int(os.environ.get("PENSTOCK_MONTHS", "2"))
KILLS = int(os.environ.get("PENSTOCK_KILLS", "3"))
KILLED = ("large", "delays", "recent", "totals", "known")
"""Queries of each kind: no state, one after another, buckets, tables, lookups."""
PROGRESS = " rows in, "


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Rows]:
    """The rows that the operators write on this machine alone."""
    return run_here(tmp_path_factory.mktemp("local"))


def check_answers(store: ObjectStore, folder: str, local: dict[str, Rows], outputs: Collection[str] = OUTPUTS) -> None:
    for name in outputs:
        found = read_rows(name, store.read(f"{folder}/out/{name}"))
        assert found == local[name], (name, (found - local[name]).most_common(3), (local[name] - found).most_common(3))


def test_doctor_finds_nothing_wrong(cluster: Cluster, store: ObjectStore, jars: Path, tmp_path: Path) -> None:
    command = [*PENSTOCK, "doctor"]
    run = Run.start(cluster, store, jars, "doctor", command, tmp_path / "doctor.log")
    run.finish()
    assert "rows went to DuckDB and back on 2 executors: " in run.told
    assert f"wrote files in s3a://{BUCKET}/doctor/state, and this machine read and removed them" in run.told
    assert f"a checkpoint in s3a://{BUCKET}/doctor/state can be locked" in run.told
    assert not any("doctor" in path for path in store.read("doctor/state"))


def test_each_operator_gives_the_local_answer(
    cluster: Cluster, store: ObjectStore, jars: Path, tmp_path: Path, local: dict[str, Rows]
) -> None:
    put_all(store, "plain", write_inputs())
    script = write_script(tmp_path / "operators.sql", f"s3a://{BUCKET}/plain")
    run_script(cluster, store, jars, "plain", script).finish()
    check_answers(store, "plain", local)
    kept = store.read("plain/state")
    assert any(path.endswith((".zip", ".changelog")) for path in kept), "no state of RocksDB in the store"
    assert any(path.endswith(".delta") for path in kept), "no state of memory in the store"


def test_killed_drivers_lose_nothing(
    cluster: Cluster, store: ObjectStore, jars: Path, tmp_path: Path, local: dict[str, Rows]
) -> None:
    """When a run ends before it is killed, the next one begins in a new folder. Some die before their first row."""
    draw, kills, rounds = random.Random(11), 0, 0
    while True:
        folder = f"kills{rounds}"
        put_all(store, folder, write_inputs())
        script = write_script(tmp_path / f"{folder}.sql", f"s3a://{BUCKET}/{folder}", KILLED)
        while kills < KILLS:
            run = run_script(cluster, store, jars, folder, script)
            if kills % 3 == 2:
                time.sleep(draw.uniform(10, 40))
            else:
                run.wait_for(PROGRESS)
                time.sleep(draw.uniform(0, 15))
            if run.process.poll() is not None:
                break
            run.kill()
            kills += 1
        run_script(cluster, store, jars, folder, script).finish()
        check_answers(store, folder, local, KILLED)
        rounds += 1
        if kills == KILLS:
            break
    print(f"{kills} kills in {rounds} rounds")


def test_killed_workers_change_nothing(
    cluster: Cluster, store: ObjectStore, jars: Path, tmp_path: Path, local: dict[str, Rows]
) -> None:
    put_all(store, "worker", write_inputs())
    script = write_script(tmp_path / "operators.sql", f"s3a://{BUCKET}/worker", KILLED)
    run = run_script(cluster, store, jars, "worker", script)
    for number, query in enumerate(("large:", "delays:", "recent:")):
        assert run.wait_for(query), run.told
        cluster.kill_worker(f"worker{number}")
        time.sleep(5)
        cluster.add_worker(f"worker{number + 2}")
    run.finish()
    check_answers(store, "worker", local, KILLED)


def test_the_flights_equal_the_batch_answer(cluster: Cluster, store: ObjectStore, jars: Path, tmp_path: Path) -> None:
    prepare = runpy.run_path(str(FLIGHTS / "prepare.py"))
    data = tmp_path / prepare["DATA"]
    prepare["prepare"](data)
    for stream in ("flights", "weather"):
        for number, file in enumerate(sorted((data / stream).iterdir())):
            if number < MONTHS:
                put_all(store, "flights", {f"data/{stream}/{file.name}": file.read_bytes()})
            else:
                file.unlink()
    script = tmp_path / "flights.sql"
    text = (FLIGHTS / "flights.sql").read_text(encoding="utf-8")
    script.write_text("SET state_partitions = 2;\n" + text.replace("examples/flights/", f"s3a://{BUCKET}/flights/"))
    run_script(cluster, store, jars, "flights", script).finish()
    with duckdb.connect() as connection:
        connection.execute(f"SET file_search_path = '{tmp_path}'")
        connection.execute((FLIGHTS / "batch.sql").read_text(encoding="utf-8"))
        for name in ("departures_per_hour", "departures_with_weather", "recent_delay", "week_against_week"):
            folder = tmp_path / "out" / name
            folder.mkdir(parents=True)
            files = store.read(f"flights/out/{name}")
            for path in (path for batch in list_batches(files) for path in batch):
                (folder / path).write_bytes(files[path])
            columns = connection.execute(f"DESCRIBE {name}").fetchall()
            items = ", ".join(
                f"round({column}, 6) AS {column}" if type_ == "DOUBLE" else f"{column}::{type_} AS {column}"
                for column, type_, *_ in columns
            )
            ours, batch = (f"SELECT {items} FROM {source}" for source in (f"'{folder}/*.parquet'", name))
            for one, other in ((ours, batch), (batch, ours)):
                assert connection.execute(f"{one} EXCEPT ALL {other} LIMIT 3").fetchall() == [], name
