"""The dialect: its grammar, and the parser made of it.

The *.lark files are the grammar; `python -m penstock.grammar` compiles them to tables.json, which is what runs.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from penstock.grammar.lalr import Action, NestedTooDeep, Parser, Production, Shift, Tables, UnexpectedToken
from penstock.grammar.lexer import END, NAME, NUMBER, SEMICOLON, STRING, TYPED_NUMBER, Fault, Lexer, Token

__all__ = [
    "END",
    "MAX_DEPTH",
    "NAME",
    "NUMBER",
    "PREFERRED",
    "RESERVED",
    "SEMICOLON",
    "STRING",
    "Dialect",
    "Fault",
    "Lexer",
    "NestedTooDeep",
    "Token",
    "UnexpectedToken",
    "dialect",
    "dialect_of_tests",
]

# Levels of brackets, CASE, NOT, signs, functions and subqueries inside each other.
MAX_DEPTH = 64

# fmt: off
# Words that are never names, unless quoted: a name there is nearly always a slip, and the error should say so.
RESERVED = frozenset({
    "SELECT", "FROM", "WHERE", "GROUP", "HAVING", "JOIN", "ON", "UNION", "AS", "AND", "OR", "WHEN", "THEN",
})

# Words that are a keyword wherever the rules allow that keyword, and elsewhere names. All other keywords can also be
# names where the rules allow both; the token behind them decides.
PREFERRED = frozenset({
    "BETWEEN", "BY", "CASE", "CROSS", "DEDUPLICATE", "ELSE", "END", "FALSE", "FULL", "ILIKE", "IN", "INNER",
    "INTO", "IS", "ISNULL", "LEFT", "LIKE", "LIMIT", "NATURAL", "NOT", "NOTNULL", "NULL", "ORDER", "REGEXP",
    "RIGHT", "RLIKE", "SET", "TRUE", "USING", "WITH",
})

# The rules that are a level of depth. Every way back from a rule to itself passes one of them.
NESTING = frozenset({
    "explain", "derived_table", "windowed_table", "common_table", "over", "negative", "positive", "bit_not", "not_",
    "element", "paren", "scalar_query", "case", "filter", "call", "call_distinct", "call_ordered", "within_group",
    "cast", "call_query", "lambda", "in_list", "in_query", "nested_type", "grouping_sets", "grouping_set", "row",
    "array", "map", "call_from", "call_trim", "call_in", "call_placing", "call_to", "pair", "query_in_parentheses",
})
# fmt: on


class Dialect(msgspec.Struct, frozen=True):
    """What turns text into rules: the lexer, the parser, the words that are keywords somewhere, and the signs."""

    lexer: Lexer
    parser: Parser
    keywords: frozenset[str]
    symbols: dict[str, str]


class _Rows(dict[int, dict[str, Action]]):
    """The actions of each state, made when the state is first met: most scripts meet few of them."""

    def __init__(self, states: list[list[dict[str, Any]]], rules: list[Production]) -> None:
        super().__init__()
        self._states = states
        self._rules = rules

    def __missing__(self, state: int) -> dict[str, Action]:
        targets, reductions = self._states[state]
        row: dict[str, Action] = {symbol: Shift(target) for symbol, target in targets.items() if symbol.isupper()}
        for number, symbols in reductions.items():
            row.update(dict.fromkeys(symbols.split(" "), self._rules[int(number)]))
        self[state] = row
        return row


class _Gotos(dict[int, dict[str, int]]):
    """The states after the non-terminals of each state, made like its actions."""

    def __init__(self, states: list[list[dict[str, Any]]]) -> None:
        super().__init__()
        self._states = states

    def __missing__(self, state: int) -> dict[str, int]:
        row = {symbol: target for symbol, target in self._states[state][0].items() if not symbol.isupper()}
        self[state] = row
        return row


@cache
def dialect() -> Dialect:
    """The lexer and the parser of scripts, loaded once per process."""
    return _load("start")


@cache
def dialect_of_tests() -> Dialect:
    """The lexer and the parser of tests, which are statements of their own."""
    return _load("test_start")


def _load(start: str) -> Dialect:
    data = json.loads(Path(__file__).with_name("tables.json").read_text(encoding="utf-8"))
    rules = [
        Production(name, origin, size, tuple(parts), inline, helper)
        for name, origin, size, parts, inline, helper in data["rules"]
    ]
    tables = Tables(_Rows(data["states"], rules), _Gotos(data["states"]), data["starts"][start], data["ends"][start])
    keywords = set(data["terminals"]) - set(data["symbols"].values()) - {NAME, STRING, NUMBER, TYPED_NUMBER, END}
    return Dialect(
        Lexer(data["symbols"]),
        Parser(tables, reserved=RESERVED, preferred=PREFERRED, nesting=NESTING, max_depth=MAX_DEPTH),
        frozenset(keywords),
        data["symbols"],
    )
