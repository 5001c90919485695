"""The *.lark files -> the tables of their LALR(1) automaton, as JSON. The only module that imports Lark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lark import Lark
from lark.grammar import Rule as LarkRule
from lark.grammar import Terminal
from lark.lexer import PatternStr
from lark.parsers.lalr_analysis import Shift as LarkShift

FAMILIES = ("statements", "queries", "relations", "windows", "scalars", "terminals")
TABLES = Path(__file__).with_name("tables.json")


def lark() -> Lark:
    """The grammar as Lark compiles it."""
    folder = Path(__file__).parent
    text = "\n".join((folder / f"{family}.lark").read_text(encoding="utf-8") for family in FAMILIES)
    return Lark(text, parser="lalr", lexer="basic", maybe_placeholders=True)


def tables() -> str:
    """The contents of tables.json: equal grammars give equal text."""
    grammar = lark()
    table = grammar.parser.parser._parse_table
    numbers = {rule: number for number, rule in enumerate(grammar.rules)}
    start, end = table.start_states["start"], table.end_states["start"]
    data = {
        "start": start,
        "end": end,
        "symbols": {
            terminal.pattern.value: terminal.name
            for terminal in grammar.terminals
            if isinstance(terminal.pattern, PatternStr)
            and not terminal.pattern.value.isalnum()
            and "_" not in terminal.pattern.value
        },
        "rules": [_rule(rule) for rule in grammar.rules],
        "states": [_state(table.states[number], numbers) for number in range(len(table.states))],
    }
    lines = [f"{json.dumps(name)}: {_lines(value)}" for name, value in data.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _rule(rule: LarkRule) -> list[Any]:
    """[name, origin, size, parts, inline, helper], which are the fields of `lalr.Rule`."""
    optional = "".join("1" if empty else "0" for empty in rule.options.empty_indices) or "0" * len(rule.expansion)
    left_out = [len(gap) for gap in optional.split("0")]
    parts: list[int | None] = []
    for position, symbol in enumerate(rule.expansion):
        parts.extend([None] * left_out[position])
        if not symbol.is_term and symbol.name.startswith("_"):
            parts.append(~position)
        elif rule.options.keep_all_tokens or not (isinstance(symbol, Terminal) and symbol.filter_out):
            parts.append(position)
    parts.extend([None] * left_out[len(rule.expansion)])
    origin = str(rule.origin.name)
    inline = rule.options.expand1 and not rule.alias
    return [str(rule.alias or origin), origin, len(rule.expansion), parts, inline, origin.startswith("_")]


def _state(actions: dict[str, tuple[Any, Any]], numbers: dict[LarkRule, int]) -> list[Any]:
    """[{symbol: next state}, {rule: terminals before which it is reduced}]."""
    shifts: dict[str, int] = {}
    reductions: dict[int, list[str]] = {}
    for symbol, (action, target) in sorted(actions.items()):
        if action is LarkShift:
            shifts[symbol] = target
        else:
            reductions.setdefault(numbers[target], []).append(symbol)
    return [shifts, {str(number): " ".join(symbols) for number, symbols in sorted(reductions.items())}]


def _lines(value: Any) -> str:
    """JSON with one line per entry of a list, so that a change of the grammar can be read as a difference."""
    if isinstance(value, list):
        return "[\n" + ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in value) + "\n]"
    return json.dumps(value)
