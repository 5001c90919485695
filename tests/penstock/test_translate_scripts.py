"""`penstock translate`: whole scripts as people have them, whose translations `penstock check` accepts.

`-- refused: n` in a script says how many of its statements have no translation.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock.compilation import compile
from penstock.diagnostics import Source
from penstock.parser import format_script
from penstock.translate import System, Verdict, translate

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*/*.sql"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_translation_of_a_whole_script(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = [each for _, each in translate(Source(path.name, text), System(path.parent.name)) if each is not None]
    refused = [each.title for each in found if each.verdict is Verdict.REFUSED]
    (expected,) = re.findall(r"^-- refused: (\d+)", text, re.MULTILINE) or [0]
    assert len(refused) == int(expected), refused
    assert all(each.notes for each in found if each.verdict is not Verdict.SAME)
    script = ";\n".join(each.sql for each in found if each.sql and each.verdict is not Verdict.REFUSED)
    compiled = compile(script)
    assert compiled.queries
    assert compile(format_script(Source("formatted", script))).queries == compiled.queries


def test_there_are_scripts_of_both_systems() -> None:
    assert {name: sum(path.parent.name == name for path in SCRIPTS) for name in ("flink", "ksqldb")} == {
        "flink": 8,
        "ksqldb": 10,
    }


TOPIC = "WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'JSON', TIMESTAMP = 'at', PARTITIONS = 2)"
HAVING = f"CREATE STREAM s (k STRING KEY, n INT, at TIMESTAMP) {TOPIC};"
HAVING += """
CREATE TABLE t AS SELECT k, COUNT(*) AS n, {latest} AS last FROM s WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY k {rest};
"""


@pytest.mark.parametrize("rest", ["HAVING COUNT(*) > 3 EMIT CHANGES", "HAVING COUNT(*) > 3"])
def test_windows_that_pass_a_condition_are_final(rest: str) -> None:
    text = HAVING.format(latest="LATEST_BY_OFFSET(n)", rest=rest)
    found = [each for _, each in translate(Source("test", text), System.KSQLDB) if each is not None][-1]
    assert found.verdict is Verdict.CHANGED
    assert found.sql.endswith("EMIT FINAL")
    assert "MAX_BY(n, ROWTIME) FILTER (WHERE n IS NOT NULL)" in found.sql
    told = " ".join(found.notes)
    assert "when it is final" in told
    assert "order of arrival" in told


def test_the_newest_values_have_no_translation() -> None:
    text = HAVING.format(latest="LATEST_BY_OFFSET(n, 3)", rest="EMIT CHANGES")
    found = [each for _, each in translate(Source("test", text), System.KSQLDB) if each is not None][-1]
    assert found.verdict is Verdict.REFUSED


def test_a_side_that_is_divided_by_another_key() -> None:
    text = f"""CREATE STREAM a (k STRING KEY, at TIMESTAMP) {TOPIC};
    CREATE STREAM b (id STRING KEY, k STRING, at TIMESTAMP) {TOPIC};
    CREATE STREAM c AS SELECT a.k AS k, b.id AS id FROM a JOIN b WITHIN 1 HOUR ON a.k = b.k EMIT CHANGES;"""
    found = [each for _, each in translate(Source("test", text), System.KSQLDB) if each is not None][-1]
    assert "PARTITION BY b.k" in found.sql
    assert "PARTITION BY divides" in " ".join(found.notes)
