"""What reading a part of the files needs: how far it goes, where records are, and what is told of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

from penstock.describe.found_place import FoundPlace, count_text
from penstock.describe.observed import RecordArrival
from penstock.describe.text_forms import EPOCH
from penstock.runtime.samples.sample_files import SampleFile

Progress = Callable[[str], None]


def limit_texts(content: Iterator[str], characters: int, progress: Callable[[], None]) -> Iterator[str]:
    """The texts until so many characters have come."""
    for number, text in enumerate(content):
        yield text
        characters -= len(text) + 1
        if characters < 0:
            return
        if number % 10_000 == 9_999:
            progress()


def make_arrival(number: int, file: SampleFile) -> RecordArrival:
    """Where a record is, and when it came: with its file."""
    return RecordArrival(number, EPOCH + timedelta(microseconds=file.written))


def tell_read(found: FoundPlace, files: int) -> None:
    """Notes how much was read."""
    which = "" if found.is_all else "the first "
    found.read = f"{which}{count_text(found.records, 'record')} of {count_text(files, 'file')}"
