"""What Java's compiler of regular expressions is sure to refuse; what this does not know, it takes.

The reader follows groups, classes, quantifiers and escapes. Where the rules depend on more (the flag x, intersections
of classes) it stops and finds nothing.
"""

from __future__ import annotations

import re

import msgspec

_NO_ESCAPES = frozenset("CFIJKLMOTUYgijlmoqy")
_REPETITION = re.compile(r"\{([0-9]{1,9})(?:,([0-9]{0,9}))?\}")
_DEEPEST_CLASS = 20
_GROUP = re.compile(r"\(\?(?:[:=!>]|<[=!]|<([a-zA-Z][a-zA-Z0-9]*)>)")
_FLAGS = re.compile(r"\(\?([a-zA-Z-]*)([:)])")
_BRACED = re.compile(r"\\(?:[pPxN]|b(?=\{g\}))\{[^}]*\}|\\k<[^>]*>|\\c.", re.DOTALL)


class Regex(msgspec.Struct, frozen=True):
    """`problem`: why it does not compile, None if nothing was found. `groups`: how many there are, None if unknown."""

    problem: str | None
    groups: int | None


def read_regex(pattern: str) -> Regex:
    """What can be said of a pattern."""
    reader = _RegexReader(pattern)
    try:
        reader.read()
    except _Refused as refused:
        return Regex(str(refused), None)
    except _Unknown:
        return Regex(None, None)
    return Regex(None, reader.groups)


class _Refused(Exception):
    """Java does not compile the pattern."""


class _Unknown(Exception):
    """Java may compile the pattern."""


class _RegexReader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.groups = 0
        self.depth = 0

    def read(self) -> None:
        repeatable = False
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "\\":
                self._escape()
            elif char == "[":
                self.at += 1
                self._class(1)
            elif char == "(":
                repeatable = self._open(repeatable)
                continue
            elif char == ")":
                if self.depth == 0:
                    raise _Refused("`)` closes no group")
                self.depth -= 1
                self.at += 1
            elif char in "*+?{":
                self._quantifier(char, repeatable)
                repeatable = False
                continue
            else:
                self.at += 1
            repeatable = char != "|"
        if self.depth:
            raise _Refused("a group is not closed")

    def _quantifier(self, char: str, repeatable: bool) -> None:
        if char == "{":
            found = _REPETITION.match(self.text, self.at)
            if found is None:
                if re.match(r"\{[0-9]{10}|\{[0-9]+,[0-9]{10}", self.text[self.at :]):
                    raise _Unknown
                raise _Refused("`{` begins no repetition; the character itself is written \\{")
            least, most = found.groups()
            if most and int(most) < int(least):
                raise _Refused(f"{found.group()} repeats less than it must")
            self.at = found.end()
        elif not repeatable:
            raise _Refused(f"`{char}` has nothing to repeat; the character itself is written \\{char}")
        else:
            self.at += 1
        if self.text[self.at : self.at + 1] in ("?", "+"):
            self.at += 1

    def _open(self, repeatable: bool) -> bool:
        """Reads the beginning of a group, or flags; whether a quantifier may follow."""
        if not self.text.startswith("(?", self.at):
            self.groups += 1
            self.at += 1
        elif found := _GROUP.match(self.text, self.at):
            self.groups += found.group(1) is not None
            self.at = found.end()
        elif found := _FLAGS.match(self.text, self.at):
            flags, end = found.groups()
            if "x" in flags:
                raise _Unknown
            if not set(flags) <= set("idmsucU-"):
                raise _Refused(f"{found.group()} has a flag that there is not")
            self.at = found.end()
            if end == ")":
                return repeatable
        elif self.text.startswith("(?P", self.at):
            raise _Refused("a group with a name is written (?<name>…)")
        else:
            raise _Unknown
        self.depth += 1
        return False

    def _escape(self) -> None:
        """Reads a backslash and what belongs to it."""
        if self.at + 1 == len(self.text):
            raise _Refused("it ends with a backslash; the character itself is written \\\\")
        char = self.text[self.at + 1]
        if char == "Q":
            end = self.text.find("\\E", self.at + 2)
            self.at = len(self.text) if end < 0 else end + 2
        elif found := _BRACED.match(self.text, self.at):
            self.at = found.end()
        elif char in _NO_ESCAPES:
            raise _Refused(f"the escape \\{char} has no meaning")
        else:
            self.at += 2

    def _class(self, depth: int) -> None:
        """Reads a class behind its bracket."""
        if depth > _DEEPEST_CLASS:
            raise _Unknown
        if self.text.startswith("^", self.at):
            self.at += 1
        first = True
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "]" and not first:
                self.at += 1
                return
            if self.text.startswith("&&", self.at):
                raise _Unknown
            if char == "\\":
                self._escape()
            elif char == "[":
                self.at += 1
                self._class(depth + 1)
            else:
                self._characters(char)
            first = False
        raise _Refused("a class in brackets is not closed")

    def _characters(self, char: str) -> None:
        """Reads one character of a class, or a range of them."""
        self.at += 1
        to = self.text[self.at + 1 : self.at + 2]
        if not self.text.startswith("-", self.at) or to in ("", "[", "]"):
            return
        if to in ("\\", "&"):
            raise _Unknown
        if to < char:
            raise _Refused(f"the range {char}-{to} runs backwards")
        self.at += 2
