"""Which regular expressions can try exponentially many ways to match a text.

A pattern can if, from one of its places back to it, two different ways read the same characters.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from re import _constants as codes
from re import _parser as parser
from typing import Any

_MANY = 30  # repetitions that count as any number
_SAMPLE = [chr(code) for code in range(128)] + ["é", "ß", "\u2028", "漢"]


@dataclass
class _Fragment:
    """A part of a pattern: the places at which it may begin and end, and whether it may be empty."""

    first: set[int]
    last: set[int]
    is_empty: bool


class _Places:
    """The places of a pattern that read a character, and in how many ways each may follow another one."""

    def __init__(self) -> None:
        self.read: list[frozenset[str]] = []
        self.ways: dict[tuple[int, int], int] = defaultdict(int)
        self.asides: list[Any] = []

    def connect(self, last: Iterable[int], first: Iterable[int]) -> None:
        for before in last:
            for behind in first:
                self.ways[(before, behind)] += 1

    def add_sequence(self, items: Iterable[Any], flags: int) -> _Fragment:
        whole = _Fragment(set(), set(), True)
        for code, argument in items:
            part = self.add(code, argument, flags)
            self.connect(whole.last, part.first)
            whole.first |= part.first if whole.is_empty else set()
            whole.last = part.last | whole.last if part.is_empty else part.last
            whole.is_empty = whole.is_empty and part.is_empty
        return whole

    def add(self, code: Any, argument: Any, flags: int) -> _Fragment:
        """The places of one item of a parsed pattern."""
        if code is codes.SUBPATTERN:
            return self.add_sequence(argument[3], flags)
        if code is codes.BRANCH:
            parts = [self.add_sequence(each, flags) for each in argument[1]]
            return _Fragment(
                set().union(*(part.first for part in parts)),
                set().union(*(part.last for part in parts)),
                any(part.is_empty for part in parts),
            )
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            least, most, content = argument
            part = self.add_sequence(content, flags)
            if most is codes.MAXREPEAT or most > _MANY:
                self.connect(part.last, part.first)
            return _Fragment(part.first, part.last, part.is_empty or least == 0)
        if code in (codes.POSSESSIVE_REPEAT, codes.ATOMIC_GROUP):  # what they have read is never read otherwise
            content = argument if code is codes.ATOMIC_GROUP else argument[2]
            part = self.add_sequence(content, flags)
            return _Fragment(part.first, part.last, part.is_empty or code is codes.POSSESSIVE_REPEAT)
        if code in (codes.ASSERT, codes.ASSERT_NOT):
            self.asides.append(argument[1])
            return _Fragment(set(), set(), True)
        if code in (codes.AT, codes.GROUPREF, codes.GROUPREF_EXISTS):
            return _Fragment(set(), set(), True)
        self.read.append(frozenset(sign for sign in _SAMPLE if _reads(code, argument, sign, flags)))
        place = len(self.read) - 1
        return _Fragment({place}, {place}, False)


def _reads(code: Any, argument: Any, sign: str, flags: int) -> bool:
    """Whether an item that reads one character reads this one."""
    signs = {sign, sign.lower(), sign.upper()} if flags & re.IGNORECASE else {sign}
    if code is codes.LITERAL:
        return chr(argument) in signs
    if code is codes.NOT_LITERAL:
        return chr(argument) not in signs
    if code is codes.ANY:
        return sign != "\n" or bool(flags & re.DOTALL)
    if code is codes.RANGE:
        return any(argument[0] <= ord(each) <= argument[1] for each in signs if len(each) == 1)
    if code is codes.CATEGORY:
        return re.match(_CATEGORIES[argument], sign) is not None
    if code is codes.IN:
        is_negated = argument[0][0] is codes.NEGATE
        return is_negated != any(_reads(each[0], each[1], sign, flags) for each in argument[is_negated:])
    raise AssertionError(code)


_CATEGORIES: Mapping[Any, str] = {
    codes.CATEGORY_DIGIT: r"\d",
    codes.CATEGORY_NOT_DIGIT: r"\D",
    codes.CATEGORY_SPACE: r"\s",
    codes.CATEGORY_NOT_SPACE: r"\S",
    codes.CATEGORY_WORD: r"\w",
    codes.CATEGORY_NOT_WORD: r"\W",
}


def is_exponential(pattern: str, flags: int = 0) -> bool:
    """Whether there are texts on which the pattern tries exponentially many ways."""
    parsed = parser.parse(pattern, flags)
    waiting: list[Any] = [parsed]
    while waiting:
        places = _Places()
        places.add_sequence(waiting.pop(), flags | parsed.state.flags)
        if _has_two_ways(places):
            return True
        waiting += places.asides
    return False


def _has_two_ways(places: _Places) -> bool:
    """Whether from a place back to it two ways read the same text."""
    follow: dict[int, list[int]] = defaultdict(list)
    for before, behind in places.ways:
        follow[before].append(behind)
    reach = {place: _reach(follow, place) for place in follow}
    if any(count > 1 and before in reach.get(behind, ()) for (before, behind), count in places.ways.items()):
        return True
    together: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for left in follow:
        for right in follow:
            for one in follow[left]:
                together[(left, right)] += [
                    (one, other) for other in follow[right] if places.read[one] & places.read[other]
                ]
    for place in follow:
        start = (place, place)
        for left, right in _reach(together, start):
            if left != right and start in _reach(together, (left, right)):
                return True
    return False


def _reach(follow: Mapping[Any, list[Any]], start: Any) -> set[Any]:
    """What follows a start, near or far."""
    found: set[Any] = set()
    waiting = list(follow.get(start, ()))
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += follow.get(each, ())
    return found
