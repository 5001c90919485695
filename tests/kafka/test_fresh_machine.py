"""A machine that has never run Penstock: every connector starts, though the archives come after the start of Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from examples.kafka.broker import Broker
from penstock.runtime.spark.jars import folder
from tests.databases.conftest import mysql_server as mysql_server
from tests.databases.places import Place, start_server
from tests.e2e.shell import ENVIRONMENT
from tests.kafka.registry import RegistryServer


@pytest.mark.spark
@pytest.mark.usefixtures("jars")
def test_every_connector_starts_in_a_spark_that_knew_none(
    broker: Broker, registry: RegistryServer, mysql_server: str, tmp_path: Path
) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    for each in (home, data / "in"):
        each.mkdir(parents=True)
    (data / "in" / "1.json").write_text('{"id": 1}\n{"id": 2}\n{"id": 3}\n', encoding="utf-8")
    kept = {name: value for name, value in ENVIRONMENT.items() if not name.startswith(("XDG_", "PENSTOCK_"))}
    Place("mysql", mysql_server).execute("CREATE DATABASE fresh")
    postgres = start_server(tmp_path / "postgres")
    try:
        urls = (postgres.get_uri().replace("postgres:@", "postgres@"), f"{mysql_server}fresh")
        given = (data, broker.servers, registry.url, *urls, folder())
        command = [sys.executable, "-m", "tests.kafka.fresh_machine", *map(str, given)]
        done = subprocess.run(
            command, env={**kept, "HOME": str(home)}, capture_output=True, text=True, timeout=600, check=False
        )
    finally:
        postgres.cleanup()
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("all connectors were started\n")
