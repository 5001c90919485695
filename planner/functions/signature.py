"""The text of a signature, `(ARRAY<T>, (T) -> BOOLEAN) -> ARRAY<T>` -> patterns to match argument types with.

A pattern is a type in which variables may stand for types:

| variable | any type that |
|---|---|
| T, U, K, V | there is |
| O | has an order |
| N | is a number |
| I | is a whole number |
| F | is FLOAT or DOUBLE |

The same variable twice means one type: the common one of its arguments. `ANY` matches each argument by itself, and
`ORDERED` each that has an order. `DECIMAL(p, s)` binds p and s, and `X...` stands for one or more X. A parameter may
also be one of `kinds.KINDS`: a type whose literals are judged.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TypeAlias

import msgspec

from penstock.planner.functions.argument_kinds import KINDS, Kind
from penstock.planner.types import Simple


class Variable(msgspec.Struct, frozen=True):
    name: str


class ArrayOf(msgspec.Struct, frozen=True):
    element: Pattern


class MapOf(msgspec.Struct, frozen=True):
    key: Pattern
    value: Pattern


class DecimalOf(msgspec.Struct, frozen=True):
    """As a parameter it binds p and s; as a result each size is a sum of p, s and whole numbers."""

    precision: str
    scale: str


class StructOf(msgspec.Struct, frozen=True):
    """A struct of any fields."""


class LambdaOf(msgspec.Struct, frozen=True):
    parameters: tuple[Pattern, ...]
    result: Pattern


Pattern: TypeAlias = Simple | Variable | ArrayOf | MapOf | DecimalOf | StructOf | LambdaOf

_VARIABLES = ("T", "U", "K", "V", "O", "N", "I", "F", "ANY", "ORDERED")
_TOKEN = re.compile(r"->|\.\.\.|[<>(),]|[\w+ -]*[\w]")


class Signature(msgspec.Struct, frozen=True):
    """`variadic`: the last parameter may be given any number of times, at least once.

    `kinds` has the index of each parameter that is of a kind.
    """

    parameters: tuple[Pattern, ...]
    variadic: bool
    result: Pattern
    kinds: tuple[tuple[int, Kind], ...] = ()

    def expand(self, count: int) -> tuple[Pattern, ...] | None:
        """The patterns of `count` arguments, or None if it does not take as many."""
        missing = count - len(self.parameters)
        if missing == 0:
            return self.parameters
        return self.parameters + self.parameters[-1:] * missing if self.variadic and missing > 0 else None


@cache
def signature(text: str) -> Signature:
    """The signature that a text of `planner/functions` stands for."""
    return _SignatureParser(text).signature()


class _SignatureParser:
    """Recursive descent over the tokens of one signature."""

    def __init__(self, text: str) -> None:
        self._tokens: list[str] = [found.strip() for found in _TOKEN.findall(text)]
        self._at = 0
        self._kinds: list[tuple[int, Kind]] = []

    def signature(self) -> Signature:
        parameters, variadic = self._parameters()
        self._expect("->")
        return Signature(parameters, variadic, self._pattern(), tuple(self._kinds))

    def _next(self) -> str:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _is_next(self, token: str) -> bool:
        if self._at < len(self._tokens) and self._tokens[self._at] == token:
            self._at += 1
            return True
        return False

    def _expect(self, token: str) -> None:
        if not self._is_next(token):
            raise ValueError(f"{token!r} expected at token {self._at} of {self._tokens}")

    def _parameters(self) -> tuple[tuple[Pattern, ...], bool]:
        self._expect("(")
        parameters: list[Pattern] = []
        variadic = False
        while not self._is_next(")"):
            if parameters:
                self._expect(",")
            kind = KINDS.get(self._tokens[self._at])
            if kind is not None:
                self._kinds.append((len(parameters), kind))
            parameters.append(self._pattern())
            variadic = self._is_next("...")
        return tuple(parameters), variadic

    def _pattern(self) -> Pattern:
        if self._tokens[self._at] == "(":
            parameters, _ = self._parameters()
            self._expect("->")
            return LambdaOf(parameters, self._pattern())
        name = self._next()
        if name == "ARRAY":
            self._expect("<")
            element = self._pattern()
            self._expect(">")
            return ArrayOf(element)
        if name == "MAP":
            self._expect("<")
            key = self._pattern()
            self._expect(",")
            value = self._pattern()
            self._expect(">")
            return MapOf(key, value)
        if name == "DECIMAL":
            self._expect("(")
            precision = self._next()
            self._expect(",")
            scale = self._next()
            self._expect(")")
            return DecimalOf(precision, scale)
        if name == "STRUCT":
            return StructOf()
        if name in KINDS:
            return KINDS[name].type
        return Variable(name) if name in _VARIABLES else Simple(name)
