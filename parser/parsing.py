"""Text -> statements, or coded errors that say why it has none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, assert_never

from penstock.diagnostics import CompileError, Diagnostic, Prose, Source, Span, nearest
from penstock.diagnostics.codes import building, limits, syntax
from penstock.grammar import (
    END,
    MAX_DEPTH,
    NAME,
    NUMBER,
    SEMICOLON,
    STRING,
    Dialect,
    Fault,
    Lexer,
    NestedTooDeep,
    Token,
    UnexpectedToken,
    dialect,
    dialect_of_tests,
)
from penstock.parser.ast import Statement, TestStatement
from penstock.parser.ast.intervals import UNITS
from penstock.parser.build import build
from penstock.parser.commas import explain_missing_comma, explain_spare_comma
from penstock.parser.depth import check_depth
from penstock.parser.json_paths import explain_json_path
from penstock.parser.lateral import explain_lateral
from penstock.parser.lengths import explain_length
from penstock.parser.other_statements import TESTS
from penstock.parser.other_systems import (
    find_unbuilt,
    propose_form,
    propose_otherwise,
    propose_sign,
    propose_statement,
)
from penstock.parser.quotes import explain_keyword, explain_quotes
from penstock.parser.signs import explain_closing, find_lookalikes
from penstock.parser.statement_ends import MissingEndError, explain_missing_end, explain_second_from, find_missing_end
from penstock.parser.stops import Stop, find_stop, show_token
from penstock.parser.type_brackets import explain_type_brackets
from penstock.parser.watermarks import explain_watermark

# Terminals that an error names by one word: where the first set may stand, so may that; it covers the second set.
_GROUPS = (
    (
        frozenset({NAME, STRING, NUMBER}),
        frozenset({NAME, STRING, NUMBER, "LPAR", "HYPHEN", "PLUS", "TILDE", "NOT"})
        | frozenset({"CASE", "NULL", "TRUE", "FALSE", "DATE", "TIMESTAMP", "TIME", "INTERVAL", "ARRAY", "MAP", "X"})
        | frozenset({"TYPED_NUMBER", "BANG"}),
        "an expression",
    ),
    (frozenset({"SECOND"}), frozenset(UNITS), "a unit of time"),
    (
        frozenset({"PLUS", "STAR"}),
        frozenset({"PLUS", "HYPHEN", "CONCAT", "STAR", "SLASH", "PERCENT", "DIV", "VBAR", "AMPERSAND", "CIRCUMFLEX"})
        | frozenset({"EQUAL", "DOUBLE_EQUAL", "NOT_EQUAL", "BANG_EQUAL", "LESSTHAN", "LESS_OR_EQUAL", "MORETHAN"})
        | frozenset({"MORE_OR_EQUAL", "NULL_SAFE_EQUAL", "BETWEEN", "LIKE", "ILIKE", "RLIKE", "REGEXP", "IS", "IN"})
        | frozenset({"NOT", "AND", "OR", "DOT", "LSQB", "LPAR", "ARROW", "DOUBLE_COLON", "SIMILAR", "AT"}),
        "an operator",
    ),
    (frozenset({NAME}), frozenset({NAME}), "a name"),
    (frozenset({STRING}), frozenset({STRING}), "a string"),
    (frozenset({NUMBER}), frozenset({NUMBER}), "a number"),
    (frozenset({END}), frozenset({END}), "the end"),
)
# If many keywords fit, the keywords that most statements need are named first.
_COMMON = ["SELECT", "FROM", "WHERE", "GROUP", "ON", "AS", "AND", "OR", "JOIN"]
_SHOWN = 6
# Each of these looks at all tokens behind it.
_MOST_MISSING_ENDS = 100
_BEGIN_TESTS = ("TEST", "GIVEN", "THEN")
_OPEN = (Fault.UNTERMINATED_STRING, Fault.UNTERMINATED_NAME, Fault.UNTERMINATED_COMMENT)


def parse(source: Source) -> tuple[Statement, ...]:
    """The statements of a text. Raises CompileError with one finding for each part that is not a statement."""
    language = dialect()
    return tuple(_parse_all(language, source, _open_sets(_split_statements(language.lexer.tokens(source.text)))))


def parse_tests(source: Source) -> tuple[TestStatement, ...]:
    """The statements of a file of tests. Raises CompileError with one finding for each part that is not one."""
    language = dialect_of_tests()
    statements = [*_split_statements(language.lexer.tokens(source.text))]
    if any(tokens[0].word in _BEGIN_TESTS for tokens in statements):
        return tuple(_parse_all(language, source, statements))
    try:
        return tuple(_parse_all(language, source, statements[:1]))
    except CompileError as refusal:
        (finding, *_) = refusal.diagnostics
        is_slip = (finding.hint or "").startswith("did you mean")
        hint = finding.hint if is_slip else "this is a script; tests begin with TEST"
        raise CompileError([finding.with_hint(hint)]) from None


def _parse_all(language: Dialect, source: Source, statements: Iterable[list[Token]]) -> list[Any]:
    parsed: list[Any] = []
    findings: list[Diagnostic] = []
    for tokens in statements:
        rest = tokens
        for _ in range(_MOST_MISSING_ENDS):
            try:
                parsed.append(_parse_statement(language, source, rest))
                break
            except MissingEndError as error:
                findings.extend(error.diagnostics)
                rest = error.rest
            except CompileError as error:
                findings.extend(error.diagnostics)
                break
    if findings:
        raise CompileError(findings)
    return parsed


def _open_sets(statements: Iterable[list[Token]]) -> Iterator[list[Token]]:
    """The statements without the words of Flink's statement sets around them. A set that is never closed stays."""
    waiting: list[list[Token]] = []
    opening: list[Token] = []
    for tokens in statements:
        size = 0 if opening else count_set_words(tokens)
        if size:
            opening = tokens[:size]
            waiting = [tokens[size:]] if len(tokens) > size else []
        elif opening and [token.word for token in tokens] == ["END"]:
            yield from waiting
            opening, waiting = [], []
        elif opening:
            waiting.append(tokens)
        else:
            yield tokens
    if opening:
        yield opening
        yield from waiting


