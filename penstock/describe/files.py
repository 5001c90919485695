"""Files -> their columns, by what is seen of their records."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from itertools import islice

from penstock.describe.differing_files import list_differences
from penstock.describe.found_place import FoundPlace, count_text, refuse
from penstock.describe.infer import describe_field, join_fields
from penstock.describe.observed import MARKERS, TEXT, JsonFraction, Observed, RecordArrival
from penstock.describe.parquet import describe_parquet
from penstock.describe.text_forms import EPOCH
from penstock.describe.whole_files import add_kinds_of_all
from penstock.diagnostics import CompileError
from penstock.planner.types import STRING
from penstock.runtime.samples.file_records import coded_content
from penstock.runtime.samples.json_values import Constant
from penstock.runtime.samples.record_values import MalformedError, read_csv_records, read_lines, split_fields
from penstock.runtime.samples.sample_files import (
    COMPRESSED,
    OTHER_COMPRESSED,
    NoFilesError,
    SampleFile,
    list_sample_files,
    open_content,
)

MOST_CHARACTERS = 32 << 20
"""How much text is read of all files together."""
LEAST_CHARACTERS = 64 << 10
"""How much is read of each file, where there are many."""
MOST_FILES = 1000
_ENDINGS = {
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
    **dict.fromkeys((".csv", ".tsv"), "csv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
}
_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}

Progress = Callable[[str], None]


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
        hint = f"CREATE TABLE … WITH (connector = 'delta', path = '{path}')"
        raise refuse(path, "it is a table of Delta Lake, whose files alone do not say which rows there are", hint)
    kept = [each for each in files if each.size]
    if not kept:
        raise refuse(path, "all files are empty" if len(files) > 1 else "the file is empty")
    form = form or _find_format(path, kept)
    chosen = kept if len(kept) <= MOST_FILES else [kept[len(kept) * place // MOST_FILES] for place in range(MOST_FILES)]
    found = FoundPlace(name or name_stream(path), "STREAM", {"connector": "files", "path": path, "format": form}, [])
    match form:
        case "json":
            _describe_json(found, chosen, progress)
        case "csv":
            _describe_csv(found, chosen, progress)
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


def _find_format(path: str, files: Sequence[SampleFile]) -> str:
    """The format that all files have. Raises CompileError."""
    forms: Counter[str] = Counter()
    examples: dict[str, str] = {}
    refused: CompileError | None = None
    for file in files[:MOST_FILES]:
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
    raise refuse(path, told, f"penstock describe '{path.rstrip('/')}/*{ending}'")


def _guess_format(path: str, file: SampleFile) -> str:
    stem, ending = os.path.splitext(file.path.lower())
    if ending in OTHER_COMPRESSED:
        hint = f"files that are compressed end in {' or '.join(COMPRESSED)}"
        raise refuse(path, f"{file.name} is compressed in a way that is not read", hint)
    with coded_content(file), closing(open_content(file)) as content:
        head = content.read(LEAST_CHARACTERS)
    if head.startswith(b"PAR1"):
        return "parquet"
    ending = os.path.splitext(stem)[1] if ending in COMPRESSED else ending
    if ending in (".parquet", ".pq"):
        raise refuse(path, f"{file.name} is no file of Parquet")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) and b"\0" in head:
        raise refuse(path, f"{file.name} is in UTF-16", f"iconv -f UTF-16 -t UTF-8 {file.name}")
    if b"\0" in head:
        raise refuse(path, f"{file.name} is binary", "JSON, CSV and Parquet are read")
    text = head.decode("utf-8", "replace").removeprefix("\ufeff").lstrip()
    known = _ENDINGS.get(ending)
    if known == "json" or (known is None and text.startswith(("{", "["))):
        _check_json(path, file, text)
        return "json"
    if known is None and not re.search(r"[,;\t|]", text.partition("\n")[0]):
        raise refuse(path, f"{file.name} is neither JSON, CSV nor Parquet", "--records csv takes lines of one field")
    return "csv"


def _check_json(path: str, file: SampleFile, text: str) -> None:
    """Raises CompileError for JSON that has no record in each line."""
    first = text.partition("\n")[0].strip()
    if text.startswith("[") and not first.startswith("[]"):
        raise refuse(path, f"{file.name} is an array; a file has one object per line", f"jq -c '.[]' {file.name}")
    try:
        json.loads(first)
    except RecursionError:
        return
    except ValueError:
        try:
            json.JSONDecoder().raw_decode(text)
        except (ValueError, RecursionError):
            return
        raise refuse(
            path, f"{file.name} has objects of several lines; a file has one object per line", f"jq -c . {file.name}"
        ) from None


def _limit(content: Iterator[str], characters: int, progress: Callable[[], None]) -> Iterator[str]:
    """The texts until so many characters have come."""
    for number, text in enumerate(content):
        yield text
        characters -= len(text) + 1
        if characters < 0:
            return
        if number % 10_000 == 9_999:
            progress()


def _describe_json(found: FoundPlace, files: Sequence[SampleFile], progress: Progress) -> None:
    root, bad = Observed(""), 0
    share = max(MOST_CHARACTERS // len(files), LEAST_CHARACTERS)
    for number, file in enumerate(files):
        place = _place(number, file)

        def tell(number: int = number) -> None:
            progress(f"{found.records:,} records of {number + 1:,} of {len(files):,} files")

        tell()
        with coded_content(file), closing(open_content(file)) as content:
            lines = read_lines(content)
            for line in _limit(lines, share, tell):
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
    _tell_read(found, len(files))
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


def _describe_csv(found: FoundPlace, files: Sequence[SampleFile], progress: Progress) -> None:
    names: list[str] | None = None
    seen: list[Observed] = []
    share = max(MOST_CHARACTERS // len(files), LEAST_CHARACTERS)
    for number, file in enumerate(files):
        place = _place(number, file)

        def tell(number: int = number) -> None:
            progress(f"{found.records:,} records of {number + 1:,} of {len(files):,} files")

        tell()
        with coded_content(file), closing(open_content(file)) as content:
            records = read_csv_records(content)
            first = [*islice(records, 2)]
            if not first:
                continue
            if names is None:
                _check_separator(str(found.options["path"]), file, first[0])
                has_header = _has_header(first)
                names = _name_fields(_split(first[0]), has_header=has_header)
                seen = [Observed(name) for name in names]
                if not has_header:
                    found.options["header"] = False
            head = [each or "" for each in _split(first[0])]
            if "header" not in found.options:
                if [each.lower() for each in head] != [each.lower() for each in names]:
                    found.notes.append(f"{file.name} has another header, {', '.join(head)}, which ends a run (R006)")
                    found.other_headers = found.other_headers or found.records
                    continue
                first = first[1:]
            for record in _limit(_chain(first, records), share, tell):
                try:
                    fields = split_fields(record)
                except MalformedError:
                    continue
                if len(fields) != len(names):
                    continue
                found.records += 1
                for each, text in zip(seen, fields, strict=True):
                    each.add_field(text, place)
            found.is_all &= next(records, None) is None
    if names is None:
        raise refuse(str(found.options["path"]), "there are blank lines alone")
    _tell_read(found, len(files))
    null = _choose_null(seen)
    if null is not None:
        found.options["null"] = null
    found.columns = []
    for name, each in zip(names, seen, strict=True):
        others = {marker for marker in each.markers if marker != null}
        column = describe_field(each, name, is_text=True)
        if others and each.kinds:
            column.type, column.form = STRING, None
            column.notes = [f"{', '.join(sorted(others))} stands in it"]
        found.columns.append(column)


def _chain(first: Sequence[str], rest: Iterator[str]) -> Iterator[str]:
    yield from first
    yield from rest


def _split(record: str) -> list[str | None]:
    try:
        return split_fields(record)
    except MalformedError:
        return [*record.split(",")]


def _check_separator(path: str, file: SampleFile, first: str) -> None:
    """Raises CompileError where something else than commas separates the fields."""
    for sign, noun in _OTHER_SEPARATORS.items():
        if first.count(sign) > first.count(","):
            told = "\\t" if sign == "\t" else sign
            hint = (
                f"""duckdb -c "COPY (FROM read_csv('{file.name}', delim = '{told}')) TO 'commas.csv'" writes it anew"""
            )
            raise refuse(
                path, f"{noun} separate the fields of {file.name}; fields of CSV are separated by commas", hint
            )


def _has_header(records: Sequence[str]) -> bool:
    """Whether the first record names the columns: each field is a text, and no two are the same."""
    fields = [each or "" for each in _split(records[0])]
    if not all(fields) or len({each.lower() for each in fields}) < len(fields):
        return False
    probes = [Observed("") for _ in fields]
    for probe, text in zip(probes, fields, strict=True):
        probe.add_field(text, RecordArrival(0, EPOCH))
    return all(probe.kinds == {TEXT} and not probe.forms for probe in probes)


def _name_fields(fields: Sequence[str | None], *, has_header: bool) -> list[str]:
    return [each or "" for each in fields] if has_header else [f"column{place}" for place, _ in enumerate(fields, 1)]


def _choose_null(seen: Sequence[Observed]) -> str | None:
    """The text that stands for NULL: the one that leaves most columns other values than texts."""

    def helps(marker: str) -> int:
        return sum(marker in each.markers and bool(each.kinds) and TEXT not in each.kinds for each in seen)

    best = max(MARKERS, key=helps)
    return best if helps(best) else None


def _add_folders(found: FoundPlace, files: Sequence[SampleFile]) -> None:
    """The columns that folders such as `day=2026-01-01` have values of."""
    seen: dict[str, Observed] = {}
    for number, file in enumerate(files):
        for key, (name, value) in file.folder_values.items():
            each = seen.setdefault(key, Observed(name))
            each.add_field(value, _place(number, file), is_folder=True)
    known = {each.name.lower() for each in found.columns}
    for key, each in seen.items():
        if key not in known:
            column = describe_field(each, each.name, is_text=True)
            column.form = None
            column.notes = ["from the names of folders"]
            each.values = None
            found.columns.append(column)


def _place(number: int, file: SampleFile) -> RecordArrival:
    return RecordArrival(number, EPOCH + timedelta(microseconds=file.written))


def _tell_read(found: FoundPlace, files: int) -> None:
    which = "" if found.is_all else "the first "
    found.read = f"{which}{count_text(found.records, 'record')} of {count_text(files, 'file')}"
