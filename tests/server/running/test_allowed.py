"""Statements reach nothing that the server was not allowed at its start."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.compilation import compile
from penstock.diagnostics import CompileError
from penstock.server.running.allowed import Allowed, list_hosts

KEY = "(id BIGINT PRIMARY KEY)"


def reach(allowed: Allowed, text: str) -> str | None:
    """The code of the refusal, None if the relation `r` may be made."""
    catalog = compile(text).catalog
    try:
        allowed.check("r", catalog)
    except CompileError as refused:
        findings = refused.diagnostics
    else:
        return None
    assert {each.code for each in findings} == {"V003"}
    assert all(each.hint for each in findings)
    return findings[0].message.partition(": ")[2]


def read_files(path: object) -> str:
    return f"CREATE STREAM r (x INT) WITH (connector = 'files', path = '{path}', format = 'json')"


@pytest.mark.parametrize(
    ("path", "outside"),
    [
        ("{0}/in", None),
        ("{0}/in/deeper", None),
        ("{0}", None),
        ("{0}/in/../../other", "{0}/in/../../other"),
        ("{0}/link", "{0}/link"),
        ("{0}x", "{0}x"),
        ("/etc", "/etc"),
        ("hdfs://host/in", "hdfs://host/in"),
        ("file:///etc", "file:///etc"),
        ("har:{0}/in", "har:{0}/in"),
        ("//{0}/in", "//{0}/in"),
        ("{0}/in*", None),
        ("{0}/i{{n,d}}", None),
        ("{0}/l*", "{0}/l*"),
        ("{0}/*/passwd", "{0}/*/passwd"),
        ("{0}/in/*/../../../etc", "{0}/in/*/../../../etc"),
        (r"{0}/.\./.\./etc", r"{0}/.\./.\./etc"),
        ("{0}/{{in,../../etc}}", "{0}/{{in,../../etc}}"),
    ],
)
def test_paths(tmp_path: Path, path: str, outside: str | None) -> None:
    root = tmp_path / "root"
    (root / "in").mkdir(parents=True)
    (root / "link").symlink_to("/etc")
    allowed = Allowed(paths=(str(root),), connectors=("files",))
    assert reach(allowed, read_files(path.format(root))) == (outside and outside.format(root))


@pytest.mark.parametrize(
    ("settings", "outside"),
    [
        ('{"region": "eu"}', None),
        ('{"region": "eu", "endpoint_url": "http://elsewhere"}', "endpoint_url"),
        ('{"google_service_account": "/etc/passwd"}', "google_service_account"),
    ],
)
def test_settings_of_object_stores(settings: str, outside: str | None) -> None:
    allowed = Allowed(paths=("s3://lake",), connectors=("delta",))
    text = f"CREATE STREAM r (x INT) WITH (connector = 'delta', path = 's3://lake/r', storage_options = '{settings}')"
    assert reach(allowed, text) == outside


def test_a_scheme_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Although Python takes it for one of the folder in which the server was started."""
    monkeypatch.chdir(tmp_path)
    allowed = Allowed(paths=(str(tmp_path),), connectors=("files",))
    assert reach(allowed, read_files("in")) is None
    assert reach(allowed, read_files("har:/etc/passwd")) == "har:/etc/passwd"


@pytest.mark.parametrize(
    ("path", "is_open"),
    [
        ("in", True),
        ("in/deeper", True),
        ("i*", True),
        ("*", False),
        ("[^i]*", False),
        ("{in,state}", False),
        ("*/secrets", False),
        ("state", False),
        ("state/secrets/token", False),
        ("in/../state", False),
        ("link", False),
        (".", False),
        ("*.json", True),
        ("state-old", True),
    ],
)
def test_files_of_the_server_stay_closed(tmp_path: Path, path: str, is_open: bool) -> None:
    """Also where they are inside of an allowed folder. A folder is read with all that is below."""
    (tmp_path / "in").mkdir()
    (tmp_path / "state").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "state")
    allowed = Allowed(paths=(str(tmp_path),), connectors=("files",), closed=(str(tmp_path / "state"),))
    if path == "*":
        (tmp_path / "link").unlink()
    assert reach(allowed, read_files(f"{tmp_path}/{path}")) == (None if is_open else f"{tmp_path}/{path}")


def test_files_of_the_server_stay_closed_by_another_name() -> None:
    allowed = Allowed(paths=("file:///srv", "hdfs://host/srv"), connectors=("files",), closed=("/srv/state",))
    assert reach(allowed, read_files("file:///srv/state/secrets")) == "file:///srv/state/secrets"
    assert reach(allowed, read_files("file:///srv/in")) is None
    assert reach(allowed, read_files("hdfs://host/srv/state")) is None