def count_set_words(tokens: Sequence[Token]) -> int:
    """How many words open a set of statements, 0 if a statement begins there."""
    words = [token.word for token in tokens[:4]]
    return next((len(head) for head in _SETS if words[: len(head)] == head), 0)


_SETS = (["EXECUTE", "STATEMENT", "SET", "BEGIN"], ["BEGIN", "STATEMENT", "SET"])


def count_words(source: Source) -> list[int]:
    """How many names, values, keywords and signs each statement of a text has. Quick; the text may be wrong."""
    return [len(tokens) for tokens in _split_statements(dialect().lexer.tokens(source.text))]


def split_script(source: Source, *, escapes: bool = False, first: int = 0, end: int | None = None) -> list[list[Token]]:
    """The tokens of each statement. The text may be in another dialect: what fits no token has a Fault as type.

    `escapes`: a backslash in quotes keeps the character behind it, as in Spark. `first` and `end` are the places of the
    characters between which the statements are. A quote that is never closed is a token up to that end.
    """
    language = dialect()
    lexer = Lexer(language.symbols, escapes=True) if escapes else language.lexer
    statements = list(_split_statements(lexer.tokens(source.text, first, end)))
    if statements and statements[-1][-1].type in _OPEN:
        statements[-1][-1] = statements[-1][-1]._replace(end=len(source.text) if end is None else end)
    return statements


def _split_statements(tokens: Iterator[Token]) -> Iterator[list[Token]]:
    """The tokens between semicolons; empty statements are left out."""
    statement: list[Token] = []
    for token in tokens:
        if token.type != SEMICOLON:
            statement.append(token)
        elif statement:
            yield statement
            statement = []
    if statement:
        yield statement


