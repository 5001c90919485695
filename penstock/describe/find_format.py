"""The files of a path -> the format of their records, or why it is none that is read."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections import Counter
from collections.abc import Sequence
from contextlib import closing

from penstock.describe.found_place import refuse
from penstock.describe.shell_commands import join_commas, rewrite_file, write_utf8
from penstock.diagnostics import CompileError
from penstock.runtime.samples.file_records import coded_content
from penstock.runtime.samples.record_values import MalformedError, split_fields
from penstock.runtime.samples.sample_files import COMPRESSED, OTHER_COMPRESSED, SampleFile, open_content

_MOST_FILES = 1000
_HEAD = 64 << 10
"""How much of a file is looked at."""
_ENDINGS = {
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
    **dict.fromkeys((".csv", ".tsv"), "csv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
}
_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


def find_format(path: str, files: Sequence[SampleFile]) -> str:
    """The format that all files have. Raises CompileError."""
    forms: Counter[str] = Counter()
    examples: dict[str, str] = {}
    refused: CompileError | None = None
    for file in files[:_MOST_FILES]:
        try:
            form = _guess_format(path, file)
        except CompileError as refusal:
            refused = refused or refusal
            continue
        forms[form] += 1
        examples.setdefault(form, file.name)
    if refused is not None and not forms:
        raise refused
    if refused is None and len(forms) == 1:
        return next(iter(forms))
    told = f"its files have several formats: {', '.join(f'{form} as {examples[form]}' for form in sorted(forms))}"
    if refused is not None:
        told += f"; {refused.diagnostics[0].message.partition(f'{path}: ')[2]}"
    stem, ending = os.path.splitext(examples[forms.most_common(1)[0][0]])
    ending = os.path.splitext(stem)[1] + ending if ending in COMPRESSED else ending
    raise refuse(path, told, f"penstock describe {shlex.quote(_join_pattern(path, ending))}")


def _join_pattern(path: str, ending: str) -> str:
    """The pattern of the files with an ending in a folder, or in the folder of a pattern."""
    return os.path.join(path if os.path.isdir(path) else os.path.dirname(path), f"*{ending}")


def _guess_format(path: str, file: SampleFile) -> str:
    stem, ending = os.path.splitext(file.path.lower())
    if ending in OTHER_COMPRESSED:
        hint = f"files that are compressed end in {' or '.join(COMPRESSED)}"
        raise refuse(path, f"{file.name} is compressed in a way that is not read", hint)
    with coded_content(file), closing(open_content(file)) as content:
        head = content.read(_HEAD)
    if head.startswith(b"PAR1"):
        return "parquet"
    ending = os.path.splitext(stem)[1] if ending in COMPRESSED else ending
    if ending in (".parquet", ".pq"):
        raise refuse(path, f"{file.name} is no file of Parquet")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) and b"\0" in head:
        raise refuse(path, f"{file.name} is in UTF-16", write_utf8(path, file, "UTF-16"))
    if b"\0" in head:
        raise refuse(path, f"{file.name} is binary", "JSON, CSV and Parquet are read")
    text = head.decode("utf-8", "replace").removeprefix("\ufeff").lstrip()
    known = _ENDINGS.get(ending)
    if known == "json" or (known is None and text.startswith(("{", "["))):
        _check_json(path, file, text)
        return "json"
    if known is None and not _is_delimited(text):
        told = f"{file.name} is neither JSON, CSV nor Parquet"
        raise refuse(path, told, "--records csv takes lines of one field" if _has_one_field(text) else None)
    return "csv"


def _is_delimited(text: str) -> bool:
    """Whether signs separate fields in the first line, and its quotes are as CSV has them."""
    first = text.partition("\n")[0].removesuffix("\r")
    try:
        split_fields(first)
    except MalformedError:
        return False
    return re.search(r"[,;\t|]", first) is not None


def _has_one_field(text: str) -> bool:
    """Whether each line can be a record of one field."""
    return '"' not in text.partition("\n")[0] and "," not in text


def _check_json(path: str, file: SampleFile, text: str) -> None:
    """Raises CompileError for JSON that has no record in each line."""
    first = text.partition("\n")[0].strip()
    if text.startswith("[") and not first.startswith("[]"):
        raise refuse(
            path,
            f"{file.name} is an array; a file has one object per line",
            rewrite_file(path, file, "jq -c '.[]'", ".ndjson"),
        )
    try:
        json.loads(first)
    except RecursionError:
        return
    except ValueError:
        try:
            json.JSONDecoder().raw_decode(text)
        except (ValueError, RecursionError):
            return
        told = f"{file.name} has objects of several lines; a file has one object per line"
        raise refuse(path, told, rewrite_file(path, file, "jq -c .", ".ndjson")) from None


def check_separator(path: str, file: SampleFile, first: str) -> None:
    """Raises CompileError where something else than commas separates the fields."""
    for sign, noun in _OTHER_SEPARATORS.items():
        if first.count(sign) > first.count(","):
            told = f"{noun} separate the fields of {file.name}; fields of CSV are separated by commas"
            raise refuse(path, told, join_commas(path, file, sign))
