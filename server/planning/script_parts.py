"""A script cut into statements, each with who carries it out: the engine, or PostgreSQL as in a session of psql."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from penstock.diagnostics import CompileError, Source
from penstock.parser import ast, count_words, parse
from penstock.server.postgres.classify import Owner, find_owner
from penstock.server.postgres.tokens import Lexeme, Part
from penstock.server.postgres.tokens import split_statements as split_lexemes
from penstock.server.running.live_script import find_nodes

_SCRIPT = 10
"""Times as long as a statement. A longer script takes more time to be parsed than others should wait."""
_READS = ("select", "with", "values", "table", "show", "explain")
"""What a statement of PostgreSQL begins with that changes nothing."""


@dataclass(frozen=True, slots=True)
class Split:
    """The statements of a script. `max_words`: the most words of one of them."""

    text: str
    max_words: int


@dataclass(frozen=True, slots=True)
class ScriptPart:
    """A statement of a script. `start`: the offset of its first character. `settings`: each SET that is before it."""

    start: int
    text: str
    settings: str = ""
    is_read: bool = False
    """Whether PostgreSQL answers it: a SELECT over tables as they are now, or a SHOW or EXPLAIN of PostgreSQL's."""
    is_report: bool = False
    """Whether PostgreSQL carries it out, as it makes or drops a view of `reports`."""

    @property
    def is_foreign(self) -> bool:
        """Whether it does not go to the engine."""
        return self.is_read or self.is_report


def split_statements(sql: str, max_words: int) -> list[ScriptPart]:
    """The statements of a script. Each takes effect by itself, so each is sent with the settings of the script.

    A script that cannot be read, or has a statement that is too long, is one statement. The engine refuses it.
    """
    source = Source("<sql>", sql)
    counts = count_words(source)
    if max(counts, default=0) > max_words or sum(counts) > _SCRIPT * max_words:
        return [ScriptPart(0, sql)]
    try:
        has_reports = "reports" in sql.lower()  # the grammar of Penstock takes some of these statements
        return (has_reports and _split_by_tokens(sql)) or _list_parts(source) or [ScriptPart(0, sql)]
    except CompileError:
        return _split_by_tokens(sql) or [ScriptPart(0, sql)]


def _list_parts(source: Source) -> list[ScriptPart]:
    """The statements of a text that Penstock's grammar takes. Raises CompileError."""
    parts = []
    settings = ""
    for statement in parse(source):
        span = statement.span
        if isinstance(statement, ast.SetOption):
            settings += f"{span.text};\n"
        else:
            parts.append(ScriptPart(span.start, span.text, settings, is_read=_is_read(statement)))
    return parts


def _is_read(statement: ast.Statement) -> bool:
    """Whether it is a SELECT without STREAM."""
    is_query = isinstance(statement, ast.QueryStatement)
    return is_query and not any(each.stream for each in find_nodes(statement, ast.Select))


def _split_by_tokens(sql: str) -> list[ScriptPart]:
    """The statements of a text that may have some of PostgreSQL's; none if there are no such ones.

    PostgreSQL's functions and operators are more than the grammar of Penstock takes.
    """
    parts: list[ScriptPart] = []
    settings = ""
    for tokens in split_lexemes(sql) or []:
        start, end = tokens[0].start, tokens[-1].end
        try:
            is_report = _is_report(tokens)
            own = (
                [ScriptPart(0, sql[start:end], is_report=True)]
                if is_report
                else _list_parts(Source("<sql>", sql[start:end]))
            )
        except CompileError:
            own = [ScriptPart(0, sql[start:end], is_read=_is_foreign_read(tokens))]
        if not own:
            settings += f"{sql[start:end]};\n"
        parts += [replace(each, start=each.start + start, settings=settings) for each in own]
    return parts if any(each.is_foreign for each in parts) else []


def _is_foreign_read(tokens: Sequence[Lexeme]) -> bool:
    """Whether it is a statement of PostgreSQL that changes nothing. PostgreSQL itself makes sure that it does not."""
    first = next((each for each in tokens if not each.is_sign("(")), None)
    return first is not None and first.is_word(*_READS) and find_owner(tokens, ()) is Owner.POSTGRES


def _is_report(tokens: Sequence[Lexeme]) -> bool:
    """Whether it is a CREATE VIEW or DROP VIEW of PostgreSQL that names the schema `reports`."""
    words = [each.text if each.part is Part.WORD else "" for each in tokens[:5]]
    match words:
        case ["create", "or", "replace", "view", *_] | ["drop", "view", "if", "exists", *_]:
            at = 4
        case ["create" | "drop", "view", *_]:
            at = 2
        case _:
            return False
    name, sign = (*tokens[at : at + 2], None, None)[:2]
    named = name is not None and name.is_name and name.text == "reports"
    return named and sign is not None and sign.is_sign(".") and find_owner(tokens, ()) is Owner.POSTGRES
