"""Faults of databases through `penstock run`: what a user reads names the thing, has a code, and no secret."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.databases.places import Place
from tests.databases.test_postgres_faults import control, folder_of
from tests.databases.test_statements import declare, put_file
from tests.e2e.shell import penstock_here, write

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

SECRET = "pz7-planted-9kq"
COLUMNS = "id BIGINT PRIMARY KEY, name TEXT, n BIGINT"
SCRIPT = """
CREATE STREAM ops (id BIGINT, name STRING, n BIGINT)
  WITH (connector = 'files', path = 'ops', format = 'json', files_per_batch = 1);
CREATE TABLE t (id BIGINT PRIMARY KEY, name STRING, n BIGINT)
  WITH ({place}, table = 't', retry_attempts = {attempts}, retry_backoff = 100 MILLISECONDS{more});
UPDATE t SET n = t.n + o.n FROM STREAM ops AS o WHERE t.id = o.id ELSE INSERT (n) VALUES (0);
"""


def prepare(folder: Path, place: str, attempts: int = 2, more: str = "") -> None:
    """A script and two files of its stream."""
    write(folder, {"script.sql": SCRIPT.format(place=place, attempts=attempts, more=more)})
    for number in range(2):
        put_file(folder, number, [{"id": key, "name": "a", "n": 1} for key in (1, 2)])


def run(folder: Path) -> tuple[int, str]:
    """The exit code, and all output."""
    ended = penstock_here(folder, "run", "--once", "--checkpoint", "state", "script.sql")
    assert "Traceback" not in ended.output
    return ended.exit_code, " ".join(ended.output.split())


def expect(folder: Path, code: str, *parts: str) -> None:
    """The run is refused with this code, and names these parts."""
    exit_code, output = run(folder)
    assert exit_code == 3, output
    assert f"error[{code}]" in output
    for part in parts:
        assert part in output, output


@pytest.fixture
def reader(postgres: Place) -> Iterator[str]:
    """The URL of a user that may only read."""
    connection = postgres.connect()
    schema = parse_qs(urlsplit(postgres.url).query)["options"][0].rpartition("=")[2]
    connection.execute("CREATE ROLE reader LOGIN")
    connection.execute(f"GRANT USAGE, CREATE ON SCHEMA {schema} TO reader")
    connection.execute(f"CREATE TABLE t ({COLUMNS})")
    connection.execute("GRANT SELECT ON t TO reader")
    yield postgres.url.replace("postgres@", "reader@")
    connection.execute("DROP OWNED BY reader")
    connection.execute("DROP ROLE reader")
    connection.close()


@pytest.mark.parametrize(
    ("ddl", "parts"),
    [
        (None, ("there is no table t",)),
        ("id BIGINT PRIMARY KEY, name TEXT", ("has no column n", "its columns are id, name")),
        ("id BIGINT PRIMARY KEY, name TEXT, n SMALLINT", ("column n", "SMALLINT", "BIGINT")),
        ("id BIGINT, name TEXT PRIMARY KEY, n BIGINT", ("no primary key or unique constraint of (id)", "name")),
    ],
    ids=["table", "column", "type", "key"],
)
def test_a_table_that_is_not_as_declared(
    postgres: Place, tmp_path: Path, ddl: str | None, parts: tuple[str, ...]
) -> None:
    if ddl is not None:
        postgres.execute(f"CREATE TABLE t ({ddl})")
    prepare(tmp_path, declare(postgres))
    expect(tmp_path, "R061", "table t", "database postgres", *parts)


def test_a_user_without_privileges(reader: str, tmp_path: Path) -> None:
    prepare(tmp_path, f"connector = 'postgres', url = '{reader}'")
    expect(tmp_path, "R060", "INSERT", "table t")


def test_a_database_that_is_away(tmp_path: Path) -> None:
    prepare(tmp_path, "connector = 'postgres', url = 'postgresql://postgres@127.0.0.1:1/shop'")
    expect(tmp_path, "R060", "database shop at 127.0.0.1:1", "2 attempts", "check that the database runs")


def test_a_wrong_password_is_shown_nowhere(postgres: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the wrong one nor, later, the right one."""
    data = folder_of(postgres)
    rules = (data / "pg_hba.conf").read_text()
    postgres.execute(f"CREATE TABLE t ({COLUMNS})", f"CREATE ROLE guarded SUPERUSER LOGIN PASSWORD '{SECRET}'")
    try:
        (data / "pg_hba.conf").write_text(f"local all guarded scram-sha-256\n{rules}")
        postgres.execute("SELECT pg_reload_conf()")
        url = postgres.url.replace("postgres@", "guarded@")
        prepare(tmp_path, f"connector = 'postgres', url = '{url}', password = ENV('SHOP_PASSWORD')")
        monkeypatch.setenv("SHOP_PASSWORD", f"wrong{SECRET}")
        refused, output = run(tmp_path)
        assert refused == 3
        assert "error[R060]" in output
        assert "guarded" in output
        monkeypatch.setenv("SHOP_PASSWORD", SECRET)
        accepted, more = run(tmp_path)
        assert accepted == 0, more
        texts = [output, more]
        for stage in ("ast", "plan", "state", "physical", "partitions", "spark", "code"):
            shown = penstock_here(tmp_path, "explain", stage, "script.sql")
            assert shown.exit_code == 0, shown.output
            texts.append(shown.output)
        files = [path.read_bytes() for path in (tmp_path / "state").rglob("*") if path.is_file()]
        assert len(files) > 5
        assert not any(SECRET in text for text in texts)
        assert not any(SECRET.encode() in content for content in files)
        ledger = postgres.rows("SELECT * FROM penstock_ledger")
        assert ledger
        assert SECRET not in str(ledger)
    finally:
        (data / "pg_hba.conf").write_text(rules)
        postgres.execute("SELECT pg_reload_conf()", "REASSIGN OWNED BY guarded TO postgres", "DROP ROLE guarded")
    assert postgres.rows("SELECT id, n FROM t ORDER BY id") == [(1, 2), (2, 2)]


