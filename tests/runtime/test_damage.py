"""Checkpoints and output folders that were damaged are refused, by the name of the file."""

from __future__ import annotations

import errno
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.diagnostics import Diagnostic
from penstock.runtime import RunError, RuntimeSession
from penstock.runtime.checkpoint import checkpoint, lock
from penstock.runtime.checkpoint.preflight import check_checkpoint, check_inputs
from penstock.runtime.checkpoint.sink_log import check_files, check_log, list_committed
from penstock.runtime.checkpoint.storage import Storage
from penstock.runtime.checkpoint.sweep import list_finished
from penstock.runtime.failure.failures import explain
from penstock.runtime.failure.storage_failures import explain_storage
from tests.runtime.damage import SUBJECTS, Damage, Subject
from tests.runtime.programs import Place

pytestmark = pytest.mark.spark

SPOILT = ("", "{", "null", "[]", "v1", "v9\n{}", "v1\n{}", "v1\n[1]", "\x00\x01")
OFFSETS = """v1
{{"batchWatermarkMs": {watermark}, "batchTimestampMs": 1, "conf": {{}}}}
{{"logOffset": {offset}}}
-
{{"logOffset": {offset}}}"""
FINE = {
    "metadata": '{"id": "1"}',
    "offsets/0": OFFSETS.format(watermark=0, offset=0),
    "offsets/1": OFFSETS.format(watermark=5, offset=1),
    "offsets/2": OFFSETS.format(watermark=5, offset=2),
    "commits/0": 'v1\n{"nextBatchWatermarkMs": 5}',
    "commits/1": 'v1\n{"nextBatchWatermarkMs": 5}',
    "sources/0/1.compact": "".join(
        ["v1", *(f'\n{{"path": "file:/in/{n}", "timestamp": 1, "batchId": {n}}}' for n in (0, 1))]
    ),
    "sources/0/2": 'v1\n{"path": "file:/in/2", "timestamp": 1, "batchId": 2}',
}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def refusal(failure: pytest.ExceptionInfo[RunError]) -> Diagnostic:
    (finding,) = failure.value.diagnostics
    assert finding.hint
    return finding


def check(storage: Storage, place: Path) -> int:
    """The newest finished micro-batch of a query whose first and third offset are of one input."""
    newest = check_checkpoint(storage, str(place))
    check_inputs(storage, str(place), ["0", "1", "0"])
    return newest


@pytest.mark.parametrize("name", sorted(FINE))
def test_what_spark_needs_of_its_logs_is_looked_at(spark: SparkSession, tmp_path: Path, name: str) -> None:
    write(tmp_path, FINE)
    storage = Storage(spark)
    assert check(storage, tmp_path) == 1
    if name in ("offsets/0", "commits/0"):  # of past micro-batches
        (tmp_path / name).unlink()
        assert check(storage, tmp_path) == 1
        return
    for spoilt in SPOILT:
        (tmp_path / name).write_text(spoilt)
        if spoilt == "v1" and name.startswith("sources"):  # so many entries as there were files
            continue
        with pytest.raises(RunError) as failure:
            check(storage, tmp_path)
        assert (refusal(failure).code, name in refusal(failure).message) == ("R050", True), spoilt
    (tmp_path / name).unlink()
    if name == "offsets/2":  # a crash leaves the same
        assert check(storage, tmp_path) == 1
        return
    with pytest.raises(RunError) as failure:
        check(storage, tmp_path)
    assert name.removesuffix("1.compact") in refusal(failure).message


def test_a_lost_commit_is_run_again_and_nothing_is_left_of_it(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, {**FINE, "commits/.1.crc": "crc", "offsets/.2.crc": "crc"})
    (tmp_path / "commits/1").unlink()
    (tmp_path / "offsets/2").unlink()
    assert check_checkpoint(Storage(spark), str(tmp_path)) == 0
    assert not (tmp_path / "commits/.1.crc").exists()
    assert not (tmp_path / "offsets/.2.crc").exists()
    write(tmp_path, {"offsets/2": FINE["offsets/2"]})
    with pytest.raises(RunError) as failure:
        check_checkpoint(Storage(spark), str(tmp_path))
    assert "commits/1" in refusal(failure).message


