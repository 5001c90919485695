"""Statements of files that are not in force yet, where files may only add to what is in force."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.diagnostics import CompileError, Diagnostic, Source
from penstock.diagnostics.codes.kinds import K011
from penstock.parser import ast, list_statements
from penstock.server.running.file_changes import (
    check_file_statement,
    compare_files,
    find_doors,
    is_same,
    list_running,
    read_script,
)
from penstock.server.running.live_script import MAKING, LiveDefinition, LiveScript
from penstock.server.running.settings import EngineSettings
from penstock.server.running.store import Store


def check_files(settings: EngineSettings, store: Store) -> None:
    """Raises CompileError if a file of a server is refused, before Spark is started."""
    script = read_script(settings, store)
    if settings.apply:
        compare_files(settings, store, script, list_running(store))
        return
    in_force = {each.relation.lower() for each in script.definitions.values() if each.relation is not None}
    for name, text in settings.files:
        for statement, part in list_new(settings, store, script, Source(name, text)):
            check_file_statement(statement)
            number = max(script.definitions, default=0) + 1
            try:
                planned = script.plan(statement, Source(name, part), number, settings.author, frozenset())
            except CompileError as error:
                if not isinstance(statement, MAKING) or statement.name.folded not in in_force:
                    raise
                raise CompileError([_hint_apply(each) for each in error.diagnostics]) from None
            if planned.replaced is not None:
                script.remove(planned.replaced)
            script.add(planned)


def list_new(
    settings: EngineSettings, store: Store, script: LiveScript, file: Source
) -> list[tuple[ast.Statement, str]]:
    """The statements of a file that are not in force, and whose relation no user has replaced since."""
    known = {each.text for each in script.definitions.values()}
    building = [each.text for each in store.list_building()]
    doors = find_doors(script, store)
    listed = []
    for statement, text in list_statements(file):
        if text.strip() in known or any(is_same(each, text) for each in building):
            continue
        old = script.find_relation(statement.name.text) if isinstance(statement, MAKING) else None
        if old is not None:
            if is_same(old.text, text):
                continue
            by_file = doors(old) == "file" and not _is_in(old, (each for _, each in settings.files))
            if store.has_run(text) and not by_file:
                continue
        listed.append((statement, text))
    return listed


def _is_in(definition: LiveDefinition, files: Iterable[str]) -> bool:
    """Whether a file has the statement of a definition, maybe behind another one that makes the same relation."""
    return any(definition.text.split(";")[-1].strip() in each for each in files)


def _hint_apply(finding: Diagnostic) -> Diagnostic:
    """The finding with the option that lets a changed file take effect."""
    return (
        finding.with_hint("penstock serve --apply builds it beside the old one") if finding.code == K011.id else finding
    )
