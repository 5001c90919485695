"""Formats of times and numbers as Spark reads them: why a text is not one, or None where nothing is known
against it.
"""

from __future__ import annotations

import re

_RUN = re.compile(r"([A-Za-z])\1*")
# How often a letter may stand in a row. Letters that Spark leaves out are not here.
_LETTERS: dict[str, tuple[int, ...]] = {
    "G": (1, 2, 3, 4),
    "y": (1, 2, 3, 4, 5, 6),
    "D": (1, 2, 3),
    "M": (1, 2, 3, 4),
    "L": (1, 2, 3, 4),
    "d": (1, 2),
    "Q": (1, 2, 3, 4),
    "q": (1, 2, 3, 4),
    "E": (1, 2, 3, 4),
    "F": (1,),
    "a": (1,),
    "h": (1, 2),
    "k": (1, 2),
    "K": (1, 2),
    "H": (1, 2),
    "m": (1, 2),
    "s": (1, 2),
    "S": (1, 2, 3, 4, 5, 6, 7, 8, 9),
    "V": (2,),
    "v": (1, 4),
    "g": tuple(range(1, 20)),
    "z": (1, 2, 3, 4),
    "O": (1, 4),
    "X": (1, 2, 3, 4, 5),
    "x": (1, 2, 3, 4, 5),
    "Z": (1, 2, 3, 4, 5),
}
_FORMATTED_ONLY = "EFqQ"
_WEEKS = {"Y": "y", "w": "", "W": "", "u": "E", "e": "E", "c": "E"}
_NUMBER = re.compile(r"(?:MI|S)?\$?[09G,]*(?:[.D][09]*)?(?:PR|MI|S)?")


def time_format_problem(pattern: str, *, parsing: bool) -> str | None:
    """What is wrong with a pattern such as yyyy-MM-dd, which writes times or, with `parsing`, reads them."""
    quotes = pattern.split("'")
    if len(quotes) % 2 == 0:
        return "a quote is not closed"
    plain = "\0".join(quotes[::2])
    reserved = next((char for char in plain if char in "{}#"), None)
    if reserved is not None:
        return f"{reserved} is reserved: write it in quotes"
    depth = 0
    for char in plain:
        depth += (char == "[") - (char == "]")
        if depth < 0:
            return "] closes nothing"
    for run in _RUN.finditer(plain):
        letter, count = run.group(1), len(run.group())
        if letter in _WEEKS:
            instead = _WEEKS[letter]
            return f"Spark has no weeks of years: {letter}" + (
                f" (perhaps {instead * count} is meant)" if instead else ""
            )
        if letter not in _LETTERS or (parsing and letter in _FORMATTED_ONLY):
            return f"the letter {letter} stands for no part of a time" + (" that is read" if letter in _LETTERS else "")
        if count not in _LETTERS[letter]:
            return f"the letter {letter} cannot stand {count} times in a row"
    return None


def number_format_problem(text: str) -> str | None:
    """What is wrong with a format such as 999,999.99 for TO_CHAR."""
    spec = text.upper()
    if not re.search(r"[09]", spec):
        return "it has no digit: 0 or 9"
    if _NUMBER.fullmatch(spec) is None:
        return "it is read as sign, $, digits, point, digits, sign"
    whole = re.split(r"[.D]", spec)[0]
    if re.search(r"(?<![09])[,G]|[,G](?![09])", whole):
        return "a digit stands on each side of a comma"
    if re.fullmatch(r"S.*S|MI.*MI", spec):
        return "it has one sign twice"
    return None