def test_a_commit_may_name_the_files_of_a_state(spark: SparkSession, tmp_path: Path) -> None:
    named = {"nextBatchWatermarkMs": 5, "stateUniqueIds": {"0": [["b4eef8f1"]]}}
    write(tmp_path, {**FINE, "commits/1": f"v2\n{json.dumps(named)}"})
    assert check(Storage(spark), tmp_path) == 1
    for spoilt in ("v2", "v2\n", "v2\n{}", 'v2\n{"nextBatchWatermarkMs": 5}', f"v3\n{json.dumps(named)}"):
        write(tmp_path, {"commits/1": spoilt})
        with pytest.raises(RunError) as failure:
            check(Storage(spark), tmp_path)
        assert (refusal(failure).code, "commits/1" in refusal(failure).message) == ("R050", True), spoilt


@pytest.mark.parametrize("name", ["", "left-keyToNumValues/"])
def test_the_schema_of_a_state_is_looked_at(spark: SparkSession, tmp_path: Path, name: str) -> None:
    text = b'{"type":"struct"}'
    part = b"\x00\x00\x00\x01" + len(text).to_bytes(2) + text
    whole = b"\x00\x02v2" + part + part
    write(tmp_path, FINE)
    schema = tmp_path / "state" / "0" / "0" / f"{name}_metadata" / "schema"
    schema.parent.mkdir(parents=True)
    schema.write_bytes(whole)
    check_checkpoint(Storage(spark), str(tmp_path))
    for spoilt in (b"", whole[:3], whole[:20], whole[:-5], whole[: len(whole) // 2 + 2], b"\xff" * 40):
        schema.write_bytes(spoilt)
        with pytest.raises(RunError) as failure:
            check_checkpoint(Storage(spark), str(tmp_path))
        assert str(schema) in refusal(failure).message


def test_a_damaged_description_is_refused(spark: SparkSession, place: Place) -> None:
    (query,) = place.kept().queries
    folder = str(place.root / "state")
    with checkpoint.checkpoint(spark, query, folder, print) as made:
        write(Path(made), FINE)
    description = Path(made) / "penstock.json"
    past = json.loads(description.read_text())
    for spoilt in (*SPOILT, "{}", json.dumps({**past, "views": 1}), json.dumps({**past, "mode": "other"}), None):
        (Path(made) / ".penstock.crc").unlink(missing_ok=True)
        description.unlink() if spoilt is None else description.write_text(spoilt)
        with pytest.raises(RunError) as failure, checkpoint.checkpoint(spark, query, folder, print):
            pass
        assert (refusal(failure).code, str(description) in refusal(failure).message) == ("R050", True), spoilt


def test_a_damaged_lock_is_refused_and_an_empty_one_is_not(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, storage = tmp_path / "lock", Storage(spark)
    for spoilt in (*SPOILT[1:], '{"host": "a"}', '{"host": "a", "python": [1], "jvm": "x"}'):
        file.write_text(spoilt)
        with pytest.raises(RunError) as failure, lock.lock(spark, storage, str(file), print):
            pass
        assert (refusal(failure).code, file.read_text()) == ("R051", spoilt)
        assert f"delete {file}" in (refusal(failure).hint or "")
    monkeypatch.setattr(lock, "_JVM_END_SECONDS", 0.2)
    file.write_text("")  # as a crash leaves it
    with lock.lock(spark, storage, str(file), print):
        assert file.read_text() != ""


def test_a_lost_part_of_an_output_folder_is_named(spark: SparkSession, tmp_path: Path) -> None:
    storage, folder = Storage(spark), str(tmp_path)
    entry = '{{"path": "file:/x/{0}", "size": {1}, "action": "add"}}'
    log = {f"_spark_metadata/{n}": "v1\n" + entry.format(f"part-{n}", n) for n in (2, 3)}
    log["_spark_metadata/1.compact"] = "\n".join(["v1", *(entry.format(f"part-{n}", n) for n in (0, 1))])
    whole = {**log, **{f"part-{n}": "x" * n for n in range(4)}}

    def check(newest: int) -> None:
        check_log(storage, folder, newest)
        check_files(storage, folder)

    def refused(newest: int = 3) -> str:
        with pytest.raises(RunError) as failure:
            check(newest)
        return f"{refusal(failure).code} {refusal(failure).message.rpartition('/')[2]}"

    write(tmp_path, whole)
    check_log(storage, folder, 3)
    check_files(storage, folder)
    assert refused(4) == "R052 4"
    for spoilt in SPOILT:
        write(tmp_path, {"_spark_metadata/2": spoilt})
        if spoilt != "v1":  # Spark lists nothing for a micro-batch that wrote no file
            assert refused() == "R052 2", spoilt
    (tmp_path / "_spark_metadata/2").unlink()
    assert refused() == "R052 2"
    write(tmp_path, {**whole, "part-3": "yy"})
    assert refused() == "R053 part-3"
    check_files(storage, folder, {"part-3"})
    (tmp_path / "part-3").unlink()
    assert refused() == "R053 part-3"
    write(tmp_path, whole)
    (tmp_path / "_spark_metadata/1.compact").unlink()
    assert refused() == "R052 0"
    with pytest.raises(RunError):
        list_committed(storage, folder)
    for file in (tmp_path / "_spark_metadata").iterdir():
        file.unlink()
    (tmp_path / "_spark_metadata").rmdir()
    assert refused() == "R052 _spark_metadata"
    check_log(storage, folder, -1)


def test_a_reader_needs_the_files_that_it_has_not_read(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, {name: text.replace("/in/", f"{tmp_path}/in/") for name, text in FINE.items()})
    assert list_finished(Storage(spark), str(tmp_path), str(tmp_path / "in")) == {"0", "1"}
    assert list_finished(Storage(spark), str(tmp_path), str(tmp_path / "other")) == set()


def test_what_is_lost_of_a_run_is_refused_by_the_next_run_and_by_reads(spark: SparkSession, place: Place) -> None:
    place.put("a", {"id": 1, "v": 10, "ts": "2026-01-01T10:00:00Z"})
    kept = place.kept(connector="files", path=str(place.root / "kept"), format="json")

    def refused(session: RuntimeSession) -> tuple[str, str]:
        with pytest.raises(RunError) as failure:
            session.run_once(kept, drain=False)
        return refusal(failure).code, refusal(failure).message.rpartition(": ")[2]

    with RuntimeSession(spark, str(place.root / "state")) as session:
        session.run_once(kept, drain=False)
        (part,) = (place.root / "kept").glob("part-*")
        part.unlink()
        assert refused(session) == ("R053", str(part))
        (place.root / "kept").rename(place.root / "elsewhere")
        assert refused(session) == ("R052", f"{place.root}/kept/_spark_metadata")


def test_a_full_disk_is_told_with_the_room_that_is_left(spark: SparkSession, tmp_path: Path) -> None:
    error = OSError(errno.ENOSPC, "No space left on device")
    assert explain(error, "sums").code == "R055"
    found = explain_storage(error, "sums", spark, str(tmp_path), [])
    assert found is not None
    assert (found.code, f"free for {tmp_path}" in (found.detail or "")) == ("R055", True)


def test_damage_is_named_or_does_no_harm(spark: SparkSession, tmp_path: Path) -> None:
    """A few cases of the campaign below, of the state too, which only Spark reads."""
    subject = Subject(spark, "windows", tmp_path)
    newest = {path.rpartition("/")[0]: path for path in subject.files()}
    cases = [
        Damage("delete", newest["state/written/commits"]),
        Damage("flip", newest["state/written/state/0/0"]),
        Damage("cut", newest["state/written/state/0/0"], True),
        Damage("delete", newest["state/written/sources/readings"]),
        Damage("delete", "state/written/sources.json"),
        Damage("delete", newest["written/_spark_metadata"], True),
        Damage("empty", max(subject.files("written/part-*"), key=lambda path: (subject.root / path).stat().st_size)),
    ]
    assert [subject.outcome(case) for case in cases] == ["right", "R054", "R054", "R050", "R050", "R052", "R053"]


@pytest.mark.campaign
@pytest.mark.parametrize("name", SUBJECTS)
def test_each_damage_to_each_file_is_named_or_does_no_harm(spark: SparkSession, tmp_path: Path, name: str) -> None:
    subject = Subject(spark, name, tmp_path)
    outcomes = {damage: subject.outcome(damage) for damage in subject.damages()}
    print(name, len(outcomes), Counter(outcome.split(":")[0] for outcome in outcomes.values()))
    assert {damage: outcome for damage, outcome in outcomes.items() if not re.fullmatch(r"right|R\d+", outcome)} == {}
