"""Functions of texts that take a few lines. Their arguments are not NULL, unless a table says something else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from penstock.evaluator.library import pattern_of
from penstock.evaluator.typed_values import Unsupported, Value

PRINTED = re.compile(r"%(?:%|(-?\d*)([ds]))", re.ASCII)
"""What formats have in common with Python's."""


def _quoted(text: str) -> str:
    if "\\" in text:
        raise Unsupported("QUOTE of a backslash")
    return "'" + text.replace("'", "\\'") + "'"


def _has_check_digit(text: str) -> bool:
    """LUHN_CHECK."""
    if not text:
        raise Unsupported("LUHN_CHECK of an empty text")
    if re.fullmatch(r"\d+", text, re.ASCII) is None:
        return False
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(text)))
    return sum(each // 10 + each % 10 for each in doubled) % 10 == 0


def _overlaid(text: str, new: str, place: int, length: int = -1) -> str:
    if place < 1:
        raise Unsupported(f"OVERLAY from {place}")
    end = place - 1 + (length if length >= 0 else len(new))
    return text[: place - 1] + new + text[end:]


def _masked(values: Iterator[Value]) -> str | None:
    text, *given = values
    usual: list[Value] = ["X", "x", "n", None]
    upper, lower, digit, other = [*given, *usual[len(given) :]]
    if text is None:
        return None
    if not text.isascii():
        raise Unsupported("MASK of letters beyond ASCII")

    def mask(char: str) -> str:
        kept = upper if char.isupper() else lower if char.islower() else digit if char.isdigit() else other
        return char if kept is None else str(kept)

    return "".join(map(mask, text))


def _printed(values: Iterator[Value]) -> str | None:
    """FORMAT_STRING of whole numbers and texts."""
    form, *rest = values
    if form is None:
        return None
    if "%" in PRINTED.sub("", form) or any(isinstance(each, bool) or not isinstance(each, int | str) for each in rest):
        raise Unsupported(f"the format {form!r} of such values")
    letters = [found[2] for found in PRINTED.finditer(form) if found[2]]
    if len(letters) != len(rest) or any(
        isinstance(each, str) and letter == "d" for letter, each in zip(letters, rest, strict=True)
    ):
        raise Unsupported(f"the format {form!r} of such values")
    return str(form % tuple(rest))


def _all_matches(text: str, pattern: str, group: int = 1) -> list[str]:
    regex = pattern_of(pattern)
    if not 0 <= group <= regex.groups:
        raise Unsupported(f"group {group} of the pattern {pattern!r}")
    return [found[group] or "" for found in regex.finditer(text)]


def _first_place(text: str, pattern: str) -> int:
    found = pattern_of(pattern).search(text)
    return 0 if found is None else found.start() + 1


TEXTS: dict[str, Callable[..., Value]] = {
    "QUOTE": _quoted,
    "LUHN_CHECK": _has_check_digit,
    "OVERLAY": _overlaid,
    "REGEXP_EXTRACT_ALL": _all_matches,
    "REGEXP_INSTR": _first_place,
    # Texts here always have bytes that are UTF-8.
    "IS_VALID_UTF8": lambda text: True,
    "MAKE_VALID_UTF8": lambda text: text,
    "VALIDATE_UTF8": lambda text: text,
    "TRY_VALIDATE_UTF8": lambda text: text,
}
TEXTS_NULL_AWARE: dict[str, Callable[[Iterator[Value]], Value]] = {
    "MASK": _masked,
    "PRINTF": _printed,
    "FORMAT_STRING": _printed,
}
"""Functions of an iterator over the arguments, which decide what NULL means."""
