"""Tables of Delta Lake that are not as they are declared, or cannot be written, and values of all types in them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Schema, write_deltalake

from penstock.kit.databases.faults import TableError
from penstock.kit.databases.secret_refs import SecretRef
from penstock.kit.delta.delta_table import DeltaTarget, hide_secret, read_delta
from penstock.kit.delta.delta_writer import DeltaWriter
from tests.delta.lakes import COLUMNS, HASTY, held, open_writer, rows_of, target_of


def make(path: Path, *fields: tuple[str, pa.DataType, bool], **options: Any) -> None:
    """A table that others have made."""
    DeltaTable.create(path, Schema.from_arrow(pa.schema([pa.field(*each) for each in fields])), **options)


K, V, S = ("k", pa.int64(), False), ("v", pa.int64(), True), ("s", pa.string(), True)


@pytest.mark.parametrize(
    ("fields", "options", "kind", "told"),
    [
        ((K, V), {}, "columns", "has no column s; it has k, v"),
        ((K, V, ("S", pa.string(), True)), {}, "columns", "has no column s"),
        ((K, ("v", pa.int32(), True), S), {}, "types", "column v .* is .*integer.*, and it is declared as .*long"),
        ((K, V, ("s", pa.binary(), True)), {}, "types", "column s .* is .*binary"),
        ((K, V, S, ("w", pa.int64(), False)), {}, "columns", "column w .* is NOT NULL and is not declared"),
        ((K, V, S), {"partition_by": ["v"]}, "columns", "has the partition columns v"),
        ((K, V, S), {"configuration": {"delta.appendOnly": "true"}}, "key", "takes new rows only"),
    ],
)
def test_a_table_is_not_as_it_is_declared(
    tmp_path: Path, fields: Any, options: dict[str, Any], kind: str, told: str
) -> None:
    make(tmp_path / "t", *fields, **options)
    with pytest.raises(TableError, match=told) as refused:
        open_writer(target_of(tmp_path / "t", partition_by=["s"] if "partition_by" in options else ()))
    assert refused.value.kind == kind


def test_a_table_with_a_key_twice_is_not_written_by_its_key(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "t", rows_of((1, 1, "a"), (1, 2, "b")))
    with pytest.raises(TableError, match=r"several rows of one key \(k\)"):
        open_writer(target_of(tmp_path / "t"))
    writer = DeltaWriter(target_of(tmp_path / "t", key=()), "q", HASTY)
    writer.open("id", "rows")
    writer.write(0, "0" * 64, lambda changes: changes.append(rows_of((1, 3, "c"))))
    assert [row[1] for row in held(tmp_path / "t")] == [1, 2, 3]


def test_columns_that_are_not_declared_stay_as_they_are(tmp_path: Path) -> None:
    make(tmp_path / "t", K, ("w", pa.int64(), True), V, S)
    write_deltalake(tmp_path / "t", pa.table({"k": [1], "w": [7], "v": [0], "s": ["z"]}), mode="append")
    writer = open_writer(target_of(tmp_path / "t"))
    writer.write(0, "0" * 64, lambda changes: changes.upsert(rows_of((1, 1, "a"), (2, 2, "b"))))
    found = pa.table(DeltaTable(tmp_path / "t").scan(columns=["k", "w"])).sort_by("k")
    assert found["w"].to_pylist() == [7, None]
    assert held(tmp_path / "t") == [(1, 1, "a"), (2, 2, "b")]


def test_a_missing_table(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="there is no table") as refused:
        open_writer(target_of(tmp_path / "t", create=False))
    assert refused.value.hint == "create the table, or set create = 'if_missing'"
    with pytest.raises(TableError, match="there is no table"):
        read_delta(target_of(tmp_path / "t"))
    assert not (tmp_path / "t").exists()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    try:
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], capture_output=True)
    except FileNotFoundError:
        pytest.skip("there is no command to mount a disk")
    if done.returncode != 0:
        pytest.skip("a disk cannot be mounted here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.parametrize("by_key", [False, True], ids=["append", "put"])
def test_a_full_disk(disk: Path, by_key: bool) -> None:
    """Nothing of the batch is in a version; when there is room again, the same writer goes on."""
    writer = open_writer(target_of(disk / "t", key=("k",) if by_key else ()))

    def put(changes: Any, *rows: tuple[int, int, str]) -> None:
        (changes.upsert if by_key else changes.append)(rows_of(*rows))

    writer.write(0, "0" * 64, lambda changes: put(changes, (1, 1, "a")))
    (disk / "filler").write_bytes(bytes(1_000_000))
    wide = [(key, key, os.urandom(2000).hex()) for key in range(2, 400)]
    with pytest.raises(TableError, match="No space left") as refused:
        writer.write(1, "1" * 64, lambda changes: put(changes, *wide))
    assert (refused.value.kind, refused.value.hint) == ("full", "free some space")
    assert held(disk / "t") == [(1, 1, "a")]
    (disk / "filler").unlink()
    writer.write(1, "1" * 64, lambda changes: put(changes, (2, 2, "b")))
    assert held(disk / "t") == [(1, 1, "a"), (2, 2, "b")]


FORBIDDEN = """
import os, sys
from pathlib import Path
from tests.delta.lakes import open_writer, rows_of, target_of
from penstock.kit.databases.faults import TableError
if os.getuid() == 0:
    os.setuid(65534)  # the superuser may write everything
