"""The folders that a run will write -> a refusal if one cannot be made or written, before anything is started.

Only folders of this machine are tried. A folder of one file is made in each, or in the nearest one above it that is
there. Then it is removed again.
"""

from __future__ import annotations

import errno
import grp
import os
import pwd
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from penstock.codegen.folders import checkpoint_name
from penstock.codegen.program import Program
from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.running import R017, R055, R057
from penstock.runtime.failure.errors import RunError

_LOCAL = "file:"
_SAMPLE = bytes(4096)
_FULL = (errno.ENOSPC, errno.EDQUOT)


def check_writable(program: Program | None, checkpoint: str | None) -> None:
    """Tries the folders of checkpoints, rows and rejected rows of a program on a Spark of this machine.

    Raises:
        RunError: with a finding for each that cannot be written.
    """
    findings: dict[str, Diagnostic] = {}
    places = [] if checkpoint is None else [checkpoint]
    for query in () if program is None else program.queries:
        places += [] if checkpoint is None else [f"{checkpoint}/{checkpoint_name(query.name)}"]
        folder = query.output.folder
        path = None if folder is None else find_local(folder)
        if path is not None and path.is_file():
            findings[str(path)] = R017.at(None, name=query.output.name, path=str(path))
        places += [each for each in (folder, query.rejects_folder) if each is not None]
    for place in dict.fromkeys(places):
        path = find_local(place)
        if path is not None and str(path) not in findings and (finding := try_folder(path)) is not None:
            findings[str(path)] = finding
    if findings:
        raise RunError(findings.values())


def find_local(place: str) -> Path | None:
    """The path on this machine of a place in one of Spark's file systems, None if it is elsewhere."""
    if place.startswith(_LOCAL):
        place = "/" + place.removeprefix(_LOCAL).lstrip("/")
    return None if ":/" in place else Path(os.path.abspath(place))


def try_folder(path: Path) -> Diagnostic | None:
    """The finding that a folder cannot be made or written, None if it can."""
    there = _find_nearest(path)
    try:
        sample = tempfile.mkdtemp(prefix=".penstock-", dir=there)
        try:
            Path(sample, "sample").write_bytes(_SAMPLE)
        finally:
            shutil.rmtree(sample, ignore_errors=True)
    except OSError as error:
        return explain_unwritable(path, error)
    return None


def explain_unwritable(path: Path, error: OSError) -> Diagnostic:
    """The finding that a folder cannot be written, for what the system says of it."""
    if error.errno in _FULL:
        return R055.at(None, query="this run").because(f"{path} cannot be made").with_hint("make room and start again")
    there = _find_nearest(path)
    if not there.is_dir():
        return R057.at(None, path=str(path)).because(f"{there} is a file").with_hint("name another folder")
    told = f"{(error.strerror or 'it cannot be made').lower()}: {there} {describe_owner(there)}"
    user = _name_user(os.geteuid())
    return R057.at(None, path=str(path)).because(told).with_hint(f"name another folder, or let {user} write to {there}")


def _find_nearest(path: Path) -> Path:
    """The path, or the nearest one above it that is there."""
    for each in (path, *path.parents):
        with suppress(OSError):  # what may not be looked at is not there for us
            each.lstat()
            return each
    return Path("/")


def describe_owner(path: Path) -> str:
    """Who owns a path, with which rights, and who this process is."""
    with suppress(OSError):
        found = path.stat()
        owner = f"{_name_user(found.st_uid)}:{_name_group(found.st_gid)}"
        return f"belongs to {owner} with {stat.filemode(found.st_mode)}, and this process is {_name_user(os.geteuid())}"
    return "may not be looked at"


def _name_user(number: int) -> str:
    with suppress(KeyError):
        return pwd.getpwuid(number).pw_name
    return str(number)


def _name_group(number: int) -> str:
    with suppress(KeyError):
        return grp.getgrgid(number).gr_name
    return str(number)
