"""A process of a user on a machine that has never run Penstock: all connectors in one Spark, which knew none of them.

`python -m tests.kafka.fresh_machine FOLDER BROKERS REGISTRY POSTGRES MYSQL ARCHIVES`. The archives of Kafka come
after the start of Spark, from the folder ARCHIVES to where Penstock looks for them.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import penstock
from penstock.codegen.spark_versions import REAL_TIME_SINCE
from penstock.planner.connectors import CONNECTORS
from penstock.runtime import RunError
from penstock.runtime.spark.jars import folder as archives_folder
from penstock.runtime.spark.spark_version import installed_spark
from penstock.session import Session

PATIENCE = 240  # seconds until all rows have to be there
COUNTS = "SELECT id, COUNT(*) AS n FROM listed GROUP BY id"
MICRO_BATCHES = f"""
CREATE STREAM made (n BIGINT, at TIMESTAMP) WITH (connector = 'rate', rows_per_second = 9);
CREATE STREAM random (n BIGINT, at TIMESTAMP) WITH (connector = 'datagen', rows_per_second = 9);
CREATE STREAM listed (id BIGINT) WITH (connector = 'files', path = '$folder/in', format = 'json');
CREATE STREAM a_topic (id BIGINT) WITH (connector = 'kafka', topic = 'plain', format = 'json', $brokers);
CREATE STREAM a_lake (id BIGINT) WITH (connector = 'delta', path = '$folder/lake');
CREATE TABLE prices (id BIGINT PRIMARY KEY, n BIGINT)
  WITH (connector = 'postgres', url = '$postgres', table = 'counts', create = 'if_missing');

CREATE STREAM shown WITH (connector = 'console') AS SELECT STREAM id FROM listed;
CREATE STREAM drawn WITH (connector = 'memory') AS SELECT STREAM n FROM random;
CREATE STREAM printed WITH (connector = 'print') AS SELECT STREAM id FROM listed;
CREATE STREAM dropped WITH (connector = 'blackhole') AS SELECT STREAM id FROM listed;
CREATE STREAM generated WITH (connector = 'memory') AS SELECT STREAM n FROM made;
CREATE STREAM sent WITH (connector = 'kafka', topic = 'plain', format = 'json', create = 'if_missing', $brokers)
  AS SELECT STREAM id FROM listed;
CREATE STREAM sent_avro
  WITH (connector = 'kafka', topic = 'coded', format = 'avro', schema_registry = '$registry', create = 'if_missing',
        delivery = 'at_least_once', $brokers)
  AS SELECT STREAM id FROM listed;
INSERT INTO prices {COUNTS};
CREATE TABLE in_mysql
  WITH (connector = 'mysql', url = '$mysql', table = 'counts', create = 'if_missing') AS {COUNTS};
CREATE TABLE in_sqlite
  WITH (connector = 'sqlite', path = '$folder/rows.sqlite', table = 't', create = 'if_missing') AS {COUNTS};
CREATE TABLE in_duckdb
  WITH (connector = 'duckdb', path = '$folder/rows.duckdb', table = 't', create = 'if_missing') AS {COUNTS};
CREATE STREAM in_lake WITH (connector = 'delta', path = '$folder/lake', create = 'if_missing')
  AS SELECT STREAM id FROM listed;
"""
READERS = """
CREATE STREAM a_coded_topic (id BIGINT)
  WITH (connector = 'kafka', topic = 'coded', format = 'avro', schema_registry = '$registry', $brokers);
CREATE STREAM from_topic WITH (connector = 'memory') AS SELECT STREAM id FROM a_topic;
CREATE STREAM from_avro WITH (connector = 'memory') AS SELECT STREAM id FROM a_coded_topic;
CREATE STREAM from_lake WITH (connector = 'memory') AS SELECT STREAM id FROM a_lake;
CREATE STREAM from_table WITH (connector = 'memory') AS
  SELECT STREAM l.id AS id, p.n AS n FROM listed l JOIN prices FOR SYSTEM_TIME AS OF PROCTIME() p ON p.id = l.id;
"""
REAL_TIME = """
SET trigger = 'realtime'; SET realtime_batch = 5 SECONDS;
CREATE STREAM at_once
  WITH (connector = 'kafka', topic = 'fast', format = 'json', create = 'if_missing',
        delivery = 'at_least_once', $brokers)
  AS SELECT STREAM id FROM a_topic;
"""
AFTERWARDS = """CREATE STREAM again (id BIGINT) WITH (connector = 'kafka', topic = 'fast', format = 'json', $brokers);
CREATE STREAM from_real_time WITH (connector = 'memory') AS SELECT STREAM id FROM again;"""


def main(folder: str, brokers: str, registry: str, postgres: str, mysql: str, archives: str) -> None:
    def fill(sql: str) -> str:
        given = {"$folder": folder, "$registry": registry, "$postgres": postgres, "$mysql": mysql}
        given["$brokers"] = f"bootstrap_servers = '{brokers}'"
        for name, value in given.items():
            sql = sql.replace(name, value)
        return sql

    left_out = [each.name for each in CONNECTORS if f"connector = '{each.name}'" not in MICRO_BATCHES]
    assert left_out == []
    written, there = fill(MICRO_BATCHES), archives_folder()
    assert not there.exists(), f"{there} is not of a machine that has never run Penstock"
    with penstock.connect("local[4]") as session:
        with pytest.raises(RunError) as refused:  # there are no archives of Kafka
            session.submit(written)
        assert [each.code for each in refused.value.diagnostics] == ["R073"]
        shutil.copytree(archives, there)
        session.submit(written)
        _await(session, {"generated": 1, "drawn": 1})
        _await_places(Path(folder))
        session.submit(fill(READERS))
        _await(session, dict.fromkeys(("from_topic", "from_avro", "from_lake", "from_table"), 3))
        if installed_spark() >= REAL_TIME_SINCE:
            (handle,) = session.submit(fill(REAL_TIME))
            _wait_until(lambda: handle.status().out == 3)
            handle.stop()
            session.submit(fill(AFTERWARDS))
            _await(session, {"from_real_time": 3})
    print("all connectors were started")


def _await_places(folder: Path) -> None:
    """Waits for what is written before its readers are started."""
    for name in ("rows.sqlite", "rows.duckdb", "lake/_delta_log"):
        _wait_until((folder / name).exists)


def _await(session: Session, wanted: dict[str, int]) -> None:
    """Waits until the memory sinks hold that many rows."""
    for name, count in wanted.items():
        _wait_until(partial(_has_rows, session, name, count))


def _has_rows(session: Session, name: str, count: int) -> bool:
    return len(session.rows(name)) >= count


def _wait_until(is_there: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_there():
        assert time.monotonic() < deadline, "the rows do not come"
        time.sleep(0.2)


if __name__ == "__main__":
    main(*sys.argv[1:])