def _parse_statement(language: Dialect, source: Source, tokens: list[Token]) -> Statement | TestStatement:
    for token in tokens:
        if isinstance(token.type, Fault):
            alike = find_lookalikes(source, tokens)
            if alike:
                raise CompileError(alike)
            finding = _explain_fault(token.type, show_token(source, token), Span(source, token.start, token.end))
            whole = _choose_hint(propose_statement(tokens, partial(show_token, source)), language)
            is_sign = token.type is Fault.UNKNOWN_CHARACTER
            raise CompileError([finding.with_hint(whole) if is_sign and whole else finding])
    end = tokens[-1].end
    try:
        statement: Statement | TestStatement = language.parser.parse(
            [*tokens, Token(END, "", end, end)], partial(build, source)
        )
    except UnexpectedToken as error:
        raise CompileError([_report_unexpected(language, source, tokens, error)]) from None
    except NestedTooDeep as error:
        deep = limits.L001.at(Span(source, error.start, error.end), limit=MAX_DEPTH)
        raise CompileError([deep.with_hint("compute the inner part in a subquery's SELECT list or a view")]) from None
    check_depth(statement)
    return statement


def _explain_fault(fault: Fault, value: str, span: Span) -> Diagnostic:
    """What the lexer could not read."""
    match fault:
        case Fault.UNTERMINATED_STRING:
            finding = syntax.S003.at(span, "opened here")
            closed = explain_closing(finding)
            return closed or finding.with_hint("a quote inside a string is written twice: 'it''s'")
        case Fault.UNTERMINATED_NAME:
            return syntax.S005.at(span, "opened here", quote=value)
        case Fault.UNTERMINATED_COMMENT:
            return syntax.S004.at(span, "opened here")
        case Fault.EMPTY_NAME:
            return syntax.S022.at(span)
        case Fault.MALFORMED_NUMBER:
            finding = syntax.S007.at(span, number=_short(value))
            return finding.with_sql(_propose_number(value))
        case Fault.UNKNOWN_CHARACTER:
            hint = propose_sign(span.source.text, span.start)
            return syntax.S006.at(span, character=repr(value)).with_hint(hint)
        case _:
            assert_never(fault)


def _propose_number(value: str) -> str:
    """What to write for a number of another system."""
    if re.fullmatch(r"\d[\d_]*\d", value):
        return value.replace("_", "")
    if re.fullmatch(r"0([xX][0-9a-fA-F]{1,15}|[bB][01]{1,60}|[oO][0-7]{1,20})", value):
        return str(int(value, 0))
    return Prose(f"numbers are 12, 1.5 or 1e6; names that start with a digit are quoted: `{_short(value)}`")


def _report_unexpected(language: Dialect, source: Source, tokens: list[Token], error: UnexpectedToken) -> Diagnostic:
    token = error.token
    at_end = token.type == END
    place = tokens[-1] if at_end else token
    span = Span(source, place.start, place.end)
    diagnostic = (
        syntax.S002.at(span, "nothing follows this")
        if at_end
        else syntax.S001.at(span, found=_describe_found(source, token))
    )
    diagnostic = diagnostic.because(f"expected {_list_alternatives(language, error.expected)}")
    index = next((i for i, each in enumerate(tokens) if each.start == token.start), len(tokens))
    return _explain_stop(diagnostic, Stop(language, source, tokens, index, error.expected))


def _explain_stop(found: Diagnostic, stop: Stop) -> Diagnostic:
    """The finding with what is probably meant. Raises MissingEndError where it is the end of the statement."""
    show = partial(show_token, stop.source)
    clock = _propose_clock(stop) if stop.language is dialect_of_tests() else None
    if clock is not None:
        return found.with_hint(clock)
    unbuilt = find_unbuilt(stop.tokens, stop.index, show)
    if unbuilt is not None:
        construct, hint = unbuilt
        return building.B002.at(found.labels[0].span, "", construct=construct).with_hint(hint)
    for explain in _SLIPS:
        explained = explain(found, stop)
        if explained is not None:
            return _check_repeated(explained, stop)
    form = _choose_hint(propose_form(stop.tokens, stop.index, show), stop.language)
    if form is not None:
        return found.with_hint(form)
    place = find_missing_end(stop)
    if place is not None:
        raise explain_missing_end(found, stop, place)
    for explain in _GUESSES:
        explained = explain(found, stop)
        if explained is not None:
            return _check_repeated(explained, stop)
    # Prose: these words tell how a statement of another system is written here, with names of their own.
    return found.with_hint(propose_otherwise(stop.tokens, stop.index, show))


