"""The files of an input -> their records, typed as they are declared, in the order in which a query reads them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import pyarrow as pa

from penstock.codegen.program import Input
from penstock.diagnostics.codes.running import R003, R004, R005, R006
from penstock.runtime.failure.errors import RunError
from penstock.runtime.samples.parquet_values import OtherTypeError, read_parquet_records
from penstock.runtime.samples.record_values import (
    MalformedError,
    SampledColumn,
    Values,
    make_columns,
    read_csv_records,
    read_csv_values,
    read_json_values,
    read_lines,
    split_fields,
)
from penstock.runtime.samples.sample_files import NoFilesError, SampleFile, list_sample_files, open_content
from penstock.runtime.samples.take import EPOCH, FoundRecord, fill_from_folders

BAD_CONTENT = (OSError, EOFError, ValueError, pa.ArrowException)
"""What reading a damaged file raises."""


def read_files(source: Input) -> Iterator[FoundRecord]:
    """The records of the files that are there now.

    Raises:
        RunError: there are no files, or one cannot be read, or does not match the declared columns.
    """
    try:
        files = list_sample_files(str(source.folder))
    except NoFilesError as problem:
        found = R003.at(None, name=source.name, path=source.folder).because(str(problem))
        raise RunError([found if problem.hint is None else found.with_hint(problem.hint)]) from None
    reader = _FileReader(source, make_columns(source.columns))
    for file in files:
        with coded_content(file):
            yield from reader.read(file)


@contextmanager
def coded_content(file: SampleFile) -> Iterator[None]:
    """Raises RunError in place of what reading a damaged file raises."""
    try:
        yield
    except OtherTypeError as problem:
        raise RunError([R006.at(None, file=file.path).because(str(problem))]) from None
    except BAD_CONTENT as problem:
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        raise RunError([R004.at(None, file=file.path).because(reason.partition("\n")[0])]) from None


@dataclass(slots=True)
class _FileReader:
    """Reads one file after the other. The first header holds for all of them."""

    source: Input
    columns: Sequence[SampledColumn]
    header: list[str] | None = None

    def read(self, file: SampleFile) -> Iterator[FoundRecord]:
        match self.source.values["format"]:
            case "json":
                return self._read_json(file)
            case "csv":
                return self._read_csv(file)
            case _:
                return self._read_parquet(file)

    def _read_json(self, file: SampleFile) -> Iterator[FoundRecord]:
        with closing(open_content(file)) as content:
            for line in read_lines(content):
                if line.strip(" \t"):
                    yield self._make_record(file, line, partial(read_json_values, line, self.columns))

    def _read_csv(self, file: SampleFile) -> Iterator[FoundRecord]:
        options = self.source.values
        null = None if "null" not in options else str(options["null"])
        with closing(open_content(file)) as content:
            records = read_csv_records(
                content, multi_line=bool(options["multi_line"]), one_field=len(self.columns) == 1
            )
            fields = list(self.columns)
            if self.source.has_header:
                first = next(records, None)
                if first is None:
                    return
                fields = self._order_fields(file, first)
            else:
                known = file.folder_values if self._has_folders else {}
                fields = [each for each in fields if each.name.lower() not in known]
            for record in records:
                yield self._make_record(file, record, partial(read_csv_values, record, fields, null))

    def _read_parquet(self, file: SampleFile) -> Iterator[FoundRecord]:
        for text, read in read_parquet_records(file.path, self.columns):
            yield self._make_record(file, text, read)

    def _order_fields(self, file: SampleFile, first: str) -> list[SampledColumn]:
        """The columns in the order of the header. A field that is no column is read as a text. Raises RunError."""
        try:
            names = [each or "" for each in split_fields(first)]
        except MalformedError as malformed:
            raise RunError([R006.at(None, file=file.path).because(f"its header is malformed: {malformed}")]) from None
        if self.header is not None and [each.lower() for each in names] != [each.lower() for each in self.header]:
            reason = f"its header is {', '.join(names)}; the one of the first file is {', '.join(self.header)}"
            raise RunError([R006.at(None, file=file.path).because(reason)])
        self.header = self.header or names
        known = {each.name.lower(): each for each in self.columns}
        elsewhere = file.folder_values if self._has_folders else {}
        counts = Counter(map(str.lower, names))
        for column in self.columns:
            count = counts[column.name.lower()]
            if count > 1 or (not count and column.name.lower() not in elsewhere):
                found = R005.at(None, name=self.source.name, column=column.name)
                raise RunError([found.because(f"The columns of {file.path} are {', '.join(names)}.")])
        return [known.get(each.lower(), SampledColumn(each, "STRING", pa.string())) for each in names]

    @property
    def _has_folders(self) -> bool:
        return bool(self.source.values["folder_columns"])

    def _make_record(self, file: SampleFile, text: str, read: Callable[[], Values]) -> FoundRecord:
        try:
            values = {**dict.fromkeys(each.name for each in self.columns), **read()}
        except MalformedError as malformed:
            return FoundRecord(None, text, file.path, file.written, str(malformed))
        if self._has_folders:
            reason = fill_from_folders(self.columns, file.folder_values, values)
            if reason is not None:
                return FoundRecord(None, text, file.path, file.written, reason)
        values |= {name: _tell_file(file, key) for name, key in self.source.metadata}
        return FoundRecord(values, text, file.path, file.written)


def _tell_file(file: SampleFile, key: str) -> Any:
    """What a METADATA column holds."""
    match key:
        case "file.path":
            return f"file:{file.path}"
        case "file.name":
            return os.path.basename(file.path)
        case "file.size":
            return file.size
        case _:
            return EPOCH + timedelta(microseconds=file.written)
