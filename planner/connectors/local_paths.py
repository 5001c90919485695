"""Paths of local files: which folder a path means, and which of its folders a reader sees.

A path without a scheme, or with `file:`, is taken for one of this machine. On a cluster it may mean another folder of
the same spelling, and then links of this machine say nothing.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from itertools import islice

_SCHEME = re.compile(r"[A-Za-z][\w+.-]*:")
_FILE = re.compile(r"^file:(//)?(?=/)")
_GLOB = re.compile(r"[*?\[{\\]")
_BRACES = re.compile(r"(?<!\\)\{([^{}]*)\}")
_SPARK_FILE = "part-00000-00000000-0000-0000-0000-000000000000-c000"
MOST_ALTERNATIVES = 200
MOST_ENTRIES = 10_000
"""So many folders and files are looked at for links. `penstock run` looks at all of them."""


def is_glob(path: str) -> bool:
    """Whether Spark takes the path of an input for a pattern."""
    return _GLOB.search(path) is not None


def resolve_path(path: str) -> str:
    """The path in its shortest form, and without links if it is one of this machine, as far as it is no pattern."""
    path = _FILE.sub("", path)
    if _SCHEME.match(path):
        return posixpath.normpath(path)
    parts = os.path.abspath(path).split("/")
    fixed = next((place for place, part in enumerate(parts) if is_glob(part)), len(parts))
    return "/".join([os.path.realpath("/".join(parts[:fixed]) or "/").rstrip("/"), *parts[fixed:]]) or "/"


def list_read_paths(path: str) -> tuple[str, ...]:
    """The paths that a reader of a path reads, each without links, and where links in these folders lead."""
    if not is_glob(path):
        return tuple(follow_links(resolve_path(path)))
    patterns = list(islice(expand_braces(path), MOST_ALTERNATIVES))
    found = [match for each in patterns for match in list_matches(resolve_path(each))]
    linked = [folder for match in found for folder in follow_links(match)]
    return tuple(dict.fromkeys([*map(resolve_path, patterns), *linked]))


def list_matches(pattern: str) -> list[str]:
    """The files and folders of this machine that an absolute pattern without braces stands for."""
    if _SCHEME.match(pattern):
        return []
    found, left = ["/"], MOST_ENTRIES
    for part in pattern.strip("/").split("/"):
        if not is_glob(part):
            found = [each for folder in found if os.path.lexists(each := os.path.join(folder, part))]
            continue
        matches: list[str] = []
        for folder in found:
            names = list(islice(list_names(folder), left))
            left -= len(names)
            matches += [os.path.join(folder, name) for name in names if fits(name, part)]
        found = matches
    return found


def list_names(folder: str) -> Iterator[str]:
    """The names in a folder; none where it is no folder, or one of somebody else."""
    try:
        with os.scandir(folder) as entries:
            yield from (each.name for each in entries)
    except OSError:
        return


def follow_links(path: str) -> Iterator[str]:
    """The real path, and the targets of links in the folder, from which Spark reads, too."""
    seen: set[str] = set()
    ahead = [path if _SCHEME.match(path) else os.path.realpath(path)]
    while ahead:
        folder = ahead.pop()
        if folder in seen:
            continue
        seen.add(folder)
        yield folder
        if not _SCHEME.match(folder):
            entries = ((parent, names) for parent, names, _ in islice(os.walk(folder), MOST_ENTRIES))
            links = (f"{parent}/{name}" for parent, names in entries for name in names)
            ahead += [os.path.realpath(each) for each in links if os.path.islink(each)]


def expand_braces(pattern: str) -> Iterator[str]:
    """The patterns that one with `{a,b}` stands for."""
    pending = [pattern]
    while pending:
        each = pending.pop()
        braces = _BRACES.search(each)
        if braces is None:
            yield each
        else:
            pending += [each[: braces.start()] + choice + each[braces.end() :] for choice in braces[1].split(",")]


def fits(name: str, pattern: str) -> bool:
    """Whether a name is one that a pattern without slashes and braces stands for."""
    parts: list[str] = []
    for sign in re.finditer(r"\\(.)|\[([!^]?)([^\]]+)\]|(.)", pattern):
        escaped, negated, members, other = sign.groups()
        if members is not None:
            signs = re.sub(r"([\\\[\]^&~|])", r"\\\1", members)
            parts.append(f"[{'^' if negated else ''}{signs}]")
        else:
            parts.append({"*": ".*", "?": "."}.get(other or "", re.escape(escaped or other)))
    return re.fullmatch("".join(parts), name, re.DOTALL) is not None


def sees_folder(read: str, written: str) -> bool:
    """Whether who reads at a path, maybe a pattern, sees rows that Spark writes into the folder `written`.

    Spark passes over names that begin with `_` or `.`.
    """
    wanted, parts = read.rstrip("/").split("/"), written.rstrip("/").split("/")
    for part, pattern in zip(parts, wanted, strict=False):
        if part != pattern and not (is_glob(pattern) and fits(part, pattern)):
            return False
    if len(wanted) <= len(parts):
        return not any(part.startswith((".", "_")) for part in parts[len(wanted) :])
    below = wanted[len(parts) :]
    return len(below) == 1 and any(fits(f"{_SPARK_FILE}.{form}", below[0]) for form in ("json", "csv", "parquet"))


def list_matching(path: str) -> list[str]:
    """The files and folders of this machine that an absolute path stands for, which may be a pattern."""
    if not is_glob(path):
        return [path] if os.path.lexists(path) else []
    return list(dict.fromkeys(match for each in expand_braces(path) for match in list_matches(each)))
