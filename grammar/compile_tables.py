"""The *.lark files -> the tables of their LALR(1) automaton, as JSON. The only module that imports Lark."""

from __future__ import annotations

import json
from operator import itemgetter
from pathlib import Path
from typing import Any

from lark import Lark
from lark.grammar import Rule as LarkRule
from lark.grammar import Terminal
from lark.lexer import PatternStr
from lark.parsers.lalr_analysis import Shift as LarkShift

FAMILIES = ("statements", "tests", "queries", "relations", "windows", "scalars", "types", "terminals")
STARTS = ("start", "test_start")
"""What a statement of a script is, and what a statement of a test is."""
TABLES = Path(__file__).with_name("tables.json")


def tables() -> str:
    """The contents of tables.json. Equal grammars give equal text: Lark's numbers depend on the order of sets."""
    folder = Path(__file__).parent
    text = "\n".join((folder / f"{family}.lark").read_text(encoding="utf-8") for family in FAMILIES)
    grammar = Lark(text, parser="lalr", lexer="basic", maybe_placeholders=True, start=list(STARTS))
    table = grammar.parser.parser._parse_table
    rules = sorted(grammar.rules, key=lambda rule: json.dumps([_rule(rule), [s.name for s in rule.expansion]]))
    rule_numbers = {rule: number for number, rule in enumerate(rules)}
    order = _order([table.start_states[start] for start in STARTS], table.states)
    state_numbers = {state: number for number, state in enumerate(order)}
    data: dict[str, Any] = {
        "starts": {start: state_numbers[table.start_states[start]] for start in STARTS},
        "ends": {start: state_numbers[table.end_states[start]] for start in STARTS},
        "symbols": {
            terminal.pattern.value: terminal.name
            for terminal in sorted(grammar.terminals, key=lambda terminal: str(terminal.name))
            if isinstance(terminal.pattern, PatternStr) and not terminal.pattern.value[0].isalpha()
        },
        "rules": [_rule(rule) for rule in rules],
        "states": [_state(table.states[state], state_numbers, rule_numbers) for state in order],
    }
    shifted = {symbol for targets, _ in data["states"] for symbol in targets if symbol.isupper()}
    reduced = {each for _, reductions in data["states"] for symbols in reductions.values() for each in symbols.split()}
    data["terminals"] = sorted(shifted | reduced)
    lines = [f"{json.dumps(name)}: {_lines(value)}" for name, value in data.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _order(starts: list[int], states: dict[int, dict[str, tuple[Any, Any]]]) -> list[int]:
    """The states in the order in which breadth-first walks by the names of symbols come to them."""
    order = list(starts)
    seen = set(starts)
    for state in order:
        for _, (action, target) in sorted(states[state].items(), key=itemgetter(0)):
            if action is LarkShift and target not in seen:
                seen.add(target)
                order.append(target)
    return order


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


def _state(actions: dict[str, tuple[Any, Any]], states: dict[int, int], rules: dict[LarkRule, int]) -> list[Any]:
    """[{symbol: next state}, {rule: terminals before which it is reduced}]."""
    shifts: dict[str, int] = {}
    reductions: dict[int, list[str]] = {}
    for symbol, (action, target) in sorted(actions.items(), key=itemgetter(0)):
        if action is LarkShift:
            shifts[symbol] = states[target]
        else:
            reductions.setdefault(rules[target], []).append(symbol)
    return [shifts, {str(number): " ".join(symbols) for number, symbols in sorted(reductions.items())}]


def _lines(value: Any) -> str:
    """JSON with one line per entry of a list, so that a change of the grammar can be read as a difference."""
    if isinstance(value, list):
        return "[\n" + ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in value) + "\n]"
    return json.dumps(value)
