"""A check of a script over topics needs neither Spark nor a client of Kafka."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.e2e.shell import ENVIRONMENT

SCRIPT = """
CREATE STREAM s (id BIGINT) WITH (connector = 'kafka', topic = 's', format = 'json', bootstrap_servers = 'h:1');
CREATE STREAM t WITH (connector = 'kafka', topic = 't', format = 'avro', schema_registry = 'http://h:1',
  bootstrap_servers = 'h:1')
  AS SELECT STREAM id FROM s;
"""
CHECK = """import sys
from penstock.commands.cli import main
main(["check", "script.sql"], standalone_mode=False)
sys.exit(bool({"confluent_kafka", "fastavro", "pyspark"} & set(sys.modules)))
"""


def test_a_check_imports_no_client(tmp_path: Path) -> None:
    (tmp_path / "script.sql").write_text(SCRIPT)
    command = [sys.executable, "-c", CHECK]
    checked = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
