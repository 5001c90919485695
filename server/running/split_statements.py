"""What the server asks of a text of statements, and what it calls each of them."""

from __future__ import annotations

from penstock.compilation import compile_sources
from penstock.diagnostics import CompileError, Source
from penstock.diagnostics.codes.server import V012, V017
from penstock.parser import ast, count_words


def check_size(source: Source, limit: int) -> None:
    """Raises CompileError for a text of more words and signs than the engine plans in reasonable time."""
    count = sum(count_words(source))
    if count > limit:
        raise CompileError([V017.at(None, count=f"{count:,}", limit=f"{limit:,}")])


def check_settings(source: Source) -> None:
    """Raises CompileError for a text of SET alone, which would change nothing, and for what is wrong with it."""
    settings = compile_sources([source]).statements
    if settings:
        found = V012.at(settings[0].span, "", statement="SET alone")
        raise CompileError([found.with_hint("send it in one text with the statement that it is for")])


def command_tag(statement: ast.Statement) -> str:
    """The words by which PostgreSQL would confirm the statement."""
    match statement:
        case ast.Create() | ast.CreateAs():
            return f"CREATE {statement.kind.value}"
        case ast.CreateView():
            return "CREATE VIEW"
        case _:
            return type(statement).__name__.upper()
