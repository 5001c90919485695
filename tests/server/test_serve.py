"""`penstock serve` as a user has it: two doors, one engine, and the same again after a stop."""

from __future__ import annotations

import json
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.server.running.scripts import HOURS, declare_clicks
from tests.server.served import ServedProcess, wait_for

pytestmark = pytest.mark.spark
COUNTS = "SELECT page, n FROM hourly ORDER BY page"


def write_clicks(folder: Path, name: str, *pages: str) -> None:
    folder.mkdir(exist_ok=True)
    lines = [
        json.dumps({"id": number, "page": page, "ts": "2026-01-01T10:00:00Z"}) for number, page in enumerate(pages)
    ]
    (folder / f".{name}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / f".{name}").rename(folder / name)


def test_a_server_from_its_start_to_its_end_and_again(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)  # PostgreSQL has a user of its own
    clicks, script = tmp_path / "clicks", tmp_path / "clicks.sql"
    write_clicks(clicks, "1.json", "a", "b", "a")
    script.write_text(f"{declare_clicks(clicks)};\n{HOURS};\n", encoding="utf-8")
    with ServedProcess(tmp_path / "state", script) as served:
        with served.connect() as db, served.client() as http:
            served.wait_until_ready()
            assert wait_for(lambda: db.execute(COUNTS).fetchall()) == [("a", 2), ("b", 1)]
            made = db.execute("CREATE STREAM only_a AS SELECT STREAM id, ts FROM clicks WHERE page = 'a'")
            assert made.statusmessage == "CREATE STREAM"
            assert len(wait_for(lambda: db.execute("SELECT * FROM only_a").fetchall())) == 2
            with pytest.raises(psycopg.errors.UndefinedColumn) as refused:
                db.execute("CREATE STREAM x AS\n  SELECT STREAM idd FROM clicks")
            assert refused.value.diag.statement_position == "36"
            assert refused.value.diag.message_hint == "did you mean id?"
            assert http.get("/readyz").status_code == 200
            assert http.get("/v1/tables/hourly").json()["rows"][0]["n"] == 2
            lines = db.execute("SELECT * FROM penstock.run('SHOW QUERIES')").fetchall()
            assert [line.split()[:2] for (line,) in lines[1:]] == [
                ["clicks", "RUNNING"],
                ["hourly", "RUNNING"],
                ["only_a", "RUNNING"],
            ]
        assert served.stop() == 0
        assert served.lines[-1] == "stopped"
    write_clicks(clicks, "2.json", "b", "c")
    with ServedProcess(tmp_path / "state", script) as served:
        with served.connect() as db:
            assert db.execute(COUNTS).fetchall() == [("a", 2), ("b", 1)], "tables can be read before Spark runs"
            wait_for(lambda: db.execute(COUNTS).fetchall() == [("a", 2), ("b", 2), ("c", 1)])
            assert len(db.execute("SELECT * FROM penstock.query").fetchall()) == 3
        assert served.stop() == 0
    secret = (tmp_path / "state" / "secrets" / "penstock_engine").read_text(encoding="utf-8")
    assert secret not in (tmp_path / "state" / "engine.log").read_text(encoding="utf-8")


def test_a_server_goes_on_when_its_jvm_is_killed(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    clicks, script = tmp_path / "clicks", tmp_path / "clicks.sql"
    write_clicks(clicks, "1.json", "a", "b", "a")
    script.write_text(f"{declare_clicks(clicks)};\n{HOURS};\n", encoding="utf-8")
    with ServedProcess(tmp_path / "state", script) as served, served.connect() as db:
        wait_for(lambda: db.execute("SELECT to_regclass('hourly')").fetchone() != (None,))
        wait_for(lambda: db.execute(COUNTS).fetchall() == [("a", 2), ("b", 1)])
        (java,) = (
            each for each in psutil.Process(served.process.pid).children(recursive=True) if each.name() == "java"
        )
        java.kill()
        write_clicks(clicks, "2.json", "b", "c")
        wait_for(lambda: db.execute(COUNTS).fetchall() == [("a", 2), ("b", 2), ("c", 1)])
        assert served.stop() == 0
    log = (tmp_path / "state" / "engine.log").read_text(encoding="utf-8")
    assert "error[R040]: the JVM of the engine has ended" in log
    assert "Traceback" not in log


@pytest.mark.parametrize(
    ("second", "code", "place"),
    [
        ("CREATE TABLE x AS SELECT idd FROM clicks", "N001", "3:26"),
        ("SHOW TABLES", "V012", "3:1"),
        ("CREATE STREAM clicks WITH (path = '/x') AS SELECT STREAM 1 FROM clicks", "K011", "3:15"),
    ],
)
def test_a_file_that_is_refused_stops_the_server(tmp_path: Path, second: str, code: str, place: str) -> None:
    """Before Spark is started, and with nothing of the file in force."""
    tmp_path.chmod(0o755)
    script = tmp_path / "clicks.sql"
    script.write_text(f"{declare_clicks('/data')};\n\n{second};\n", encoding="utf-8")
    with ServedProcess(tmp_path / "state", script) as served:
        assert served.process.wait(60) == 1
        served.find(rf"(error\[{code}\])")
    assert f"--> {script}:{place}" in served.text
    assert "Traceback" not in served.text
