"""The sentences of docstrings, comments and documents, each with the line on which it begins."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# A line of text with its number.
Line = tuple[int, str]

DIRECTIVE = re.compile(r"#\s*(?:noqa|type:|pragma|fmt:|ruff:|mypy:|!)")
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
CODE_LIST = re.compile(r"`code`(?:, `code`)+")
LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
ITEM = re.compile(r"(?:[-*+]|\d+\.|>)\s+")
SECTION = re.compile(r"(?:Raises|Returns|Yields|Args):$")
ENTRY = re.compile(r"[\w, ]+: ")
NO_PROSE = re.compile(r"\s*(?:\||<|#|\[[^\]]+\]: )")
FENCE = re.compile(r"\s*(```+|~~~+)")
GENERATED = re.compile(r"<!-- (?!end)[\w-]+ -->")
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|vs|cf|etc|approx|resp|No)\.$")
END = re.compile(r"[.?!][\"'”’)\]*_]*(?=\s)")
CODE_INDENT = 4


class Sentence(NamedTuple):
    line: int
    text: str

    def count_words(self) -> int:
        """The number of words. Code in backticks counts as one, and so does a list of nothing but code."""
        text = CODE_LIST.sub("code", CODE.sub("`code`", LINK.sub(r"\1", self.text)))
        return sum(any(char.isalnum() for char in word) for word in text.split())


def read_python(text: str) -> Iterator[Sentence]:
    """The sentences of a module's docstrings, also of attributes, and of its comments."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(docstring))):
                yield from split_paragraphs(dedent(list(enumerate(docstring.splitlines(), node.lineno))))
    for block in list_comments(text):
        yield from split_paragraphs(block)


def list_comments(text: str) -> Iterator[list[Line]]:
    """Comments. Lines below each other at one column, without code before them, are one comment."""
    block: list[Line] = []
    place = (0, 0)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT or DIRECTIVE.match(token.string):
            continue
        row, column = token.start
        alone = not token.line[:column].strip()
        if block and not (alone and place == (row - 1, column)):
            yield block
            block = []
        place = (row, column) if alone else (0, 0)
        block.append((row, token.string.lstrip("#:").removeprefix(" ")))
    if block:
        yield block


def dedent(lines: Sequence[Line]) -> list[Line]:
    """A docstring without the indentation that its lines after the first have in common."""
    indents = [len(text) - len(text.lstrip()) for _, text in lines[1:] if text.strip()]
    common = min(indents, default=0)
    return [(number, text[common:] if place else text.lstrip()) for place, (number, text) in enumerate(lines)]


def read_markdown(text: str) -> Iterator[Sentence]:
    """The sentences of a document, without code, tables, headings, and what programs write between marks."""
    kept: list[Line] = []
    fence, is_generated = "", False
    for number, line in enumerate(text.splitlines(), start=1):
        mark = FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        elif not fence and line.startswith("<!--"):
            is_generated = GENERATED.fullmatch(line) is not None
        is_prose = not (fence or mark or is_generated or NO_PROSE.match(line))
        kept.append((number, line if is_prose else ""))
    yield from split_paragraphs(kept, has_code=False)


def split_paragraphs(lines: Sequence[Line], *, has_code: bool = True) -> Iterator[Sentence]:
    """The sentences of paragraphs and list items.

    `has_code`: indented lines are code. So are the lines after a backspace, which click prints as they are.
    """
    block: list[Line] = []
    in_item = in_section = is_kept_as_it_is = False
    for number, line in lines:
        text = line.strip()
        heading = SECTION.match(text) is not None
        in_section = heading or (in_section and (not text or line.startswith(" ")))
        item = ITEM.match(text) or (ENTRY.match(text) if in_section else None)
        if not text or item or heading:
            yield from split_sentences(block)
            block = []
            in_item = bool(item) or (in_item and not text)
        elif not line.startswith(" "):
            in_item = in_item and bool(block)
        is_code = has_code and not (in_item or in_section) and line.startswith(" " * CODE_INDENT)
        is_kept_as_it_is = bool(text) and (is_kept_as_it_is or text == "\b")
        if text and not (heading or is_code or is_kept_as_it_is):
            block.append((number, text[item.end() :] if item else text))
    yield from split_sentences(block)


def split_sentences(lines: Sequence[Line]) -> Iterator[Sentence]:
    """The sentences of one paragraph."""
    text = " ".join(line for _, line in lines)
    starts = [sum(len(line) + 1 for _, line in lines[:place]) for place in range(len(lines))]
    hidden = CODE.sub(lambda code: "`" * len(code[0]), text)
    begin = 0
    for end in [*(match.end() for match in END.finditer(hidden)), len(text)]:
        if ABBREVIATION.search(hidden[begin:end]):
            continue
        sentence = text[begin:end].strip()
        if sentence:
            first = text.index(sentence, begin)
            yield Sentence(max(lines[place][0] for place, start in enumerate(starts) if start <= first), sentence)
        begin = end