def _choose_hint(hint: str | None, language: Dialect) -> str | None:
    """The hint, none if it tells where tests stand and the text is one of tests."""
    return None if hint == TESTS and language is dialect_of_tests() else hint


def _propose_clock(stop: Stop) -> str | None:
    """What to write for a time such as 0:00 that has no quotes and begins at the word or before it."""
    types = [token.type if token.type == NUMBER else token.value for token in stop.tokens]
    for place in range(max(stop.index - 1, 0), stop.index + 1):
        if types[place : place + 3] == [NUMBER, ":", NUMBER]:
            end = place + (5 if types[place + 3 : place + 5] == [":", NUMBER] else 3)
            text = stop.source.text[stop.tokens[place].start : stop.tokens[end - 1].end]
            return f"a time stands in quotes: '{_short(text)}'"
    return None


def _check_repeated(found: Diagnostic, stop: Stop) -> Diagnostic:
    """The finding, whose hint is prose where the statement with its SQL stops at the same word once more."""
    if found.paste is None or not found.labels:
        return found
    at, begin, end = found.paste.span, stop.tokens[0].start, stop.tokens[-1].end
    text = f"{stop.source.text[begin : at.start]} {found.paste.sql} {stop.source.text[at.end : end]}"
    changed = [*stop.language.lexer.tokens(text)]
    place = find_stop(stop.language, Source(stop.source.name, text), changed)
    word = next((token for token in changed if token.start == place), changed[-1])
    is_same = place is not None and text[word.start : word.end] == found.labels[0].span.text
    return found.with_hint(found.hint) if is_same else found


def _describe_found(source: Source, token: Token) -> str:
    text = show_token(source, token)
    return f"string '{_short(text)}'" if token.type == STRING else _short(text)


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


def _explain_keyword(found: Diagnostic, stop: Stop) -> Diagnostic | None:
    """A keyword that might be meant by the word here, or by the one before, which was then taken for a name."""
    keywords = stop.expected & stop.language.keywords
    for place in reversed(range(max(stop.index - 1, 0), min(stop.index + 1, len(stop.tokens)))):
        token = stop.tokens[place]
        if token.word is None or token.word in stop.language.keywords:
            continue
        near = nearest(token.word, sorted(keywords))
        if near is not None and stop.goes_on(
            stop.with_tokens(place, place + 1, token._replace(type=near, value=near, word=near))
        ):
            wrong = _short(stop.show(token))
            at = stop.find_span(place, place + 1)
            return found.with_sql(near, at, before="did you mean ", after=f" instead of {wrong}?")
    return None


_SLIPS = (
    explain_lateral,
    explain_spare_comma,
    explain_watermark,
    explain_json_path,
    explain_length,
    explain_type_brackets,
    explain_quotes,
    explain_keyword,
)
_GUESSES = (explain_second_from, _explain_keyword, explain_missing_comma)


def _list_alternatives(language: Dialect, expected: frozenset[str]) -> str:
    """What may stand at a place, in a few words."""
    words: list[str] = []
    rest = set(expected)
    for group, members, word in _GROUPS:
        if group <= rest:
            words.append(word)
            rest -= members
    words.extend(f"`{sign}`" for sign, terminal in language.symbols.items() if terminal in rest)
    words.extend(sorted(rest & language.keywords, key=_rank))
    if len(words) > _SHOWN:
        return ", ".join(words[:_SHOWN]) + " and others"
    return ", ".join(words[:-1]) + " or " + words[-1] if len(words) > 1 else words[0]


def _rank(keyword: str) -> tuple[int, str]:
    return (_COMMON.index(keyword) if keyword in _COMMON else len(_COMMON), keyword)
