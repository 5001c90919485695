"""What is seen of a field in many records: kinds of values, digits, forms of texts, and in which files they are."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from penstock.describe.text_forms import NUMBER_FORMS, TEXT_FORMS, Form, speaks_of_time
from penstock.runtime.samples.json_values import Constant

WHOLE, FRACTION, TEXT, TRUTH, OBJECT, ARRAY, NULL = "whole", "fraction", "text", "truth", "object", "array", "null"
MARKERS = ("NA", "N/A", "NULL", "null", "None", r"\N", "-")
"""What CSV files have for NULL, beside nothing."""
MOST_FIELDS = 1000
MOST_VALUES = 200_000
EXACT_DIGITS = 15
"""So many digits a DOUBLE holds as they are."""
_HOUR = timedelta(hours=1)
_WHOLE = re.compile(r"[+-]?(?:0|[1-9][0-9]*)")
_FOLDER_WHOLE = re.compile(r"[0-9]{1,18}")
_FRACTION = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)?\.[0-9]+|(?:0|[1-9][0-9]*)\.?(?:[0-9]+)?[eE][+-]?[0-9]{1,3})")


class JsonFraction(str):
    """The text of a number of JSON that has decimals or an exponent."""

    __slots__ = ()


@dataclass(slots=True)
class RecordArrival:
    """The file of a record by its number, and when it came."""

    file: int
    arrived: datetime


@dataclass(slots=True)
class TimeTrack:
    """The points in time of a field, in the order of the records."""

    count: int = 0
    newest: datetime = datetime.min
    oldest: datetime = datetime.max
    disorder: timedelta = timedelta(0)
    """How far at most a record is behind an earlier one."""
    disorder_in_file: timedelta = timedelta(0)
    file: int = -1
    newest_in_file: datetime = datetime.min
    future: int = 0
    """The records that are more than an hour ahead of their arrival."""

    def add(self, moment: datetime, place: RecordArrival) -> None:
        """Notes a point in time."""
        self.count += 1
        if place.file != self.file:
            self.file, self.newest_in_file = place.file, datetime.min
        if moment < self.newest:
            self.disorder = max(self.disorder, self.newest - moment)
        else:
            self.newest = moment
        if moment < self.newest_in_file:
            self.disorder_in_file = max(self.disorder_in_file, self.newest_in_file - moment)
        else:
            self.newest_in_file = moment
        self.oldest = min(self.oldest, moment)
        self.future += moment > place.arrived + _HOUR


@dataclass(slots=True)
class Observed:
    """What is seen of a field. `name`: its own, without the names of the objects that it is in."""

    name: str
    counts: dict[str, int] = field(default_factory=dict)
    kind_files: dict[str, int] = field(default_factory=dict)
    """By kind, the files that have it: one bit for each."""
    low: int = 0
    high: int = 0
    digits: int = 0
    """The most digits before the point."""
    scales: set[int] = field(default_factory=set)
    """The numbers of decimals as they are written."""
    significant: int = 0
    has_exponent: bool = False
    spells_doubles: bool = True
    """Whether DOUBLE holds all its numbers as they are written."""
    is_infinite: bool = False
    forms: dict[Form, TimeTrack] | None = None
    """The forms that all texts, or all whole numbers, have. None before the first one."""
    numbers: Observed | None = None
    """What is seen of its texts as numbers."""
    is_number: bool = True
    """Whether all texts are numbers."""
    markers: dict[str, int] = field(default_factory=dict)
    fields: dict[str, Observed] = field(default_factory=dict)
    rest: Observed | None = None
    """What is seen of fields beyond `MOST_FIELDS`."""
    items: Observed | None = None
    values: set[Any] | None = field(default_factory=set)
    """The values, as long as all are different. None when they are not, or too many."""
    example: str = ""

    @property
    def kinds(self) -> set[str]:
        """The kinds of its values but NULL."""
        return {*self.counts} - {NULL}

    @property
    def count(self) -> int:
        """How many values it has that are not NULL."""
        return sum(count for kind, count in self.counts.items() if kind != NULL)

    @property
    def has_other_kinds(self) -> bool:
        """Whether all its values are other ones than plain texts: numbers, truth values, or times of one form."""
        return bool(self.kinds) and (TEXT not in self.kinds or (self.kinds == {TEXT} and bool(self.forms)))

    def add_json(self, value: Any, place: RecordArrival) -> None:
        """Notes a value of JSON."""
        kind = _KINDS.get(type(value), WHOLE)
        self._note(kind, place)
        if kind == TEXT:
            self._add_text(value, place)
        elif kind == OBJECT:
            for name, item in value.items():
                known = self.fields.get(name)
                if known is None:
                    known = self._add_field(name)
                known.add_json(item, place)
        elif kind == ARRAY:
            if self.items is None:
                self.items = Observed(self.name)
            for item in value:
                self.items.add_json(item, place)
        elif kind == WHOLE:
            self._add_whole(value, str(value), place)
        elif kind == FRACTION:
            self._add_fraction(value)

    def add_field(self, text: str | None, place: RecordArrival, *, is_folder: bool = False) -> None:
        """Notes a field of CSV, or the value of a folder. None is an empty one."""
        if text is None:
            self._note(NULL, place)
            return
        if text in MARKERS:
            self.markers[text] = self.markers.get(text, 0) + 1
            return
        stripped = text.strip(" ")
        if (_FOLDER_WHOLE if is_folder else _WHOLE).fullmatch(stripped):
            self._note(WHOLE, place)
            self._add_whole(int(stripped), stripped, place)
        elif _FRACTION.fullmatch(stripped):
            self._note(FRACTION, place)
            self._add_fraction(JsonFraction(stripped))
        elif text.lower() in ("true", "false"):
            self._note(TRUTH, place)
        else:
            self._note(TEXT, place)
            self._add_text(text, place)

    def add_typed(self, value: Any, place: RecordArrival) -> None:
        """Notes a value whose type is known: its point in time, and whether it was there before."""
        self._note(NULL if value is None else TEXT, place)
        if isinstance(value, datetime):
            track = self._list_forms(())
            track.setdefault(TEXT_FORMS[1], TimeTrack()).add(value, place)
        elif isinstance(value, str | int):
            self._add_value(value)

    def _note(self, kind: str, place: RecordArrival) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.kind_files[kind] = self.kind_files.get(kind, 0) | 1 << place.file

    def _add_field(self, name: str) -> Observed:
        if len(self.fields) >= MOST_FIELDS:
            self.rest = self.rest or Observed(self.name)
            return self.rest
        return self.fields.setdefault(name, Observed(name))

    def _add_whole(self, value: int, text: str, place: RecordArrival) -> None:
        self.low, self.high = min(self.low, value), max(self.high, value)
        self.digits = max(self.digits, len(text.lstrip("+-")))
        self._note_significant(len(text.lstrip("+-0")), text)
        if speaks_of_time(self.name):
            self._track(NUMBER_FORMS, text, place)
        self._add_value(value)
        self.example = self.example or text

    def _add_fraction(self, text: str) -> None:
        self.values = None
        self.example = self.example or text
        if isinstance(text, Constant):
            self.has_exponent = True
            return
        self.is_infinite |= abs(float(text)) == float("inf")
        if "e" in text or "E" in text:
            self.has_exponent = True
            self._note_significant(len(re.split("[eE]", text)[0].replace(".", "").strip("+-0")), text)
            return
        whole, _, decimals = text.lstrip("+-").partition(".")
        self.digits = max(self.digits, len(whole))
        self.scales.add(len(decimals))
        self._note_significant(len((whole + decimals.rstrip("0")).lstrip("0")), text)

    def _note_significant(self, digits: int, text: str) -> None:
        self.significant = max(self.significant, digits)
        if digits > EXACT_DIGITS and self.spells_doubles:
            self.spells_doubles = _spells_double(text)

    def _add_text(self, text: str, place: RecordArrival) -> None:
        if self.is_number:
            self.is_number = self._add_number(text, place)
        if self.forms is None or self.forms:
            self._track(TEXT_FORMS, text, place)
        self._add_value(text)
        self.example = self.example or text[:100]

    def _add_number(self, text: str, place: RecordArrival) -> bool:
        """Notes a text that is a number. Returns whether it is one."""
        is_whole = _WHOLE.fullmatch(text) is not None
        if not is_whole and not _FRACTION.fullmatch(text):
            return False
        self.numbers = self.numbers or Observed(self.name, values=None)
        self.numbers._note(WHOLE if is_whole else FRACTION, place)
        if is_whole:
            self.numbers._add_whole(int(text), text, place)
        else:
            self.numbers._add_fraction(JsonFraction(text))
        return True

    def _list_forms(self, forms: tuple[Form, ...]) -> dict[Form, TimeTrack]:
        if self.forms is None:
            self.forms = {form: TimeTrack() for form in forms}
        return self.forms

    def _track(self, forms: tuple[Form, ...], text: str, place: RecordArrival) -> None:
        known = self._list_forms(forms)
        for form, track in [*known.items()]:
            moment = form.read(text)
            if moment is None:
                del known[form]
            else:
                track.add(moment, place)

    def _add_value(self, value: Any) -> None:
        if self.values is not None:
            before = len(self.values)
            self.values.add(value)
            if len(self.values) == before or before > MOST_VALUES:
                self.values = None


def _spells_double(text: str) -> bool:
    """Whether the text is what programs write of a DOUBLE: its shortest spelling, or one with 17 digits."""
    nearest = float(text) if len(text) < 400 else float("inf")
    return Decimal(text) in (Decimal(repr(nearest)), Decimal(f"{nearest:.17g}"))


_KINDS = {
    str: TEXT,
    bool: TRUTH,
    type(None): NULL,
    dict: OBJECT,
    list: ARRAY,
    int: WHOLE,
    JsonFraction: FRACTION,
    Constant: FRACTION,
}