def test_a_server_that_stops_in_mid_run(postgres: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stops inside of the first transaction, and is there again half a second later."""
    from penstock.kit.databases.batch_changes import Changes

    postgres.execute(f"CREATE TABLE t ({COLUMNS})")
    prepare(tmp_path, declare(postgres), attempts=30, more=", retry_max_delay = 300 MILLISECONDS")
    fetch = Changes.fetch
    stopped: list[bool] = []
    log, options = str(folder_of(postgres) / "log"), f'-h "" -k {folder_of(postgres)}'
    starter = threading.Timer(0.5, control, (postgres, "-o", options, "-l", log, "start"))

    def stop_once(changes: Changes, *given: object) -> object:
        found = fetch(changes, *given)  # type: ignore[arg-type]
        if not stopped:
            stopped.append(True)
            control(postgres, "stop", "-m", "immediate")
            starter.start()
        return found

    monkeypatch.setattr(Changes, "fetch", stop_once)
    exit_code, output = run(tmp_path)
    starter.join()
    assert stopped
    assert exit_code == 0, output
    assert postgres.rows("SELECT id, n FROM t ORDER BY id") == [(1, 2), (2, 2)]
    assert postgres.rows("SELECT batch FROM penstock_ledger WHERE batch >= 0 ORDER BY 1") == [(0,), (1,)]


@pytest.mark.campaign
def test_a_full_disk_below_a_file_of_sqlite(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    try:
        mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
        done = subprocess.run(mount, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no command to mount a disk")
    if done.returncode != 0:
        pytest.skip(f"a disk cannot be mounted here: {done.stderr.strip()}")
    try:
        place = Place("sqlite", str(disk / "t.sqlite"))
        place.execute(f"CREATE TABLE t ({COLUMNS})")
        prepare(tmp_path, declare(place))
        assert run(tmp_path)[0] == 0
        put_file(tmp_path, 2, [{"id": key, "name": "a", "n": 1} for key in range(50_000)])
        expect(tmp_path, "R060", "t.sqlite", "full", "free some space")
        assert place.rows("SELECT id, n FROM t ORDER BY id") == [(1, 2), (2, 2)]
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        exit_code, output = run(tmp_path)
        assert exit_code == 0, output
        assert place.rows("SELECT n, count(*) FROM t GROUP BY n ORDER BY n") == [(1, 49_998), (3, 2)]
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)
