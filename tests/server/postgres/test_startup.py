"""What comes before a session: who may connect, how, and how many."""

from __future__ import annotations

import ssl
import struct
import time
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from penstock.server.client_limits import Limits
from penstock.server.postgres.relay import Upstream
from penstock.server.postgres.tls import load_context, make_certificate
from tests.server.postgres.door import Door, open_door
from tests.server.postgres.wire import Wire, open_wire, query

SSL, GSS = (struct.pack(">ii", 8, 80877100 + number) for number in (3, 4))


def packet(body: bytes, version: int = 3 << 16) -> bytes:
    return struct.pack(">ii", len(body) + 8, version) + body


def refusal(wire: Wire, *data: bytes) -> str:
    """The SQLSTATE with which the connection is ended, or nothing."""
    wire.send(*data)
    error, *rest = wire.until("")
    assert rest == [] or rest[-1].kind == ""
    return error.fields["C"] if error.kind == "E" else error.kind


def test_a_password_is_asked_for(any_door: Door) -> None:
    with any_door.connect() as connection:
        assert connection.execute("SELECT current_user").fetchone() == ("alice",)
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(any_door.dsn(password="wrong"))
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        any_door.connect("nobody")


@pytest.mark.parametrize("binding", ["prefer", "disable"])
def test_scram_with_and_without_channel_binding(any_door: Door, binding: str) -> None:
    dsn = any_door.dsn(channel_binding=binding, require_auth="scram-sha-256")
    with psycopg.connect(dsn) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_the_certificate_can_be_verified(
    database: Upstream, certificate: tuple[Path, Path], tls: ssl.SSLContext
) -> None:
    with open_door(database, tls=tls) as door:
        for host in ("localhost", "127.0.0.1"):
            dsn = door.dsn(host=host, sslrootcert=str(certificate[0]), sslmode="verify-full")
            with psycopg.connect(dsn) as connection:
                assert connection.pgconn.ssl_in_use
        with psycopg.connect(door.dsn(), sslmode="disable") as connection:
            assert not connection.pgconn.ssl_in_use


def test_tls_can_be_demanded(database: Upstream, tls: ssl.SSLContext) -> None:
    with open_door(database, tls=tls, is_tls_required=True) as door:
        with pytest.raises(psycopg.OperationalError, match="connections with TLS only"):
            psycopg.connect(door.dsn(), sslmode="disable")
        with Wire(door) as wire:
            wire.send(struct.pack(">ii", 16, 80877102), bytes(8))
            assert wire.read().kind == "", "a request to cancel needs no TLS"


def test_old_versions_of_tls_are_refused(database: Upstream, tls: ssl.SSLContext) -> None:
    with open_door(database, tls=tls) as door, pytest.raises(psycopg.OperationalError, match=r"version|alert|SSL"):
        psycopg.connect(door.dsn(), ssl_min_protocol_version="TLSv1.1", ssl_max_protocol_version="TLSv1.1")


def test_what_is_not_spoken_is_said(door: Door) -> None:
    with Wire(door) as wire:
        for request in (SSL, GSS):
            wire.send(request)
            assert wire.file.read(1) == b"N"
        assert wire.start()[-1].kind == "Z"


@pytest.mark.parametrize("first", [SSL, GSS])
def test_bytes_before_encryption_are_refused(database: Upstream, tls: ssl.SSLContext, first: bytes) -> None:
    with open_door(database, tls=tls) as door, Wire(door) as wire:
        assert refusal(wire, first + packet(b"user\0wire\0\0")) == "08P01"


@pytest.mark.parametrize(
    "data",
    [
        SSL + SSL,
        packet(b"user\0wire\0"),
        packet(b""),
        packet(b"\0\0"),
        packet(b"user\0\0wire\0\0"),
        packet(b"user\0wire\0database\0\0"),
        packet(b"user\0wire\0\0", version=2 << 16),
        packet(b"user\0wire\0\0", version=4 << 16),
        struct.pack(">ii", 7, 3 << 16),
        struct.pack(">ii", 0, 3 << 16),
        struct.pack(">ii", -1, 3 << 16),
        struct.pack(">ii", 10_001, 3 << 16),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\0" * 100,
    ],
)
def test_wrong_beginnings(door: Door, data: bytes) -> None:
    with Wire(door) as wire:
        if data == SSL + SSL:
            wire.send(SSL)
            assert wire.file.read(1) == b"N"
            assert refusal(wire, SSL) == "08P01"
        else:
            assert refusal(wire, data) == "08P01"
    with open_wire(door) as wire:
        assert wire.ask(query("SELECT 1"))[-1] == "Z I"


