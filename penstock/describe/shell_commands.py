"""Files that are not read as they are -> the commands for a shell that write them anew."""

from __future__ import annotations

import os
import re
import shlex

from penstock.runtime.samples.sample_files import COMPRESSED, SampleFile

_READERS = {".gz": "gzip -dc", ".bz2": "bzip2 -dc"}


def type_path(path: str, file: SampleFile) -> str:
    """The path of a file below `path`, as people type it who typed that."""
    typed = re.sub(r"^file:(//)?(?=/)", "", path)
    if os.path.isdir(typed):
        return os.path.join(typed, os.path.relpath(file.path, os.path.abspath(typed)))
    if os.path.exists(typed):
        return typed
    return file.path if os.path.isabs(typed) else os.path.relpath(file.path)


def rewrite_file(path: str, file: SampleFile, program: str, ending: str, *, takes_names: bool = True) -> str:
    """The command that gives a program the file, and writes what comes of it beside it, with another ending.

    `takes_names`: whether the program opens files by their names.
    """
    typed = type_path(path, file)
    stem, old = os.path.splitext(typed)
    reader = _READERS.get(old.lower())
    if old.lower() in COMPRESSED:
        stem, old = os.path.splitext(stem)
    if old == ending:
        ending = f".new{ending}"
    target = _quote(stem + ending)
    if reader is not None:
        return f"{reader} {_quote(typed)} | {program} > {target}"
    return f"{program} {'' if takes_names else '< '}{_quote(typed)} > {target}"


def join_commas(path: str, file: SampleFile, separator: str) -> str:
    """The command that separates the fields of a file with commas. It needs Python alone, which is there."""
    sign = "\\t" if separator == "\t" else separator
    code = f"import csv, sys; csv.writer(sys.stdout).writerows(csv.reader(sys.stdin, delimiter='{sign}'))"
    return rewrite_file(path, file, f'python3 -c "{code}"', ".csv", takes_names=False)


def write_utf8(path: str, file: SampleFile, encoding: str) -> str:
    """The command that writes a file in UTF-8."""
    stem, ending = os.path.splitext(file.name)
    ending = os.path.splitext(stem)[1] if ending.lower() in COMPRESSED else ending
    return rewrite_file(path, file, f"iconv -f {encoding} -t UTF-8", f".utf8{ending}")


def _quote(path: str) -> str:
    """The path as a shell takes it for one word, and no program for an option."""
    return shlex.quote(f"./{path}" if path.startswith("-") else path)
