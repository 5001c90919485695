"""The blocks of the files beside this one, and the list of those that do not hold yet."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
PRELUDE = FOLDER / "prelude.sql"
PENDING = FOLDER / "pending.txt"
_HEAD = (
    "# Blocks that do not hold yet: name, what comes instead, and why that may stay. Written by `pytest --accept`.\n"
)
_NAME = re.compile(r"^-- name: (.+)\n", re.MULTILINE)
_WARNED = re.compile(r"^-- warned: (\w+), (.+)\n", re.MULTILINE)
_EXPECTED = re.compile(r"^-- (read, )?(?:same as|refused: (\w+)(?:, (.+))?)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Spelling:
    """One block. `same` is the SQL that means the same; where it is None, `code` is that of the refusal.

    `hint`: a piece of what the refusal says. `read`: the statement is a bounded SELECT over tables.
    `warnings`: codes of warnings, each with a piece of its text.
    """

    name: str
    sql: str
    read: bool
    same: str | None
    code: str
    hint: str
    warnings: tuple[tuple[str, str], ...]


def read_file(path: Path) -> list[Spelling]:
    """The blocks of one file. Raises ValueError for one that says nothing of what is expected."""
    _head, *blocks = _NAME.split(path.read_text(encoding="utf-8"))
    topic = path.relative_to(FOLDER).with_suffix("").as_posix()
    found = []
    for title, block in zip(blocks[::2], blocks[1::2], strict=True):
        parts = _EXPECTED.split(block)
        if len(parts) != 5:
            raise ValueError(f"{path}: {title}: one line `-- same as` or `-- refused: …`")
        sql, read, code, hint, same = parts
        warnings, sql = tuple(_WARNED.findall(sql)), _WARNED.sub("", sql)
        expected = None if code else same
        found.append(Spelling(f"{topic}: {title}", sql, read is not None, expected, code or "", hint or "", warnings))
    return found


SPELLINGS = [each for path in sorted(FOLDER.glob("*/*.sql")) for each in read_file(path)]


def read_pending() -> dict[str, tuple[str, str]]:
    """What comes instead, and the reason, by the name of the block."""
    lines = PENDING.read_text(encoding="utf-8").splitlines()
    rows = ([part.strip() for part in line.split("|")] for line in lines if line and not line.startswith("#"))
    return {row[0]: (row[1], row[2] if len(row) > 2 else "") for row in rows}


def accept(name: str, outcome: str) -> None:
    """Writes what came out of one block into the list; an empty outcome takes it out."""
    pending = read_pending()
    _, reason = pending.pop(name, ("", ""))
    if outcome:
        pending[name] = outcome, reason
    known = [each.name for each in SPELLINGS]
    lines = [
        f"{each} | {pending[each][0]}" + (f" | {why}" if (why := pending[each][1]) else "")
        for each in known
        if each in pending
    ]
    PENDING.write_text(_HEAD + "".join(f"{line}\n" for line in lines), encoding="utf-8")