@pytest.mark.parametrize(
    "pairs", [b"user\0postgres\0", b"user\0wire\0user\0postgres\0", b"user\0postgres\0user\0wire\0"]
)
def test_the_superuser_is_refused(door: Door, pairs: bytes) -> None:
    with Wire(door) as wire:
        assert refusal(wire, packet(pairs + b"\0")) == "28000"


def test_the_superuser_can_be_allowed(database: Upstream) -> None:
    with open_door(database, refused_roles=frozenset()) as door, Wire(door) as wire:
        assert wire.start("postgres")[-1].kind == "Z"


def test_the_last_user_is_the_author(door: Door) -> None:
    with Wire(door) as wire:
        wire.send(packet(b"user\0bob\0user\0wire\0database\0postgres\0\0"))
        wire.until("Z")
        wire.ask(query("CREATE STREAM a"))
    assert [each.author for each in door.engine.asked] == ["wire"]


def test_a_role_that_is_set_is_not_the_author(door: Door) -> None:
    with door.connect() as connection:
        connection.execute("SET ROLE penstock_reader")
        connection.execute("CREATE STREAM a")
    assert [each.author for each in door.engine.asked] == ["alice"]


def test_a_beginning_has_to_come_in_time(database: Upstream, tls: ssl.SSLContext) -> None:
    with open_door(database, Limits(startup_seconds=0.3), tls) as door, ExitStack() as stack:
        for data in (b"", b"\0\0", SSL, packet(b"user\0wire\0\0")[:-1]):
            wire = stack.enter_context(Wire(door))
            wire.send(data)
            begin = time.monotonic()
            assert wire.file.read().strip(b"S") == b""
            assert time.monotonic() - begin < 10


def await_connections(door: Door, count: int) -> None:
    """Waits until the relay has noticed who has come and gone."""
    deadline = time.monotonic() + 20
    while door.relay.connections != count:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_too_many_clients(database: Upstream) -> None:
    with open_door(database, Limits(connections=3)) as door, ExitStack() as stack:
        held = [stack.enter_context(open_wire(door)) for _ in range(3)]
        with Wire(door) as wire:
            assert [each.short for each in wire.start()] == ["E 53300"]
        with pytest.raises(psycopg.OperationalError, match="too many clients"):
            door.connect()
        await_connections(door, 3)
        silent = [stack.enter_context(Wire(door)) for _ in range(3)]
        await_connections(door, 6)
        with Wire(door) as wire:
            wire.plug.settimeout(5)
            assert wire.read().kind == "", "not even what it wants is read"
        for wire in (held.pop(), *silent):
            wire.__exit__(None, None, None)
        await_connections(door, 2)
        stack.enter_context(open_wire(door))


def test_a_server_that_is_away(database: Upstream) -> None:
    for upstream in (Upstream("/nowhere"), Upstream("127.0.0.1", 1)):
        with open_door(upstream) as door, Wire(door) as wire:
            assert [each.short for each in wire.start()] == ["E 57P03"]


def test_a_certificate_is_kept_until_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate, key = make_certificate(tmp_path / "new")
    assert key.stat().st_mode & 0o777 == 0o600
    first = certificate.read_bytes(), key.read_bytes()
    assert make_certificate(tmp_path / "new") == (certificate, key)
    assert (certificate.read_bytes(), key.read_bytes()) == first
    monkeypatch.setattr("penstock.server.postgres.tls._RENEWED", timedelta(days=400))
    make_certificate(tmp_path / "new")
    assert key.read_bytes() != first[1]
    load_context(certificate, key)


def test_a_key_that_does_not_belong_to_the_certificate(tmp_path: Path) -> None:
    certificate, _ = make_certificate(tmp_path / "a")
    _, key = make_certificate(tmp_path / "b")
    with pytest.raises(ssl.SSLError):
        load_context(certificate, key)


def test_replication_passes_through_untouched(door: Door) -> None:
    with Wire(door) as wire:
        assert wire.start(replication="database")[-1].short in ("Z I", "E 42501")
