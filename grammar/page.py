"""The *.lark files -> the grammar as people read it, between the marks of docs/sql.md."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "sql.md"
_BLOCK = re.compile(r"(<!-- grammar: (\w+) -->\n```text\n).*?(```\n<!-- end -->)", re.DOTALL)
_NAMES = {"NAME": "name", "STRING": "string", "NUMBER": "number", "TYPED_NUMBER": "typed_number"}
_WIDTH = 100


def page(text: str) -> str:
    """The page with the grammar of each family in its block."""
    return _BLOCK.sub(lambda block: block[1] + show_family(block[2]) + block[3], text)


def show_family(family: str) -> str:
    """The rules of a family. `[x]` may be left out, `x*` may come any number of times, `x+` at least once."""
    lines = (Path(__file__).with_name(f"{family}.lark")).read_text(encoding="utf-8").splitlines()
    kept = [re.sub(r" -> \w+", "", line) for line in lines if not line.startswith(("//", "%"))]
    rules = re.findall(r"^[?!]*_?(\w+): ?(.*(?:\n +\|.*)*)", "\n".join(kept), re.MULTILINE)
    return "".join(show_rule(name, body) for name, body in rules if body != f'"{name}"')


def show_rule(name: str, body: str) -> str:
    """`name ::= body`, an alternative a line where they are long."""
    body = re.sub(r'("\w+")\?', r"[\1]", " ".join(body.split()))
    signs = "".join(show_part(part) for part in re.split(r'("[^"]*"|\w+)', body))
    whole = f"{name} ::= {signs}"
    if len(whole) <= _WIDTH:
        return whole + "\n"
    alternatives = split_alternatives(signs)
    return f"{name} ::=\n" + "".join(f"    | {each}\n" for each in alternatives)


def show_part(part: str) -> str:
    """A keyword as itself, a sign in quotes, a rule by its name."""
    if part.startswith('"'):
        word = part[1:-1]
        return word if word.isalpha() or "_" in word else f"'{word}'"
    if part.isupper() and part in _NAMES:
        return _NAMES[part]
    return part.lstrip("_?!") if re.fullmatch(r"\w+", part) else part.replace("!", "").replace("?", "")


def split_alternatives(body: str) -> list[str]:
    """The alternatives of a rule that stand in no brackets."""
    parts, depth = [""], 0
    for sign in re.split(r"('[^']*'|[(\[\])|])", body):
        depth += sign in ("(", "[")
        depth -= sign in (")", "]")
        if sign == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]
