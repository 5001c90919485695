"""Finished runs that can go on, damages to one of their files, and what becomes of the next run."""

from __future__ import annotations

import fnmatch
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import SparkSession

import penstock
from penstock.codegen.program import Input, Read, View
from penstock.runtime import RunError, RuntimeSession
from tests.runtime.programs import logged

DECLARED = """
SET state_partitions = 1;
SET state_store = '{store}';
CREATE STREAM readings (sensor STRING KEY, v BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL '0' SECOND)
WITH (connector = 'files', path = '{folder}/readings', format = 'json');
"""
COUNTS = """CREATE STREAM written WITH (connector = 'files', path = '{folder}/written', format = 'json') AS
SELECT STREAM sensor, window_start, COUNT(*) AS n, SUM(v) AS total FROM readings GROUP BY sensor, TUMBLE(time, 1 HOUR);
"""
CHAIN = """CREATE STREAM written WITH (connector = 'files', path = '{folder}/written', format = 'json') AS
SELECT STREAM window_start, MAX(n) AS n FROM (
  SELECT STREAM sensor, window_start AS minute, COUNT(*) AS n FROM readings GROUP BY sensor, TUMBLE(time, 10 MINUTE)) m
GROUP BY TUMBLE(minute, 2 HOUR);
"""
TOTALS = """
CREATE TABLE written WITH (connector = 'files', path = '{folder}/written', format = 'json', operation = 'op') AS
SELECT sensor, SUM(v) AS total FROM readings GROUP BY sensor;
"""
WHOLE = ("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "false")
"""All of RocksDB's files are stored after each micro-batch."""
SUBJECTS = {
    "windows": DECLARED.replace("{store}", "memory") + COUNTS,
    "rocksdb": DECLARED.replace("{store}", "rocksdb") + COUNTS,
    "snapshots": DECLARED.replace("{store}", "rocksdb") + COUNTS,
    "named": DECLARED.replace("{store}", "rocksdb") + COUNTS,
    "chain": DECLARED.replace("{store}", "memory") + CHAIN,
    "table": DECLARED.replace("{store}", "memory") + TOTALS,
}
COLUMNS = (("sensor", "STRING"), ("window_start", "TIMESTAMP"), ("n", "BIGINT"), ("total", "BIGINT"))
SOUND = View("sound", "SELECT sensor FROM raw WHERE _malformed IS NULL")
KINDS = ("delete", "empty", "cut", "flip", "garbage")
# Logs are compacted early, so that the campaign finds a compacted file in each of them.
EARLY = (
    ("spark.sql.streaming.fileSink.log.compactInterval", "4"),
    ("spark.sql.streaming.fileSource.log.compactInterval", "2"),
)
_LAST = (10 * 60, 20 * 60)  # the minutes of rows that close all windows before, also those of windows
_ROOMS = ("state", "written")


@dataclass(frozen=True)
class Damage:
    """What is done to a file, and whether its checksum goes with it."""

    kind: str
    path: str
    checksum_too: bool = False

    def do(self, root: Path) -> None:
        """Damages the file below `root`."""
        file = root / self.path
        content = file.read_bytes()
        middle = len(content) // 2
        file.unlink()
        match self.kind:
            case "empty":
                file.write_bytes(b"")
            case "cut":
                file.write_bytes(content[:middle])
            case "flip":
                file.write_bytes(
                    content[:middle] + bytes(byte ^ 0xFF for byte in content[middle:][:1]) + content[middle + 1 :]
                )
            case "garbage":
                file.write_bytes(bytes(range(256)))
        if self.checksum_too:
            file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


class Subject:
    """A script with three finished runs behind it. Paths are in Spark's logs, so each case is put where it was made."""

    def __init__(self, spark: SparkSession, name: str, folder: Path) -> None:
        self.name, self.root, self._kept = name, folder / "live", folder / "kept"
        self._spark = spark
        program = penstock.compile(SUBJECTS[name].format(folder=self.root)).program
        more = (WHOLE,) if name == "snapshots" else ()
        # The files of a state that goes on in real time have names of their own, also where micro-batches write them.
        queries = program.queries if name != "named" else [replace(each, real_time=5_000) for each in program.queries]
        self._program = replace(program, settings=(*program.settings, *more), queries=tuple(queries))
        options = (("path", str(self.root / "written")), ("format", "json"))
        self._read = Read((), (Input("written", "raw", "files", options, COLUMNS),), (SOUND,), "sound", ())
        (self.root / "readings").mkdir(parents=True)
        for number in range(3):
            self._put(number)
            self._run()
        shutil.copytree(self.root, self._kept)
        self._put(3)
        self._run()
        self.right = self.rows()

    def files(self, pattern: str = "*") -> list[str]:
        """The files of the checkpoint and of the output folder that match a pattern, but for those of checksums."""
        found = (file for room in _ROOMS for file in (self._kept / room).rglob("*") if file.is_file())
        names = (str(file.relative_to(self._kept)) for file in found if file.suffix != ".crc")
        return sorted(fnmatch.filter(names, pattern))

    def damages(self) -> Iterator[Damage]:
        """Each kind of damage to each file, with and without its checksum; two kinds to the old files of logs."""
        for path in self.files():
            if self._is_old(path):
                yield from (Damage(kind, path) for kind in ("delete", "garbage"))
            else:
                kinds = ((kind, too) for kind in KINDS for too in (False, True))
                damages = (Damage(kind, path, too) for kind, too in kinds if not self._is_secret(path, kind, too))
                yield from (each for each in damages if not self._loses_state(each))

    def _is_secret(self, path: str, kind: str, checksum_too: bool) -> bool:
        """Whether nothing tells of the damage: no checksum is left, and rows have their size, or a log whole lines."""
        if path.startswith("written/part-"):
            return (kind, checksum_too) == ("flip", True)
        content = (self._kept / path).read_bytes()
        return (kind, checksum_too) == ("cut", True) and content[len(content) // 2 :][:1] == b"\n"

    def _loses_state(self, damage: Damage) -> bool:
        """Whether Spark runs a micro-batch again, finds its rows written, passes over it, and so has no state of it.

        A state needs that if its files have names of their own. No query in real time writes files.
        """
        commits = (self._kept / damage.path).parent
        if self.name != "named" or commits.name != "commits" or damage.kind != "delete":
            return False
        return damage.path.endswith(f"/{max(int(each.name) for each in commits.iterdir() if each.name.isdecimal())}")

    def _is_old(self, path: str) -> bool:
        """Whether the file is of a log that has two newer ones."""
        log, _, name = path.rpartition("/")
        newer = (each.name.removesuffix(".compact") for each in (self._kept / log).iterdir())
        return name.isdecimal() and sum(each.isdecimal() and int(each) > int(name) for each in newer) >= 2

    def outcome(self, damage: Damage) -> str:
        """`right`, the code of a refusal, or what is wrong."""
        shutil.rmtree(self.root)
        shutil.copytree(self._kept, self.root)
        damage.do(self.root)
        self._put(3)
        try:
            self._run()
            read = self._session().read(self._read)
        except RunError as refusal:
            return self._judged(refusal, damage)
        except Exception as error:
            return f"traceback: {type(error).__name__}: {str(error)[:300]}"
        if lost := [file for file in logged(self.root / "written") if not Path(file).is_file()]:
            return f"silent: lost {lost[0]}"
        if self.rows() != self.right:
            return "silent: other rows"
        return "right" if len(read) == self.right.total() else "silent: other rows are read"

    def rows(self) -> Counter[str]:
        """The rows of all files that the log of the output lists, whatever their checksums."""
        files = map(Path, logged(self.root / "written"))
        return Counter(line for file in files for line in file.read_text(errors="replace").splitlines())

    def _judged(self, refusal: RunError, damage: Damage) -> str:
        (found,) = refusal.diagnostics
        told = " ".join(filter(None, (found.message, found.detail, found.hint)))
        if found.code == "R099":
            return f"uncoded: {told}"
        return found.code if damage.path in told or re.sub(r"/[^/]*$", "", damage.path) in told else f"unnamed: {told}"

    def _session(self) -> RuntimeSession:
        spark = self._spark.newSession()
        for name, value in EARLY:
            spark.conf.set(name, value)
        # Files are written as outside of tests: only so does a checksum that is left stand in the way.
        spark.conf.unset("spark.sql.streaming.checkpointFileManagerClass")
        return RuntimeSession(spark, str(self.root / "state"))

    def _run(self) -> None:
        with self._session() as session:
            session.run_once(self._program, drain=False)

    def _put(self, number: int) -> None:
        minutes = [*range(number * 40, number * 40 + 40, 3), *(_LAST if number == 3 else ())]
        rows = [{"sensor": "ab"[m % 2], "v": m, "time": f"2024-01-01T{m // 60:02}:{m % 60:02}:00Z"} for m in minutes]
        file = self.root / "readings" / f"{number}.json"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