@pytest.mark.parametrize(
    ("url", "own", "outside"),
    [
        ("postgresql://u@db/streams", "postgresql://penstock@DB:5432/streams", True),
        ("postgresql://streams@db", "host=db dbname=streams sslrootcert=/ca.pem", True),
        ("postgresql://u@localhost/streams", "postgresql://penstock@127.0.0.1/streams", True),
        ("postgresql://u@localhost/streams", "dbname=streams", True),
        ("postgresql://u@db/shop", "postgresql://penstock@db/streams", False),
        ("postgresql://u@db/streams", "postgresql://penstock@other/streams", False),
    ],
)
def test_the_database_of_the_server(url: str, own: str, outside: bool) -> None:
    allowed = Allowed(connectors=("postgres",), hosts=("db", "localhost"), own_database=own)
    text = f"CREATE TABLE r {KEY} WITH (connector = 'postgres', url = '{url}', table = 'penstock.token')"
    assert reach(allowed, text) == ("the server's own database" if outside else None)


def test_places_with_a_scheme() -> None:
    allowed = Allowed(paths=("hdfs://host/in",), connectors=("files",))
    assert reach(allowed, read_files("hdfs://host/in/clicks")) is None
    assert reach(allowed, read_files("hdfs://host/in/../clicks")) is not None
    assert reach(allowed, read_files("hdfs://host/inner")) is not None


def test_connectors() -> None:
    assert reach(Allowed(), read_files("/data")) == "files"
    assert reach(Allowed(), "CREATE STREAM r (value BIGINT) WITH (connector = 'rate')") is None


def test_sinks() -> None:
    text = (
        "CREATE STREAM s (value BIGINT) WITH (connector = 'rate'); CREATE STREAM r WITH ({}) AS SELECT STREAM * FROM s"
    )
    allowed = Allowed(paths=("/out",), connectors=("files", "rate"))
    assert reach(allowed, text.format("connector = 'files', path = '/etc', format = 'json'")) == "/etc"
    assert reach(allowed, text.format("connector = 'files', path = '/out/r', format = 'json'")) is None


@pytest.mark.parametrize(
    ("url", "password", "outside"),
    [
        ("postgresql://u@db/x", "", None),
        ("postgresql://u@DB:5433/x", "", None),
        ("postgresql://u@other/x", "", "other"),
        ("postgresql://u@db,other/x", "", "other"),
        ("postgresql://u@db/x?host=other", "", "other"),
        ("postgresql://u@db/x?hostaddr=10.0.0.1", "", "10.0.0.1"),
        ("postgresql:///x", "", "a socket of this machine"),
        ("postgresql://u@%2Ftmp/x", "", "a socket of this machine"),
        ("postgresql://u@db/x?service=s", "", "postgresql://*@db/x?service=s"),
        ("postgresql://u@db/x?passfile=/p", "", "postgresql://*@db/x?passfile=/p"),
        ("postgresql://u@db/x", ", password = ENV('HOME')", "ENV('HOME')"),
        ("postgresql://u@db/x", ", password = FILE('/etc/shadow')", "FILE('/etc/shadow')"),
        ("postgresql://u@db/x", ", password = ENV('DB_PASSWORD')", None),
    ],
)
def test_hosts_and_secrets(url: str, password: str, outside: str | None) -> None:
    allowed = Allowed(connectors=("postgres",), hosts=("db",), secrets=("DB_PASSWORD",))
    text = f"CREATE TABLE r {KEY} WITH (connector = 'postgres', url = '{url}', table = 't'{password})"
    assert reach(allowed, text) == outside


@pytest.mark.parametrize(
    ("url", "outside"),
    [
        ("mysql://u@db/x", None),
        ("mysql://DB:3307/x", None),
        ("mysql://u@other/x", "other"),
        ("mysql:///x", "a socket of this machine"),
        ("mysql://u@db/x?unix_socket=/run/mysqld.sock", "mysql://*@db/x?unix_socket=/run/mysqld.sock"),
        ("mysql://u@db/x?ssl_ca=/etc/shadow", "mysql://*@db/x?ssl_ca=/etc/shadow"),
        ("mysql://u@db#@other/x", "mysql://*@db#@other/x"),
    ],
)
def test_hosts_of_mysql(url: str, outside: str | None) -> None:
    allowed = Allowed(connectors=("mysql",), hosts=("db",), own_database="dbname=streams")
    assert reach(allowed, f"CREATE TABLE r {KEY} WITH (connector = 'mysql', url = '{url}', table = 't')") == outside


def test_all_hosts_of_an_address() -> None:
    assert list_hosts("postgresql://u@[::1]:1,B:2/x") == ["::1", "b"]


@pytest.mark.parametrize(("servers", "outside"), [("db:9092", None), ("db:9092,other:9092", "other")])
def test_hosts_of_brokers(servers: str, outside: str | None) -> None:
    allowed = Allowed(connectors=("kafka",), hosts=("db",))
    place = f"connector = 'kafka', topic = 't', format = 'json', bootstrap_servers = '{servers}'"
    assert reach(allowed, f"CREATE STREAM r (id INT) WITH ({place})") == outside


@pytest.mark.parametrize(("url", "outside"), [("http://DB:8081/x", None), ("https://other:8081", "other")])
def test_hosts_of_registries(url: str, outside: str | None) -> None:
    allowed = Allowed(connectors=("kafka",), hosts=("db",))
    place = (
        f"connector = 'kafka', topic = 't', format = 'avro', schema_registry = '{url}', bootstrap_servers = 'db:9092'"
    )
    assert reach(allowed, f"CREATE STREAM r (id INT) WITH ({place})") == outside
