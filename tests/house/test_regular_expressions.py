"""No regular expression of the project tries exponentially many ways, whatever the text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.grammar import dialect
from tests.house.backtracking import is_exponential

ROOT = Path(__file__).parents[2]
ROOMS = ("penstock", "kit", "grammar", "parser", "planner", "evaluator", "codegen", "runtime", "server", "diagnostics")
_CALLS = {"compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}


def find_patterns(path: Path) -> Iterator[tuple[int, str, int]]:
    """The line, the pattern and the flags of each call of `re` whose pattern is written in the file."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)) if "import re\n" in text else ():
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CALLS):
            continue
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "re" and node.args):
            continue
        names = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute) and each.attr.isupper()}
        flags = sum(getattr(re, name) for name in names if isinstance(getattr(re, name, None), re.RegexFlag))
        pattern = _evaluate(node.args[0])
        if pattern is not None:
            yield node.lineno, pattern, int(flags)


def _evaluate(node: ast.expr) -> str | None:
    """The text of a literal; what an f-string puts in stands for a word."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else r"\w" for part in node.values)
    return None


PATTERNS = [
    pytest.param(pattern, flags, id=f"{path.relative_to(ROOT)}:{line}")
    for room in ROOMS
    for path in sorted((ROOT / room).rglob("*.py"))
    if not any(part.is_symlink() for part in path.parents if part != ROOT)
    for line, pattern, flags in find_patterns(path)
]


@pytest.mark.parametrize(("pattern", "flags"), PATTERNS)
def test_no_pattern_is_exponential(pattern: str, flags: int) -> None:
    assert not is_exponential(pattern, flags)


def test_the_patterns_are_found() -> None:
    assert len(PATTERNS) > 150


def test_the_lexer_is_not_exponential() -> None:
    pattern = dialect().lexer._pattern
    assert not is_exponential(pattern.pattern, pattern.flags & re.DOTALL)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"((?:\s|--[^\n]*|/\*.*?\*/)*);", True),
        (r"(?:a*)*b", True),
        (r"(?:a+)+b", True),
        (r"(?:a|ab|b)*c", True),
        (r"(?:\w+\s?)*$", True),
        (r"(?=(?:aa|a)*b)c", True),
        (r"(?:\w+\s)*$", False),
        (r"'(?:[^']|'')*'", False),
        (r"'[^']*+(?:''[^']*+)*+'", False),
        (r"(?:a++)*b", False),
        (r"--[^\n]*|/\*.*?\*/", False),
        (r"\d+\.?\d*", False),
    ],
)
def test_exponential_patterns_are_told_from_others(pattern: str, expected: bool) -> None:
    assert is_exponential(pattern, re.DOTALL) is expected
