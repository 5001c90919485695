"""A script -> the same script in the canonical layout."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.diagnostics import Source
from penstock.grammar import SEMICOLON, Dialect, dialect, dialect_of_tests
from penstock.parser.format.comments import Remarks, find_remarks, list_comments
from penstock.parser.format.layout import Comment, Printer
from penstock.parser.format.statement import lay_out_statement
from penstock.parser.parsing import count_set_words, parse, parse_tests


class LayoutError(Exception):
    """The canonical layout would say something else than the script: a defect of the formatter."""


def format_script(source: Source) -> str:
    """The script with its clauses on lines of their own, its keywords in capitals, and its comments at their places.

    Raises CompileError if it does not parse, and LayoutError if the result would not mean the same.
    """
    statements = parse(source)
    text = _write_script(source.text, dialect())
    return _check_layout(source, text, parse(Source(source.name, text)) == statements)


def format_tests(source: Source) -> str:
    """The same of a file of tests."""
    statements = parse_tests(source)
    text = _write_script(source.text, dialect_of_tests())
    return _check_layout(source, text, parse_tests(Source(source.name, text)) == statements)


def _check_layout(source: Source, text: str, is_same: bool) -> str:
    """The text. Raises LayoutError if its statements, tokens or comments are not the same."""
    if not is_same or _summarize(text) != _summarize(source.text):
        raise LayoutError(source.name)
    return text


def _summarize(text: str) -> tuple[list[tuple[str, str]], list[str]]:
    """What no layout changes: the tokens but for semicolons, and the comments."""
    tokens = list(dialect().lexer.tokens(text))
    told = list_comments(*find_remarks(text, tokens))
    return [(token.type, token.word or token.value) for token in tokens if token.type != SEMICOLON], list(told)


def _write_script(text: str, language: Dialect) -> str:
    tokens = list(language.lexer.tokens(text))
    remarks, rest = find_remarks(text, tokens)
    lines: list[str] = []
    first = 0
    was_long = False
    for index, token in enumerate([*tokens, None]):
        if token is not None and token.type != SEMICOLON:
            continue
        behind = _place_closing(remarks, rest, index, is_empty=index == first)
        opening = count_set_words(tokens[first:index])
        if opening or [each.word for each in tokens[first:index]] == ["END"]:
            size = opening or 1
            is_alone = size == index - first
            lines += [""] if lines and remarks[first].apart else []
            lines += _write_comments(remarks[first].head)
            lines.append(" ".join(str(each.word) for each in tokens[first : first + size]) + ";" * is_alone)
            inside = [each for mark in remarks[first : first + size] for each in mark.tail]
            _place_before(
                [*inside, *(behind if is_alone else [])], remarks, rest, index + 1 if is_alone else first + size
            )
            was_long = False
            first += size
        if index > first:
            own = remarks[first]
            pieces = lay_out_statement(text, tokens[first:index], remarks[first:index], language)
            statement = Printer().print((*pieces, ";", *remarks[index - 1].tail, *behind))
            is_long = "\n" in statement
            begins_test = tokens[first].word == "TEST"
            if lines and (was_long or is_long or begins_test or (own.head[0].apart if own.head else own.apart)):
                lines.append("")
            lines += _write_comments(own.head)
            if own.head and own.apart:
                lines.append("")
            lines.append(statement)
            was_long = is_long
        first = index + 1
    if lines and rest and rest[0].apart:
        lines.append("")
    return "".join(f"{line}\n" for line in [*lines, *_write_comments(rest)])


def _place_closing(remarks: Sequence[Remarks], rest: list[Comment], index: int, *, is_empty: bool) -> list[Comment]:
    """The comments on the line of a semicolon. Comments before it on lines of their own go to the next statement.

    `is_empty`: the semicolon closes nothing, so all of its comments go there.
    """
    if index >= len(remarks):
        return []
    closing = remarks[index]
    if not closing.head and not is_empty:
        return closing.tail
    _place_before([*closing.head, *closing.tail], remarks, rest, index + 1)
    return []


def _place_before(comments: Sequence[Comment], remarks: Sequence[Remarks], rest: list[Comment], index: int) -> None:
    """Puts comments on lines of their own before the token with this number, or behind all of them."""
    following = remarks[index].head if index < len(remarks) else rest
    following[:0] = [Comment(each.text, alone=True, apart=each.apart) for each in comments]


def _write_comments(comments: Sequence[Comment]) -> list[str]:
    lines: list[str] = []
    for number, comment in enumerate(comments):
        if number and comment.apart:
            lines.append("")
        lines.append(comment.text)
    return lines
