"""Tokens -> whatever the caller builds of each rule, by the LALR(1) tables that Lark has computed.

Lark compiles the grammar, this runs it. To read its tables from JSON takes a few milliseconds. To build them, or to
import Lark at all, would take most of the time that `penstock check` has. Nothing here recurses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from penstock.grammar.lexer import END, NAME, Token

# No level of depth has more symbols waiting on the stack (the longest: every precedence level, inside a join's ON). A
# stack that is longer belongs to brackets that are not closed yet, and too many of them.
STATES_PER_LEVEL = 40

# Called with a rule's name, its parts and its place; what it returns is a part of the rule around it.
Build: TypeAlias = Callable[[str, list[Any], int, int], Any]


class Production(msgspec.Struct, frozen=True):
    """A production. `name` is the name of its alternative, `origin` the name of the symbol it makes.

    `parts` picks what is built from. A number is the position of a symbol on the right-hand side. None is an optional
    part left out. `~position` is a helper rule whose own parts are taken instead. `inline`: a single part stands for
    itself.
    """

    name: str
    origin: str
    size: int
    parts: tuple[int | None, ...]
    inline: bool
    helper: bool


class Shift(msgspec.Struct, frozen=True):
    state: int


Action: TypeAlias = Shift | Production
Row: TypeAlias = Mapping[str, Action]


class Tables(msgspec.Struct, frozen=True):
    """An LALR(1) automaton: a row of actions per state, and the states after each non-terminal."""

    rows: Mapping[int, Row]
    gotos: Mapping[int, Mapping[str, int]]
    start: int
    end: int


class UnexpectedToken(Exception):
    """No rule goes on with `token`; `expected` are the terminals with which one would."""

    def __init__(self, token: Token, expected: frozenset[str]) -> None:
        super().__init__(token.type)
        self.token = token
        self.expected = expected


class NestedTooDeep(Exception):
    """A rule of the nesting kind stands inside too many others. The place is the place of the outermost one read."""

    def __init__(self, start: int, end: int) -> None:
        super().__init__(start, end)
        self.start = start
        self.end = end


class Parser:
    """Runs the automaton.

    `reserved` words are never names. `preferred` ones are keywords wherever a rule can go on with that keyword. Any
    other word that could be either is decided by the token behind it. `nesting` are the rules that count as a level of
    depth.
    """

    def __init__(
        self,
        tables: Tables,
        *,
        reserved: frozenset[str],
        preferred: frozenset[str],
        nesting: frozenset[str],
        max_depth: int,
    ) -> None:
        self._tables = tables
        self._reserved = reserved
        self._preferred = preferred
        self._nesting = nesting
        self._max_depth = max_depth
        self._max_states = max_depth * STATES_PER_LEVEL

    def parse(self, tokens: Sequence[Token], build: Build, terminals: list[str] | None = None) -> Any:
        """What `build` made of the outermost rule. `tokens` ends in an END token.

        `terminals` takes what each token was read as: a keyword, or NAME, STRING and so on.
        Raises UnexpectedToken or NestedTooDeep, at the first token that no rule accepts or the first rule too deep.
        """
        rows, gotos = self._tables.rows, self._tables.gotos
        states = [self._tables.start]
        values: list[tuple[Any, int, int, int]] = []  # what was built, its first and last character, its depth
        for index, token in enumerate(tokens):
            if len(states) > self._max_states:
                raise NestedTooDeep(token.start, token.end)
            before = states.copy()  # a token that does not fit may have closed rules before that is found out
            terminal = token.type
            if token.word is not None:
                terminal = self._read_word(states, token.word, tokens[index + 1 : index + 3])
            while True:
                action = rows[states[-1]].get(terminal)
                if isinstance(action, Shift):
                    states.append(action.state)
                    values.append((token, token.start, token.end, 0))
                    if terminals is not None:
                        terminals.append(terminal)
                    break
                if action is None:
                    raise UnexpectedToken(token, self._list_expected(before))
                if action.inline and action.size == 1:  # a value climbs the precedence levels as it is
                    states[-1] = gotos[states[-2]][action.origin]
                    continue
                reduced = self._reduce(action, values, build)
                del states[len(states) - action.size :]
                values.append(reduced)
                states.append(gotos[states[-1]][action.origin])
                if terminal == END and states[-1] == self._tables.end:
                    return reduced[0]
        raise AssertionError("the tokens end without END")

    def _reduce(
        self, rule: Production, values: list[tuple[Any, int, int, int]], build: Build
    ) -> tuple[Any, int, int, int]:
        taken = values[len(values) - rule.size :]
        del values[len(values) - rule.size :]
        parts: list[Any] = []
        for pick in rule.parts:
            if pick is None:
                parts.append(None)
            elif pick >= 0:
                parts.append(taken[pick][0])
            elif parts:
                parts.extend(taken[~pick][0])
            else:
                parts = taken[~pick][0]  # taken over, not copied: a list of n items costs n steps
        start, end = taken[0][1], taken[-1][2]
        depth = max(value[3] for value in taken)
        if rule.helper:
            return parts, start, end, depth
        if rule.inline and len(parts) == 1:
            return parts[0], start, end, depth
        if rule.name in self._nesting:
            depth += 1
            if depth > self._max_depth:
                raise NestedTooDeep(start, end)
        return build(rule.name, parts, start, end), start, end, depth

    def _read_word(self, states: list[int], word: str, following: Sequence[Token]) -> str:
        """The terminal that a word is: a keyword, or a name. `following` are the next token, and the one behind it."""
        row = self._tables.rows[states[-1]]
        if word in self._reserved:
            return word
        if word not in row:
            return NAME
        if NAME not in row:
            return word
        as_keyword, as_name = self._after(states, word), self._after(states, NAME)
        if as_keyword is None:
            return NAME
        if as_name is None or word in self._preferred:
            return word
        # Both fit. Prefer the reading after which the next token is at home as what it looks like (a keyword, a
        # sign). Otherwise prefer the reading after which it can at least be a name. A reading that the second
        # token rules out comes last.
        later = None
        for terminal in (following[0].word or following[0].type, following[0].type):
            for reading, before in ((word, as_keyword), (NAME, as_name)):
                after = self._after(before, terminal)
                if after is not None and all(self._fits(after, token) for token in following[1:]):
                    return reading
                if after is not None:
                    later = later or reading
        return later or word

    def _fits(self, states: Sequence[int], token: Token) -> bool:
        """Whether the token can stand there, as what it looks like or as a name."""
        return any(self._after(states, terminal) is not None for terminal in {token.word or token.type, token.type})

    def _after(self, states: Sequence[int], terminal: str) -> list[int] | None:
        """The states after `terminal`, or None where it cannot stand."""
        states = list(states)
        while True:
            action = self._tables.rows[states[-1]].get(terminal)
            if isinstance(action, Shift):
                return [*states, action.state]
            if action is None:
                return None
            del states[len(states) - action.size :]
            states.append(self._tables.gotos[states[-1]][action.origin])
            if terminal == END and states[-1] == self._tables.end:
                return states

    def _list_expected(self, states: list[int]) -> frozenset[str]:
        return frozenset(
            terminal for terminal in self._tables.rows[states[-1]] if self._after(states, terminal) is not None
        )
