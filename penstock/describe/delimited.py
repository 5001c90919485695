"""Files of CSV -> their columns, by what is seen of their records."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from itertools import chain, islice

from penstock.codegen.record_reasons import BYTES
from penstock.describe.find_format import check_separator
from penstock.describe.find_header import has_header, list_left_out
from penstock.describe.found_place import FoundPlace, refuse
from penstock.describe.infer import describe_field
from penstock.describe.observed import MARKERS, Observed
from penstock.describe.read_share import Progress, limit_texts, make_arrival, tell_read
from penstock.describe.shell_commands import write_utf8
from penstock.planner.types import STRING
from penstock.runtime.samples.file_records import coded_content
from penstock.runtime.samples.record_values import NOT_UTF8, MalformedError, read_csv_records, split_fields
from penstock.runtime.samples.sample_files import SampleFile, open_content

_AHEAD = 100
"""So many records say whether the first one is a header."""
_MOST_AHEAD = 1 << 20


def describe_csv(found: FoundPlace, files: Sequence[SampleFile], share: int, progress: Progress) -> None:
    """Adds the columns. `share`: how many characters of each file are read. Raises CompileError, RunError."""
    path = str(found.options["path"])
    names: list[str] | None = None
    seen: list[Observed] = []
    is_utf8 = True
    for number, file in enumerate(files):
        place = make_arrival(number, file)

        def tell(number: int = number) -> None:
            progress(f"{found.records:,} records of {number + 1:,} of {len(files):,} files")

        tell()
        with coded_content(file), closing(open_content(file)) as content:
            records = read_csv_records(content)
            first = [*limit_texts(islice(records, _AHEAD), _MOST_AHEAD, lambda: None)]
            if not first:
                continue
            if names is None:
                check_separator(path, file, first[0])
                _check_header(path, file, first[0])
                is_named = has_header(first)
                names = _name_fields(_split(first[0]), has_header=is_named)
                seen = [Observed(name) for name in names]
                if not is_named:
                    found.options["header"] = False
            if "header" not in found.options:
                head = [each or "" for each in _split(first[0])]
                if [each.lower() for each in head] != [each.lower() for each in names]:
                    found.notes.append(f"{file.name} has another header, {', '.join(head)}, which ends a run (R006)")
                    found.other_headers = found.other_headers or found.records
                    continue
                first = first[1:]
            rest = chain(first, records)
            for record in limit_texts(rest, share, tell):
                if is_utf8 and NOT_UTF8.search(record):
                    is_utf8 = False
                    found.notes.append(f"{file.name} is not in UTF-8: {write_utf8(path, file, 'LATIN1')}")
                try:
                    fields = split_fields(record)
                except MalformedError:
                    continue
                if len(fields) != len(names):
                    continue
                found.records += 1
                for each, text in zip(seen, fields, strict=True):
                    each.add_field(text, place)
            found.is_all &= next(rest, None) is None
    if names is None:
        raise refuse(path, "there are blank lines alone")
    tell_read(found, len(files))
    null = _choose_null(seen)
    if null is not None:
        found.options["null"] = null
    left_out, told = list_left_out(names)
    if len(left_out) == len(names):
        raise refuse(path, told[0])
    found.notes += told
    found.columns = []
    for position, (name, each) in enumerate(zip(names, seen, strict=True)):
        if position in left_out:
            continue
        others = {marker for marker in each.markers if marker != null}
        column = describe_field(each, name, is_text=True)
        if others and each.kinds:
            column.type, column.form = STRING, None
            column.notes = [f"{', '.join(sorted(others))} stands in it"]
        found.columns.append(column)


def _split(record: str) -> list[str | None]:
    try:
        return split_fields(record)
    except MalformedError:
        return [*record.split(",")]


def _check_header(path: str, file: SampleFile, first: str) -> None:
    """Raises CompileError if the first record of a file cannot name columns."""
    try:
        split_fields(first)
    except MalformedError as malformed:
        hint = "a field with a quote in it is enclosed in quotes, and its own ones are doubled"
        raise refuse(path, f"the header is malformed: {malformed}", hint) from None
    if NOT_UTF8.search(first):
        raise refuse(path, f"the header is malformed: {BYTES}", write_utf8(path, file, "LATIN1"))


def _name_fields(fields: Sequence[str | None], *, has_header: bool) -> list[str]:
    return [each or "" for each in fields] if has_header else [f"column{place}" for place, _ in enumerate(fields, 1)]


def _choose_null(seen: Sequence[Observed]) -> str | None:
    """The text that stands for NULL: the one that leaves most columns numbers, truth values or times."""

    def helps(marker: str) -> int:
        return sum(marker in each.markers and each.has_other_kinds for each in seen)

    best = max(MARKERS, key=helps)
    return best if helps(best) else None