try:
    open_writer(target_of(Path(sys.argv[1])))
except TableError as error:
    print(error.kind, error)
"""


@pytest.mark.parametrize("exists", [True, False], ids=["there", "missing"])
def test_a_folder_that_must_not_be_written(tmp_path: Path, exists: bool) -> None:
    if exists:
        open_writer(target_of(tmp_path / "t"))
    for folder in (tmp_path, *tmp_path.parents):
        if folder == Path("/tmp"):
            break
        os.chmod(folder, 0o755)
    command = [sys.executable, "-c", FORBIDDEN, str(tmp_path / "t")]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told.startswith(f"permission table {tmp_path / 't'} (Delta Lake)")


def test_a_store_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setenv("LAKE_SECRET", "tell-nobody")
    options = {"endpoint_url": f"http://127.0.0.1:{port}", "allow_http": "true", "region": "x", "max_retries": "0"}
    given = (*options.items(), ("aws_access_key_id", "me"))
    target = DeltaTarget("s3://lake/t", COLUMNS, ("k",), True, (), given, SecretRef("ENV", "LAKE_SECRET"), SECRET)
    with pytest.raises(TableError, match=r"s3://lake/t \(Delta Lake\): Generic S3 error") as refused:
        open_writer(target)
    assert refused.value.kind == "connect"
    assert "\x1b" not in str(refused.value)
    assert "tell-nobody" not in str(refused.value)


SECRET = "aws_secret_access_key"


def test_secrets_are_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKE_SECRET", "tell-nobody")
    secret = SecretRef("ENV", "LAKE_SECRET")
    target = target_of(tmp_path, secret_key=secret, secret_option="aws_secret_access_key")
    assert target.read_options() == {"aws_secret_access_key": "tell-nobody"}
    assert "tell-nobody" not in repr(target)
    assert hide_secret(target, "403: tell-nobody is wrong") == "403: ****** is wrong"


VALUES: dict[str, tuple[Any, Any]] = {
    "BOOLEAN": (True, False),
    "TINYINT": (-128, 127),
    "SMALLINT": (-(2**15), 2**15 - 1),
    "INT": (-(2**31), 2**31 - 1),
    "BIGINT": (-(2**63), 2**63 - 1),
    "FLOAT": (float("inf"), -1.5),
    "DOUBLE": (float("-inf"), 5e-324),
    "STRING": ("", "é\0'\"\n\U0001f600"),
    "BINARY": (b"", b"\0\xff"),
    "DECIMAL(38, 10)": (Decimal("-9999999999999999999999999999.9999999999"), Decimal("0E-10")),
    "ARRAY<STRING>": (["a", None, ""], []),
    "MAP<STRING, BIGINT>": ([("a", 1), ("b", None)], []),
    "STRUCT<a: INT, `b c`: ARRAY<DATE>>": ({"a": None, "b c": [None]}, {"a": 1, "b c": []}),
}


@pytest.mark.parametrize("type_", VALUES)
@pytest.mark.parametrize("by_key", [False, True], ids=["append", "put"])
def test_values_are_read_as_they_were_written(tmp_path: Path, type_: str, by_key: bool) -> None:
    target = target_of(tmp_path / "t", columns=(*COLUMNS[:1], ("x", type_, True)), key=("k",) if by_key else ())
    schema = pa.schema([("k", pa.int64()), ("x", target.arrow_schema().field("x").type)])
    rows = pa.table([[1, 2, 3], [*VALUES[type_], None]], schema=schema)
    writer = open_writer(target)
    for number in range(2 if by_key else 1):
        writer.write(number, f"{number}" * 64, lambda changes: (changes.upsert if by_key else changes.append)(rows))
    found, version = read_delta(target)
    assert found.sort_by("k").to_pylist() == rows.to_pylist()
    assert version == DeltaTable(tmp_path / "t").version()


@pytest.mark.parametrize(("type_", "unit"), [("DATE", 1), ("TIMESTAMP", 86_400_000_000)])
def test_times_have_the_years_1_to_9999(tmp_path: Path, type_: str, unit: int) -> None:
    target = target_of(tmp_path / "t", columns=(*COLUMNS[:1], ("x", type_, True)))
    arrow, number = target.arrow_schema().field("x").type, pa.int32() if unit == 1 else pa.int64()
    days = [-719162 * unit, 2932896 * unit, -719163 * unit, 2932897 * unit]
    rows = pa.table({"k": pa.array([1, 2, 3, 4]), "x": pa.array(days, number).cast(arrow)})
    open_writer(target).write(0, "0" * 64, lambda changes: changes.upsert(rows))
    found, _ = read_delta(target)
    assert found.sort_by("k").equals(rows.slice(0, 2))
    beside, _ = read_delta(target_of(tmp_path / "t_rejected", columns=(("reason", "STRING", True),), key=()))
    assert beside["reason"].to_pylist() == ["x is outside of the years 1 to 9999"] * 2
