"""Files of CSV -> their columns, by what is seen of their records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice

from penstock.codegen.record_reasons import BYTES
from penstock.describe.find_format import check_separator
from penstock.describe.found_place import FoundPlace, refuse
from penstock.describe.infer import describe_field
from penstock.describe.observed import MARKERS, TEXT, Observed, RecordArrival
from penstock.describe.read_share import Progress, limit_texts, make_arrival, tell_read
from penstock.describe.rewriting import write_utf8
from penstock.describe.text_forms import EPOCH
from penstock.planner.types import STRING
from penstock.runtime.samples.file_records import coded_content
from penstock.runtime.samples.record_values import NOT_UTF8, MalformedError, read_csv_records, split_fields
from penstock.runtime.samples.sample_files import SampleFile, open_content


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
            first = [*islice(records, 2)]
            if not first:
                continue
            if names is None:
                check_separator(path, file, first[0])
                _check_header(path, file, first[0])
                has_header = _has_header(first)
                names = _name_fields(_split(first[0]), has_header=has_header)
                seen = [Observed(name) for name in names]
                if not has_header:
                    found.options["header"] = False
            if "header" not in found.options:
                head = [each or "" for each in _split(first[0])]
                if [each.lower() for each in head] != [each.lower() for each in names]:
                    found.notes.append(f"{file.name} has another header, {', '.join(head)}, which ends a run (R006)")
                    found.other_headers = found.other_headers or found.records
                    continue
                first = first[1:]
            for record in limit_texts(_chain(first, records), share, tell):
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
            found.is_all &= next(records, None) is None
    if names is None:
        raise refuse(path, "there are blank lines alone")
    tell_read(found, len(files))
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


def _check_header(path: str, file: SampleFile, first: str) -> None:
    """Raises CompileError if the first record of a file cannot name columns."""
    try:
        split_fields(first)
    except MalformedError as malformed:
        hint = "a field with a quote in it is enclosed in quotes, and its own ones are doubled"
        raise refuse(path, f"the header is malformed: {malformed}", hint) from None
    if NOT_UTF8.search(first):
        raise refuse(path, f"the header is malformed: {BYTES}", write_utf8(path, file, "LATIN1"))


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
