"""Scripts that are nearly right: every script at hand, with words changed or parts exchanged for parts of others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import msgspec
from sqlglot import exp

from penstock.diagnostics import CompileError, Source, Span
from penstock.parser import ast, parse
from tests.golden.cases import CASES
from tests.planner.language import DECLARATIONS, PROMISES
from tests.properties.slips import make_slip

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WORD = re.compile(r"\w+|'[^']*'|\s+|.", re.DOTALL)
UNITS = ["MILLISECOND", "SECOND", "MINUTE", "MIN", "HOUR", "DAY", "WEEK", "MONTH", "YEAR"]
OPERATORS = [
    "+",
    "-",
    "*",
    "/",
    "%",
    "=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "<=>",
    "||",
    "&",
    "|",
    "^",
    "AND",
    "OR",
    "LIKE",
    "IS",
]
ODDITIES = [*"()[],;.'\"`-*/<>=:!?#\\\0\n", "\ud800", "İ", "ß", "é", "😀", "\u202e", "/*", "*/", "--", "->", "5e", "''"]
LITERALS = [
    *(
        "0",
        "-1",
        "1.5",
        "1e400",
        "9223372036854775808",
        "9" * 40,
        "9" * 5_000,
        "''",
        "'x'",
        "'\0'",
        "NULL",
        "TRUE",
        "*",
    ),
    *("INTERVAL '1' MONTH", "INTERVAL '0' SECOND", "INTERVAL '-5' MINUTE", "INTERVAL '0.0001' SECOND"),
    *("INTERVAL '999999999999' DAY", f"INTERVAL '{'9' * 5_000}' DAY", "DATE '2013-02-30'", "TIMESTAMP 'x'"),
]
WRAPPED = [
    *("({})", "-{}", "NOT {}", "{}.b", "{} IS NULL", "CAST({} AS INT)", "CAST({} AS DECIMAL(99999, 2))", "ABS({})"),
    *("SUM({})", "COUNT(DISTINCT {})", "MAX({}) OVER (ORDER BY time RANGE INTERVAL '1' MINUTE PRECEDING)"),
    *("TRANSFORM({}, x -> x)", "EXISTS (SELECT {})", "CASE WHEN {} THEN 1 END", "{} + INTERVAL '1' MINUTE"),
    *("{} = {other}", "{} + {other}", "{} AND {other}", "COALESCE({}, {other})", "MIN({}) FILTER (WHERE {other})"),
]

# How many texts were accepted, and refused with which family of codes, for the summary of the run.
compiled: Counter[str] = Counter()


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a script that parts of the same family may replace."""

    family: str
    span: Span


