"""Text -> statements, or coded errors that say why it has none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import assert_never

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
)
from penstock.parser.ast import Statement
from penstock.parser.ast.intervals import UNITS
from penstock.parser.build import build
from penstock.parser.depth import check_depth
from penstock.parser.lateral import explain_lateral
from penstock.parser.other_systems import (
    find_unbuilt,
    propose_form,
    propose_otherwise,
    propose_sign,
    propose_statement,
)

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
_OPEN = (Fault.UNTERMINATED_STRING, Fault.UNTERMINATED_NAME, Fault.UNTERMINATED_COMMENT)


def parse(source: Source) -> tuple[Statement, ...]:
    """The statements of a text. Raises CompileError with one finding for each part that is not a statement."""
    language = dialect()
    parsed: list[Statement] = []
    findings: list[Diagnostic] = []
    for tokens in _open_sets(_split_statements(language.lexer.tokens(source.text))):
        try:
            parsed.append(_parse_statement(language, source, tokens))
        except CompileError as error:
            findings.extend(error.diagnostics)
    if findings:
        raise CompileError(findings)
    return tuple(parsed)


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


def _parse_statement(language: Dialect, source: Source, tokens: list[Token]) -> Statement:
    for token in tokens:
        if isinstance(token.type, Fault):
            finding = _explain_fault(token.type, _redact_token(source, token), Span(source, token.start, token.end))
            whole = propose_statement(tokens, partial(_redact_token, source))
            is_sign = token.type is Fault.UNKNOWN_CHARACTER
            raise CompileError([finding.with_hint(whole) if is_sign and whole else finding])
    end = tokens[-1].end
    try:
        statement: Statement = language.parser.parse([*tokens, Token(END, "", end, end)], partial(build, source))
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
            return finding.with_hint("a quote inside a string is written twice: 'it''s'")
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
    show = partial(_redact_token, source)
    unbuilt = find_unbuilt(tokens, index, show)
    if unbuilt is not None:
        construct, hint = unbuilt
        return building.B002.at(span, "", construct=construct).with_hint(hint)
    lateral = explain_lateral(diagnostic, source, tokens, index)
    if lateral is not None:
        return lateral
    form = propose_form(tokens, index, show)
    if form is None and (end := _find_missing_end(language, source, tokens, index)) is not None:
        return diagnostic.with_sql(";", end, after=" ends the statement before this one")
    keyword = None if form else _propose_keyword(language, source, tokens, error)
    if keyword is not None:
        meant, instead = keyword
        wrong = _short(_redact_token(source, instead))
        at = Span(source, instead.start, instead.end)
        return diagnostic.with_sql(meant, at, before="did you mean ", after=f" instead of {wrong}?")
    # Prose: these words tell how a statement of another system is written here, with names of their own.
    proposal = form or propose_otherwise(tokens, index, show)
    return diagnostic if proposal is None else diagnostic.with_hint(proposal)


_STARTS = {"CREATE", "INSERT", "SELECT", "SET", "UPDATE", "DELETE", "EXPLAIN", "DROP", "SHOW", "DESCRIBE"}


def _find_missing_end(language: Dialect, source: Source, tokens: list[Token], index: int) -> Span | None:
    """The place between two statements where a semicolon is missing. `index`: the token at which the grammar stops."""
    for place in range(min(index, len(tokens) - 1), max(index - 3, 0), -1):
        if tokens[place].word not in _STARTS:
            continue
        end = tokens[place - 1].end
        try:
            language.parser.parse([*tokens[:place], Token(END, "", end, end)], partial(build, source))
        except (UnexpectedToken, NestedTooDeep, CompileError):
            continue
        return Span(source, end, end)
    return None


def _describe_found(source: Source, token: Token) -> str:
    text = _redact_token(source, token)
    return f"string '{_short(text)}'" if token.type == STRING else _short(text)


def _redact_token(source: Source, token: Token) -> str:
    """The token's value as it may be shown."""
    text = source.shown[token.start : token.end]
    return token.value if text == source.text[token.start : token.end] else text


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


def _propose_keyword(
    language: Dialect, source: Source, tokens: list[Token], error: UnexpectedToken
) -> tuple[str, Token] | None:
    """A keyword that might be meant by the word here, or by the one before, which was then taken for a name."""
    keywords = error.expected & language.keywords
    index = next((i for i, token in enumerate(tokens) if token.start == error.token.start), len(tokens))
    for place in reversed(range(max(index - 1, 0), min(index + 1, len(tokens)))):
        token = tokens[place]
        if token.word is not None and token.word not in language.keywords:
            near = nearest(token.word, sorted(keywords))
            if near is not None:
                meant = token._replace(type=near, value=near, word=near)
                changed = [*tokens[:place], meant, *tokens[place + 1 :]]
                if _find_stop(language, source, changed) > error.token.start:
                    return near, token
    return None


def _find_stop(language: Dialect, source: Source, tokens: list[Token]) -> int:
    """The place at which the grammar stops, or that behind the end."""
    end = tokens[-1].end
    try:
        language.parser.parse([*tokens, Token(END, "", end, end)], partial(build, source))
    except UnexpectedToken as error:
        return error.token.start
    except (NestedTooDeep, CompileError):
        pass
    return end + 1


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
