"""A compiled job reads and writes topics as `penstock run` does, where nobody can import Penstock."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from examples.kafka.broker import Broker
from tests.e2e.shell import accounts
from tests.e2e.test_jobs import Place, alone, run_alone
from tests.kafka.registry import RegistryServer
from tests.kafka.scripts import place, values

__all__ = ["alone"]
pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("jars", "spark")]


def write_script(broker: Broker, registry: RegistryServer, source: str, targets: list[str]) -> str:
    """A script from one topic to others: in one transaction each, by Spark's tasks, and in Avro."""
    once, by_tasks, avro = targets
    in_avro = place(broker, avro).replace("'json'", "'avro'")
    return f"""CREATE STREAM s (id BIGINT, name STRING) WITH ({place(broker, source)}, starting = 'earliest');
      CREATE STREAM a WITH ({place(broker, once)}) AS SELECT STREAM id, name FROM s WHERE id > 1;
      CREATE STREAM b WITH ({place(broker, by_tasks)}, delivery = 'at_least_once') AS SELECT STREAM id FROM s;
      CREATE STREAM c WITH ({in_avro}, schema_registry = '{registry.url}') AS SELECT STREAM id, name FROM s;"""


def test_the_job_writes_what_a_run_writes(
    broker: Broker, registry: RegistryServer, tmp_path: Path, alone: Mapping[str, str]
) -> None:
    source = broker.topic()
    broker.send(source, values(*({"id": id_, "name": f"n{id_}"} for id_ in range(4)), b"?"))
    found: dict[str, list[list[bytes]]] = {}
    told = {}
    for side in ("run", "compiled"):
        targets = [broker.topic() for _ in range(3)]
        home = Place(tmp_path / side)
        home.give({"script.sql": write_script(broker, registry, source, targets)})
        if side == "run":
            told[side] = home.run("--checkpoint", "state")
        else:
            folder = home.compile()
            told[side] = accounts(run_alone(alone, folder, "job/job.py", "--once", "--checkpoint", "state"))
            again = accounts(run_alone(alone, folder, "job/job.py", "--once", "--checkpoint", "state"))
            assert all(sum(counts) == 0 for counts in again.values())
        found[side] = [sorted(each.value() for each in broker.read(target)) for target in targets]
    assert told["compiled"] == told["run"]
    assert told["run"]["a", "s"] == [5, 1, 0, 2, 2, 2]
    once, by_tasks, avro = found["compiled"]
    assert [json.loads(each) for each in once] == [{"id": 2, "name": "n2"}, {"id": 3, "name": "n3"}]
    assert [json.loads(each) for each in by_tasks] == [{"id": id_} for id_ in range(4)]
    assert len(avro) == 4
    assert [*map(len, found["run"])] == [2, 4, 4]
    assert found["compiled"][:2] == found["run"][:2]
