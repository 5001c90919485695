"""The archives that Spark needs for Kafka: the pinned ones, or a refusal that says how to get them."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from penstock.compilation import compile
from penstock.runtime import RunError
from penstock.runtime.spark import jars
from penstock.runtime.spark.jars import check_real_time, find_jars, list_jars, list_users

TOPIC = "connector = 'kafka', topic = '{}', format = 'json', bootstrap_servers = 'b:9092'"
SCRIPT = f"""SET trigger = 'realtime';
CREATE STREAM s (id BIGINT) WITH ({TOPIC.format("s")});
CREATE STREAM t WITH ({TOPIC.format("t")}, delivery = 'at_least_once') AS SELECT STREAM id FROM s;"""
FILES = "CREATE STREAM s (id BIGINT) WITH (connector = 'files', path = 'in', format = 'json');"


def test_missing_archives_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_JARS", str(tmp_path))
    assert list_jars() == []
    (tmp_path / "commons-pool2-2.13.1.jar").write_bytes(b"another one")
    with pytest.raises(RunError) as refused:
        find_jars("kafka")
    (found,) = refused.value.diagnostics
    assert found.code == "R073"
    assert "spark-sql-kafka-0-10_2.13-4.2.0.jar, " in found.message
    assert "commons-pool2-2.13.1.jar with the SHA-256 f77a" in found.message
    assert f"-DoutputDirectory={tmp_path}" in (found.hint or "")


@pytest.mark.usefixtures("jars")
def test_what_maven_has_is_what_is_pinned() -> None:
    assert set(find_jars("kafka")) <= set(list_jars())


def test_what_comes_later_is_refused_where_real_time_would_not_find_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another launcher has started Spark with a class loader that takes no archives."""
    monkeypatch.setattr(jars, "_has_class", lambda loader, name: loader is session)
    session: Any = MagicMock()
    with pytest.raises(RunError) as refused:
        check_real_time(session, compile(SCRIPT).program)
    (found,) = refused.value.diagnostics
    assert (found.code, found.message) == ("R085", "real time of t needs archives of kafka from the start of Spark on")
    check_real_time(session, compile(SCRIPT.replace("realtime", "micro_batch")).program)


def test_users_of_archives_are_inputs_outputs_and_folders() -> None:
    """A short run over files, too, writes topics and object stores."""
    assert list_users(compile(SCRIPT).program) == ("kafka",)
    for delivery, users in (("at_least_once", ("kafka",)), ("exactly_once", ())):
        sink = f"CREATE STREAM t WITH ({TOPIC.format('t')}, delivery = '{delivery}') AS SELECT STREAM id FROM s;"
        assert list_users(compile(FILES + sink).program) == users
    sink = "CREATE STREAM t WITH (connector = 'files', path = 's3a://b/t', format = 'json') AS SELECT STREAM id FROM s;"
    assert list_users(compile(FILES + sink).program) == ("s3a",)
    assert list_users(None, "s3a://b/state") == ("s3a",)
    assert list_users(compile(FILES).program, "state") == ()
