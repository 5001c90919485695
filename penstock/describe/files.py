"""Files -> their columns, by what is seen of their records."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from contextlib import closing

from penstock.describe.delimited import describe_csv
from penstock.describe.differing_files import list_differences
from penstock.describe.find_format import find_format
from penstock.describe.found_place import FoundPlace, refuse
from penstock.describe.infer import describe_field, join_fields
from penstock.describe.observed import JsonFraction, Observed
from penstock.describe.parquet import describe_parquet
from penstock.describe.read_share import Progress, limit_texts, make_arrival, tell_read
from penstock.describe.whole_files import add_kinds_of_all
from penstock.parser import string_text
from penstock.runtime.samples.file_records import coded_content
from penstock.runtime.samples.json_values import Constant
from penstock.runtime.samples.record_values import read_lines
from penstock.runtime.samples.sample_files import NoFilesError, SampleFile, list_sample_files, open_content

MOST_CHARACTERS = 32 << 20
"""How much text is read of all files together."""
LEAST_CHARACTERS = 64 << 10
"""How much is read of each file, where there are many."""
MOST_FILES = 1000


def describe_files(path: str, name: str | None, form: str | None, progress: Progress) -> FoundPlace:
    """What the files of a path have, which may be a folder or a pattern.

    Raises:
        CompileError: there are no files, or they are of no format that is read.
        RunError: a file cannot be read.
    """
    try:
        files = list_sample_files(path)
    except NoFilesError as problem:
        raise refuse(path, str(problem), problem.hint) from None
    except OSError as problem:
        raise refuse(path, (problem.strerror or "it cannot be read").lower()) from None
    if os.path.isdir(os.path.join(path, "_delta_log")):
        hint = f"CREATE TABLE … WITH (connector = 'delta', path = {string_text(path)})"
        raise refuse(path, "it is a table of Delta Lake, whose files alone do not say which rows there are", hint)
    kept = [each for each in files if each.size]
    if not kept:
        raise refuse(path, "all files are empty" if len(files) > 1 else "the file is empty")
    form = form or find_format(path, kept)
    chosen = kept if len(kept) <= MOST_FILES else [kept[len(kept) * place // MOST_FILES] for place in range(MOST_FILES)]
    found = FoundPlace(name or name_stream(path), "STREAM", {"connector": "files", "path": path, "format": form}, [])
    share = max(MOST_CHARACTERS // len(chosen), LEAST_CHARACTERS)
    match form:
        case "json":
            _describe_json(found, chosen, share, progress)
        case "csv":
            describe_csv(found, chosen, share, progress)
        case _:
            describe_parquet(found, chosen, progress)
    if not found.columns:
        raise refuse(path, "no record has a field")
    _add_folders(found, chosen)
    if len(chosen) < len(kept):
        found.is_all = False
        found.read += f" ({len(chosen):,} of {len(kept):,} files)"
    return found


def name_stream(path: str) -> str:
    """A name for a stream: the one of the file, or of the nearest folder that is no pattern."""
    parts = [each for each in path.replace("\\", "/").split("/") if each not in ("", ".", "..")]
    for part in reversed(parts):
        stem = part.split(".")[0] if "." in part.strip(".") else part
        if "=" in part or re.search(r"[*?\[{]", stem):
            continue
        plain = re.sub(r"\W+", "_", stem, flags=re.ASCII).strip("_").lower()
        if plain and not plain[0].isdigit():
            return plain
    return "events"


def _describe_json(found: FoundPlace, files: Sequence[SampleFile], share: int, progress: Progress) -> None:
    root, bad = Observed(""), 0
    for number, file in enumerate(files):
        place = make_arrival(number, file)

        def tell(number: int = number) -> None:
            progress(f"{found.records:,} records of {number + 1:,} of {len(files):,} files")

        tell()
        with coded_content(file), closing(open_content(file)) as content:
            lines = read_lines(content)
            for line in limit_texts(lines, share, tell):
                if not line.strip(" \t"):
                    continue
                try:
                    value = json.loads(line, parse_float=JsonFraction, parse_constant=Constant)
                except (ValueError, RecursionError):
                    bad += 1
                    continue
                if not isinstance(value, dict):
                    bad += 1
                    continue
                found.records += 1
                root.add_json(value, place)
            found.is_all &= next(lines, None) is None
    tell_read(found, len(files))
    if not found.records:
        path = str(found.options["path"])
        raise refuse(path, "no line is a JSON object" if bad else "there are blank lines alone")
    found.root = root
    if not found.is_all:
        progress("all files")
        if add_kinds_of_all(root, files):
            found.read += ", and the kinds of values in all"
    fields, notes = join_fields(root)
    found.notes += notes
    found.columns = [describe_field(each, name) for name, each in fields.items()]
    found.differences = list(list_differences(root, files))


def _add_folders(found: FoundPlace, files: Sequence[SampleFile]) -> None:
    """The columns that folders such as `day=2026-01-01` have values of."""
    seen: dict[str, Observed] = {}
    for number, file in enumerate(files):
        for key, (name, value) in file.folder_values.items():
            each = seen.setdefault(key, Observed(name))
            each.add_field(value, make_arrival(number, file), is_folder=True)
    known = {each.name.lower() for each in found.columns}
    for key, each in seen.items():
        if key not in known:
            column = describe_field(each, each.name, is_text=True)
            column.form = None
            column.notes = ["from the names of folders"]
            each.values = None
            found.columns.append(column)
