"""Which files of tests have changed: they themselves, or a file that they name."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

PAUSE = 0.3
"""Seconds between two looks at the files."""
Stamps = dict[str, tuple[int, int] | None]
"""When files were changed and how large they are, None for files that are not there."""


def wait() -> None:
    """The time between two looks."""
    time.sleep(PAUSE)


def follow_changes(find: Callable[[], Sequence[str]]) -> Iterator[list[str]]:
    """All files of tests, and then again and again the ones that have changed."""
    known: dict[str, Stamps] = {}
    while True:
        now = {file: read_stamps(file, known.get(file, {})) for file in find()}
        changed = [file for file, stamps in now.items() if known.get(file) != stamps]
        known = now
        if changed:
            yield changed
        wait()


def read_stamps(file: str, before: Stamps) -> Stamps:
    """The stamps of a file of tests, and of the files that it names. If it cannot be read, these are as before."""
    own = stamp_of(file)
    same = file in before and before[file] == own
    names = list(before) if same else [file, *(list_named(file) or list(before))]
    return {name: own if name == file else stamp_of(name) for name in names}


def stamp_of(file: str) -> tuple[int, int] | None:
    """When the file was changed, and how large it is."""
    try:
        found = Path(file).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def list_named(file: str) -> list[str]:
    """The files that tests name, none if the file cannot be read."""
    from penstock.commands.script_files import read_source
    from penstock.diagnostics import CompileError
    from penstock.testing.cases import list_named_files, read_cases

    try:
        cases = read_cases(read_source(file))
    except CompileError:
        return []
    return [str(Path(file).parent / name) for name in list_named_files(cases)]
