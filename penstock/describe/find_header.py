"""The first records of a CSV file -> whether the first one names the columns, and which of these can be declared."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from penstock.describe.found_place import count_text
from penstock.describe.observed import NULL, TEXT, WHOLE, Observed, RecordArrival
from penstock.describe.text_forms import EPOCH
from penstock.runtime.samples.record_values import MalformedError, split_fields

_YEAR = re.compile(r"(?:19|20)[0-9]{2}")


def has_header(records: Sequence[str]) -> bool:
    """Whether the first record names the columns.

    It does if all its fields are different texts. A header may also lack names, have one twice, or have years for
    names. Then it is told by the later records, whose fields are of other kinds.
    """
    head, *later = (fields for fields in map(_split, records) if fields is not None)
    rows = [fields for fields in later if len(fields) == len(head)]
    columns = [_observe([fields[place] for fields in rows]) for place, _ in enumerate(head)]
    own = [_observe([text]) for text in head]
    others = [(text or "", place) for place, text in enumerate(head) if not _is_name(own[place]) and text]
    if others:
        return _has_years(others, rows)
    known = [text.lower() for text in head if text]
    if len(known) == len(head) == len(set(known)):
        return True
    if not known:
        return False
    pairs = zip(own, columns, strict=True)
    is_index = not head[0] and columns[0].kinds == {WHOLE} and NULL not in columns[0].counts
    return is_index or any(_is_name(first) and rest.has_other_kinds for first, rest in pairs)


def _split(record: str) -> list[str | None] | None:
    try:
        return split_fields(record)
    except MalformedError:
        return None


def _observe(texts: Sequence[str | None]) -> Observed:
    seen = Observed("")
    for text in texts:
        seen.add_field(text, RecordArrival(0, EPOCH))
    return seen


def _is_name(seen: Observed) -> bool:
    return seen.kinds == {TEXT} and not seen.forms


def _has_years(others: Sequence[tuple[str, int]], rows: Sequence[Sequence[str | None]]) -> bool:
    """Whether the fields that are no names are years in a row, and later records have other values in their places."""
    if not rows or len(others) == len(rows[0]) or not all(_YEAR.fullmatch(text) for text, _ in others):
        return False
    steps = {int(after[0]) - int(before[0]) for before, after in pairwise(others)}
    if len(others) < 2 or len(steps) > 1 or not steps & {1, -1}:
        return False
    return not all(_YEAR.fullmatch(fields[place] or "") for fields in rows for _, place in others)


def list_left_out(names: Sequence[str]) -> tuple[set[int], list[str]]:
    """The places of fields that no column can be, as they have no name of their own, and what is told of them."""
    counts = Counter(name.lower() for name in names)
    places = {place for place, name in enumerate(names) if not name or counts[name.lower()] > 1}
    told = []
    if counts[""]:
        told.append(f"{count_text(counts[''], 'field')} without a name {'is' if counts[''] == 1 else 'are'} left out")
    for name in dict.fromkeys(name.lower() for name in names if name):
        if counts[name] > 1:
            told.append(f"{name} is {counts[name]} times in the header, so that none of these fields can be a column")
    return places, told