def scripts() -> list[str]:
    """Golden cases, error pages, examples, and the statements that the language promises."""
    pages = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "errors").glob("*.md"))]
    examples = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples").glob("*/*.sql"))]
    blocks = [block for page in pages for block in BLOCK.findall(page)]
    return [*(case.sql for case in CASES), *blocks, *examples, *(DECLARATIONS + promise.sql for promise in PROMISES)]


def parts(statement: ast.Statement) -> Iterator[Part]:
    """Every part of a statement that has a place of its own."""
    pending: list[object] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, exp.Expression):
            if "span" in node.meta:
                yield Part(family(node), node.meta["span"])
            pending += [value for held in node.args.values() for value in (held if isinstance(held, list) else [held])]
        elif isinstance(node, tuple):
            pending += node
        elif isinstance(node, msgspec.Struct) and not isinstance(node, Span):
            span = getattr(node, "span", None)
            if isinstance(span, Span) and span.start < span.end:
                yield Part(family(node), span)
            pending += [getattr(node, name) for name in node.__struct_fields__]


def family(node: object) -> str:
    """What the grammar lets stand in the place of the node."""
    if isinstance(node, exp.Expression) and isinstance(node.parent, exp.Interval):
        return "quantity"
    if isinstance(node, exp.Condition | exp.Cast | exp.Paren):
        return "scalar"
    if isinstance(node, ast.Table | ast.Subquery | ast.WindowedTable | ast.Join):
        return "relation"
    return "query" if isinstance(node, ast.Query) else type(node).__name__


class Mutations:
    """Scripts made of `scripts()` by chance; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.scripts = scripts()
        self.parsed: list[tuple[str, list[Part]]] = []
        pool: dict[str, set[str]] = {}
        for script in self.scripts:
            try:
                found = [part for statement in parse(Source("<seed>", script)) for part in parts(statement)]
            except CompileError:
                continue
            self.parsed.append((script, found))
            for part in found:
                pool.setdefault(part.family, set()).add(part.span.text)
        self.pool = {name: sorted(texts) for name, texts in pool.items()}
        self.pool["scalar"] += LITERALS * 3

    def text(self) -> str:
        """The next script."""
        match self.chance.randrange(10):
            case 0:
                return self.noise()
            case 1:
                return self.edited(self.chance.choice(self.scripts))
            case 2:
                return self.edited(self.grafted())
            case 3:
                return self.slip()
            case _:
                return self.grafted()

    def slip(self) -> str:
        """A script with one slip of a beginner."""
        return make_slip(self.chance.choice(self.scripts), self.chance)

    def noise(self) -> str:
        """Characters or words in no order."""
        length = self.chance.randrange(60)
        if self.chance.random() < 0.5:
            return "".join(chr(self.chance.randrange(0x110000)) for _ in range(length))
        return " ".join(self.chance.choice(WORD.findall(self.chance.choice(self.scripts))) for _ in range(length))

    def grafted(self) -> str:
        """A script that parses, with up to three parts exchanged for parts of the same family."""
        chance = self.chance
        text, found = chance.choice(self.parsed)
        end = len(text)
        for part in sorted(
            chance.choices(found[len(found) // 3 :], k=chance.randint(1, 3)), key=lambda p: -p.span.start
        ):
            if part.span.end > end:
                continue
            end = part.span.start
            graft = chance.choice(self.pool[part.family])
            if part.family == "scalar" and chance.random() < 0.3:
                graft = chance.choice(WRAPPED).replace("{other}", graft).replace("{}", part.span.text)
            text = text[:end] + graft + text[part.span.end :]
        return text

    def edited(self, text: str) -> str:
        """A text with one to four words removed, swapped, replaced or blown up, or with something inserted."""
        chance, words = self.chance, WORD.findall(text)
        for _ in range(chance.randint(1, 4)):
            if not words:
                break
            at, other = chance.randrange(len(words)), WORD.findall(chance.choice(self.scripts))
            match chance.randrange(9):
                case 0:
                    del words[at]
                case 1:
                    second = chance.randrange(len(words))
                    words[at], words[second] = words[second], words[at]
                case 2:
                    self.replace_one(words, str.isidentifier, [word for word in other if word.isidentifier()])
                case 3:
                    self.replace_one(words, lambda word: word[0].isdigit() or word[0] == "'", LITERALS)
                case 4:
                    self.replace_one(words, lambda word: word.upper() in UNITS, UNITS)
                case 5:
                    self.replace_one(words, lambda word: word.upper() in OPERATORS, OPERATORS)
                case 6:
                    start = chance.randrange(len(other))
                    words[at : at + chance.randint(1, 30)] = other[start : start + chance.randint(1, 30)]
                case 7:
                    words.insert(at, chance.choice(ODDITIES))
                case _:
                    times = chance.choice([2, 70, 3_000])
                    words[at] = (
                        words[at][:9] * times if chance.random() < 0.5 else "(" * times + words[at] + ")" * times
                    )
        return "".join(words)

    def replace_one(self, words: list[str], wanted: Callable[[str], bool], choices: list[str]) -> None:
        """Puts one of the choices in the place of one of the words wanted."""
        places = [at for at, word in enumerate(words) if wanted(word)]
        if places and choices:
            words[self.chance.choice(places)] = self.chance.choice(choices)
