"""What is seen of fields -> the types of columns that take all of their values, and what people should know of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from penstock.describe.observed import ARRAY, EXACT_DIGITS, FRACTION, NULL, OBJECT, TEXT, TRUTH, WHOLE, Observed
from penstock.describe.text_forms import Form, quote_form, speaks_of_key, speaks_of_time
from penstock.parser import name_text
from penstock.planner.types import BIGINT, BOOLEAN, DOUBLE, STRING, Array, Decimal, Map, Struct, Type

_MONEY = re.compile(
    r"price|amount|total|cost|fee|balance|tax|salary|revenue|payment|paid|discount|money|usd|eur", re.IGNORECASE
)
_DEEPEST = 8
"""So deeply are objects declared as STRUCT. What is nested more deeply is read as its JSON text."""
_KEYS_OF_MAP = 40
_MOST_DIGITS = 38
_STABLE_SCALE = 6
"""Numbers that all have the same decimals, and no more, are not what a program has written of a DOUBLE."""
NOUNS = {
    **dict.fromkeys((WHOLE, FRACTION), "numbers"),
    TEXT: "texts",
    TRUTH: "truth values",
    OBJECT: "objects",
    ARRAY: "arrays",
}
"""What people call values of a kind."""


@dataclass(slots=True)
class Described:
    """A column of a declaration. `form`: how its values are written that are points in time."""

    name: str
    type: Type
    notes: list[str] = field(default_factory=list)
    form: Form | None = None
    observed: Observed | None = None

    @property
    def example(self) -> str:
        """A value, as it is written."""
        return "" if self.observed is None else self.observed.example


def describe_field(seen: Observed, name: str, *, is_text: bool = False, depth: int = 0) -> Described:
    """The column of a field. `is_text`: whether all values are texts of CSV, in which the empty one is NULL."""
    found = Described(name, STRING, observed=seen)
    kinds = seen.kinds
    if not kinds:
        found.notes.append("NULL in each record" if seen.counts else "in no record")
    elif kinds == {TRUTH}:
        found.type = BOOLEAN
    elif kinds <= {WHOLE, FRACTION}:
        _describe_number(seen, found)
    elif kinds == {TEXT}:
        _describe_text(seen, found, is_text=is_text)
    elif kinds == {OBJECT}:
        found.type = _find_object_type(seen, found, depth)
    elif kinds == {ARRAY}:
        item = Observed(seen.name) if seen.items is None else seen.items
        inside = describe_field(item, name, depth=depth + 1)
        found.type = Array(inside.type)
        found.notes += [f"items: {each}" for each in inside.notes if item.counts]
    else:
        nouns = sorted({NOUNS[kind] for kind in kinds})
        found.notes.append(f"{', '.join(nouns[:-1])} and {nouns[-1]}, read as their text")
    return found


def _describe_number(seen: Observed, found: Described) -> None:
    form = next(iter(seen.forms), None) if seen.forms and seen.kinds == {WHOLE} else None
    if form is not None:
        found.form = form
        found.notes.append(f"{form.told}: {form.sql.format(name_text(found.name))}")
    if FRACTION not in seen.kinds:
        if seen.low >= -(1 << 63) and seen.high < 1 << 63:
            found.type = BIGINT
        elif seen.digits <= _MOST_DIGITS:
            found.type = Decimal(_MOST_DIGITS, 0)
        else:
            found.notes.append(f"numbers of {seen.digits} digits, read as their text")
        return
    scale = max(seen.scales, default=0)
    if seen.is_infinite or (seen.significant > 17 and (seen.has_exponent or seen.digits + scale > _MOST_DIGITS)):
        found.notes.append("numbers that DOUBLE and DECIMAL do not hold, read as their text")
        return
    is_double = seen.spells_doubles and (len(seen.scales) > 1 or scale > _STABLE_SCALE)
    is_exact = not seen.has_exponent and seen.digits + scale <= _MOST_DIGITS
    if seen.significant > EXACT_DIGITS and is_exact and not is_double:
        found.type = Decimal(_MOST_DIGITS, scale)
        return
    is_even = seen.scales == {2} and not seen.has_exponent
    is_money = _MONEY.search(found.name) is not None and scale <= 4 and not seen.has_exponent
    if (is_even or is_money) and seen.digits <= 14:
        found.type = Decimal(18, max(scale, 2))
    else:
        found.type = DOUBLE


def _describe_text(seen: Observed, found: Described, *, is_text: bool) -> None:
    forms = list(seen.forms or ())
    typed = next((form for form in forms if form.type is not None), None)
    if typed is not None and typed.type is not None:
        found.type, found.form = typed.type, typed
        return
    if forms:
        found.form = forms[0]
        told = [f"{each.told}: {each.sql.format(name_text(found.name))}" for each in forms]
        found.notes.append(", or ".join(told))
    elif seen.is_number and not is_text and seen.numbers is not None:
        _tell_numbers(seen.numbers, found)
    elif speaks_of_time(found.name) and any(letter.isdigit() for letter in seen.example):
        found.notes.append("not read as times: describe knows no form that all its texts have")


def _tell_numbers(numbers: Observed, found: Described) -> None:
    """Tells how numbers in quotes are read. An id stays a text: nobody computes with it."""
    if speaks_of_key(found.name):
        return
    read = Described(found.name, STRING)
    _describe_number(numbers, read)
    if read.type != STRING:
        found.notes.append(f"numbers in quotes: CAST({name_text(found.name)} AS {read.type})")
    if read.form is not None and numbers.forms:
        form = quote_form(read.form)
        found.form = form
        found.notes = [f"{form.told}: {form.sql.format(name_text(found.name))}"]


def _find_object_type(seen: Observed, found: Described, depth: int) -> Type:
    fields = _join_spellings(seen, found)
    if not fields and seen.rest is None:
        found.notes.append("objects without fields, read as their text")
        return STRING
    if depth >= _DEEPEST:
        found.notes.append("nested deeply, read as its text")
        return STRING
    described = {name: describe_field(each, name, depth=depth + 1) for name, each in fields.items()}
    shares = sum(each.count + each.counts.get(NULL, 0) for each in fields.values()) / max(seen.counts[OBJECT], 1)
    if seen.rest is not None or (len(fields) > _KEYS_OF_MAP and shares < len(fields) / 4):
        types = {each.type for each in described.values() if each.observed and each.observed.kinds}
        item = types.pop() if len(types) == 1 and seen.rest is None else STRING
        if item == STRING or not isinstance(item, Struct):
            found.notes.append(f"objects with {len(fields):,} different names")
            return Map(STRING, item)
    found.notes += [f"{name}: {note}" for name, each in described.items() for note in each.notes]
    return Struct(tuple((name, each.type) for name, each in described.items()))


def join_fields(seen: Observed) -> tuple[dict[str, Observed], list[str]]:
    """The fields of objects whose names differ without regard to case, and notes about the others."""
    kept: dict[str, Observed] = {}
    spelled: dict[str, str] = {}
    notes = []
    for name, each in seen.fields.items():
        other = spelled.setdefault(name.lower(), name)
        if other == name:
            kept[name] = each
            continue
        notes.append(f"{name} and {other} differ in case alone; only one of them can be a column")
        if each.count > kept[other].count:
            del kept[other]
            kept[name] = each
            spelled[name.lower()] = name
    return kept, notes


def _join_spellings(seen: Observed, found: Described) -> dict[str, Observed]:
    fields, notes = join_fields(seen)
    found.notes += notes
    return fields
