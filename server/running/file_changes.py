"""What files say, compared with what is in force: new, changed, gone. Nothing is touched, and no Spark is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from penstock.diagnostics import CompileError, Source, show_text
from penstock.diagnostics.codes.server import V012, V019
from penstock.parser import ast, list_statements, parse
from penstock.partition_check import compare_places
from penstock.server.planning.statement_planner import PlannedStatement
from penstock.server.running.building_tables import check_buildable, write_drop
from penstock.server.running.live_script import (
    MAKING,
    LiveDefinition,
    LiveScript,
    check_submitted,
    names_in,
    names_written,
)
from penstock.server.running.public_tables import check_free, check_names
from penstock.server.running.replacements import Wanted, plan_together
from penstock.server.running.settings import EngineSettings
from penstock.server.running.statement_queue import PLACES
from penstock.server.running.store import Store


@dataclass(frozen=True, slots=True)
class FileStatement:
    """A statement of a file. `text` has its place in the file.

    author, door: who has sent what a running change builds, and where. Empty for a statement of a file.
    """

    statement: ast.Statement
    text: str
    file: str
    author: str = ""
    door: str = ""

    @property
    def relation(self) -> str | None:
        """The relation that it makes, as written."""
        return self.statement.name.text if isinstance(self.statement, MAKING) else None

    @property
    def kind(self) -> str:
        """STREAM, TABLE or VIEW, or the first word of a statement that makes no relation."""
        match self.statement:
            case ast.Create() | ast.CreateAs():
                return self.statement.kind.value
            case ast.CreateView():
                return "VIEW"
            case _:
                return type(self.statement).__name__.upper()


@dataclass(frozen=True, slots=True)
class ChangeStep:
    """A definition of a change: what it is called, its statement, and the definition whose place it takes."""

    relation: str
    text: str
    author: str
    file: str
    reads: frozenset[str]
    replaces: LiveDefinition | None
    door: str = ""
    """The door of a statement that a running change has built so far."""


@dataclass(frozen=True, slots=True)
class RunningChange:
    """What is built beside what is in force, by the number of its first statement."""

    number: int
    statements: tuple[FileStatement, ...]

    @property
    def texts(self) -> dict[str, str]:
        """Its statements, by the relations that they make, in lower case."""
        return {(each.relation or "").lower(): each.text for each in self.statements}

    def is_touched(self, difference: FileDifference) -> bool:
        """Whether a difference makes what it makes or reads, or reads what it makes."""
        names, reads = set(self.texts), {name for each in self.statements for name in names_in(each.statement)}
        made = {each.relation for each in difference.steps} | {each.relation or "" for each in difference.new}
        read = {name for step in difference.steps for name in step.reads}
        read |= {name for new in difference.new for name in names_in(new.statement)}
        return not (names | reads).isdisjoint(each.lower() for each in made) or not names.isdisjoint(read)


@dataclass(frozen=True, slots=True)
class FileDifference:
    """How files differ from what is in force.

    new: statements that need nothing of the change. steps: the change, in the order of its dependencies; what reads a
    changed relation belongs to it. rebuilt: the numbers of definitions in it whose statement is as before. gone:
    definitions that files have made, and that no file has any more. unchanged: how many statements stay in force.
    joined: the numbers of running changes that begin anew as a part of this one.
    """

    new: tuple[FileStatement, ...]
    steps: tuple[ChangeStep, ...]
    rebuilt: frozenset[int]
    gone: tuple[LiveDefinition, ...]
    unchanged: int
    joined: tuple[int, ...] = ()


def is_same(one: str, other: str) -> bool:
    """Whether two texts say the same. Layout, comments and OR REPLACE do not count."""
    return one.strip() == other.strip() or _canonical(one) == _canonical(other)


def _canonical(text: str) -> list[Any]:
    return [
        msgspec.structs.replace(each, or_replace=False) if isinstance(each, MAKING) else each
        for each in parse(Source("statement", text))
    ]


def list_file_statements(files: Iterable[tuple[str, str]]) -> list[FileStatement]:
    """The statements of files. Where several make one relation, the last one counts.

    Raises CompileError for a statement that a file of a server cannot have.
    """
    listed = []
    for name, text in files:
        for statement, part in list_statements(Source(name, text)):
            check_file_statement(statement)
            listed.append(FileStatement(statement, part, name))
    last = {each.relation.lower(): each for each in listed if each.relation is not None}
    return [each for each in listed if each.relation is None or last[each.relation.lower()] is each]


def check_file_statement(statement: ast.Statement) -> None:
    """Raises CompileError for a statement that a file of a server cannot have."""
    if isinstance(statement, ast.Show | ast.Describe | ast.Explain | ast.Drop | ast.Pause | ast.Resume):
        raise CompileError([V012.at(statement.span, "", statement=type(statement).__name__.upper())])
    check_submitted(statement)


def find_difference(
    script: LiveScript,
    statements: Sequence[FileStatement],
    from_files: Callable[[LiveDefinition], bool],
    running: Sequence[RunningChange],
    author: str,
) -> FileDifference:
    """How files differ from what is in force. `running`: what is built already.

    A running change that the difference touches becomes a part of it, where the files do not say otherwise. So all
    takes effect together, and each statement over the ones that it reads.

    Raises:
        CompileError: a new statement would write what one writes that is gone.
    """
    joined: list[RunningChange] = []
    while True:
        left = [each for each in running if each not in joined]
        building = {name: text for each in left for name, text in each.texts.items()}
        own = {(each.relation or "").lower() for each in statements}
        more = [it for each in joined for it in each.statements if (it.relation or "").lower() not in own]
        found = _find_difference(script, statements, more, from_files, building, author)
        touched = [each for each in left if each.is_touched(found)]
        if not touched:
            return replace(found, joined=tuple(each.number for each in joined))
        joined += touched


def _find_difference(
    script: LiveScript,
    of_files: Sequence[FileStatement],
    more: Sequence[FileStatement],
    from_files: Callable[[LiveDefinition], bool],
    building: Mapping[str, str],
    author: str,
) -> FileDifference:
    """As find_difference. `more`: statements of changes that are joined, `building`: texts of the others."""
    statements = [*of_files, *more]
    new, changed, unchanged = [], [], 0
    texts = {each.text for each in script.definitions.values()}
    for each in statements:
        old = None if each.relation is None else script.find_relation(each.relation)
        built = building.get((each.relation or "").lower())
        if each.relation is None:
            is_known = each.text.strip() in texts
        else:
            keeps = isinstance(each.statement, MAKING) and each.statement.if_not_exists and old is not None
            before = built if built is not None or old is None else old.text
            is_known = keeps or (before is not None and is_same(before, each.text))
        if is_known:
            unchanged += 1
        elif old is None:
            new.append(each)
        else:
            changed.append((each, old))
    gone = list(_find_gone(script, statements, from_files))
    _check_written(new, gone)
    steps = [_step(each, author, old) for each, old in changed]
    touched = {each.relation.lower() for each in steps}
    replaced = {old.number for _, old in changed}
    rebuilt: set[int] = set()
    while True:
        readers = [
            each
            for number, each in sorted(script.definitions.items())
            if number not in replaced | rebuilt and each.reads & touched
        ]
        following = [each for each in new if names_in(each.statement) & touched]
        if not readers and not following:
            break
        for reader in readers:
            rebuilt.add(reader.number)
            name = reader.relation or reader.name or "statement"
            steps.append(ChangeStep(name, reader.text, reader.author, f"statement of {name}", reader.reads, reader))
        new = [each for each in new if each not in following]
        steps += [_step(each, author, None) for each in following]
        touched |= {each.relation.lower() for each in steps}
    listed = {each.relation.lower() for each in statements if each.relation is not None}
    unchanged -= sum((script.definitions[number].relation or "").lower() in listed for number in rebuilt)
    return FileDifference(tuple(new), tuple(_sort(steps)), frozenset(rebuilt), tuple(gone), unchanged)


def _step(each: FileStatement, author: str, old: LiveDefinition | None) -> ChangeStep:
    name = each.relation or each.kind
    reads = names_in(each.statement)
    return ChangeStep(name, each.text, each.author or author, each.file, reads, old, each.door)


def _find_gone(
    script: LiveScript, statements: Sequence[FileStatement], from_files: Callable[[LiveDefinition], bool]
) -> Iterator[LiveDefinition]:
    made = {each.relation.lower() for each in statements if each.relation is not None}
    texts = {each.text.strip() for each in statements}
    for definition in script.definitions.values():
        stays = definition.text in texts if definition.relation is None else definition.relation.lower() in made
        if not stays and from_files(definition):
            yield definition


def _check_written(new: Iterable[FileStatement], gone: Iterable[LiveDefinition]) -> None:
    """Raises CompileError if rows would be written by a new statement and by the one that it was before."""
    for each in new:
        for old in gone:
            if old.relation is None and old.writes & names_written(each.statement):
                reason = f"{old.name} of the old statement writes the same rows, and goes on"
                found = V019.at(each.statement.span, "", name=each.kind, reason=reason)
                raise CompileError([found.with_hint(f"{write_drop(old)}, and start the server again")])


def _sort(steps: Iterable[ChangeStep]) -> Iterator[ChangeStep]:
    """The steps, each behind what it reads."""
    left = list(steps)
    while left:
        names = {each.relation.lower() for each in left}
        ready = next((each for each in left if not each.reads & (names - {each.relation.lower()})), left[0])
        left.remove(ready)
        yield ready


def plan_steps(script: LiveScript, steps: Sequence[ChangeStep], numbers: Iterable[int]) -> list[PlannedStatement]:
    """The plans of a change.

    Raises:
        CompileError: a statement is refused over what is changed.
    """
    wanted = [
        Wanted(number, each.text, each.author, each.replaces, each.file)
        for each, number in zip(steps, numbers, strict=False)
    ]
    return plan_together(script, wanted)


def check_steps(
    script: LiveScript, store: Store, steps: Sequence[ChangeStep], made: Sequence[PlannedStatement]
) -> None:
    """Raises CompileError for a change that cannot be built beside what is in force."""
    for step, each in zip(steps, made, strict=True):
        definition = each.planned.definition
        compare_places(each.planned.compilation, each.planned.over)
        check_names(definition, script.definitions.values())
        check_free(store.db, definition, step.replaces)
        check_buildable(store.db, definition, step.replaces)


def list_differences(difference: FileDifference) -> list[str]:
    """The table that is shown before anything is touched."""
    rows = []
    for step in difference.steps:
        if step.replaces is None:
            rows.append(("new", step.relation, "follows what is changed"))
        elif step.replaces.number in difference.rebuilt:
            rows.append(("rebuilt", step.relation, "reads what is changed"))
        else:
            rows.append(("changed", step.relation, "the old one stays until the new one is built"))
    rows += [("new", each.relation or each.kind, "") for each in difference.new]
    rows += [
        ("gone", each.relation or each.name or "", f"stays; {write_drop(each)} takes it away")
        for each in difference.gone
    ]
    rows.append(("unchanged", str(difference.unchanged), ""))
    width = max(len(name) for _, name, _ in rows)
    return [show_text(f"  {kind:<11}{name:<{width}}  {told}".rstrip()) for kind, name, told in rows]


def read_script(settings: EngineSettings, store: Store) -> LiveScript:
    """What is in force, as the catalog has it."""
    script = LiveScript(settings.home)
    for kept in store.kept():
        script.add(script.plan_again(kept.number, kept.text, kept.author, kept.taken))
    return script


def find_doors(script: LiveScript, store: Store) -> Callable[[LiveDefinition], str]:
    """The door through which a definition has come; `file` for files that a server was started with."""
    doors = store.find_doors(number // PLACES for number in script.definitions)
    return lambda definition: doors.get(definition.number // PLACES, "")


def compare_files(
    settings: EngineSettings, store: Store, script: LiveScript, running: Sequence[RunningChange]
) -> FileDifference:
    """How the files of a server differ from what is in force, checked as a whole.

    Raises:
        CompileError: a statement is refused, or the change cannot be made.
    """
    statements = list_file_statements(settings.files)
    doors = find_doors(script, store)
    difference = find_difference(script, statements, lambda it: doors(it) == "file", running, settings.author)
    after = script.copy()
    for each in difference.new:
        number = max(after.definitions, default=0) + 1
        after.add(after.plan(each.statement, Source(each.file, each.text), number, settings.author, frozenset()))
    first = max(after.definitions, default=0) + 1
    made = plan_steps(after, difference.steps, range(first, first + len(difference.steps)))
    check_steps(after, store, difference.steps, made)
    return difference


def show_differences(settings: EngineSettings) -> list[str]:
    """What `penstock serve --apply` will do, as lines.

    Raises:
        CompileError: a file is refused.
        psycopg.Error: the catalog cannot be read.
    """
    with settings.connect() as db:
        store = Store(db)
        script = read_script(settings, store)
        return list_differences(compare_files(settings, store, script, list_running(store)))


def list_running(store: Store) -> list[RunningChange]:
    """What is built beside what is in force."""
    rows = store.list_building()
    doors = store.find_doors(each.number // PLACES for each in rows)
    changes: dict[int, list[FileStatement]] = {}
    for each in rows:
        [(statement, text)] = list_statements(Source("kept", each.text))
        door = doors.get(each.number // PLACES, "http")
        built = FileStatement(statement, text, f"statement {each.number}", each.author, door)
        changes.setdefault(each.change, []).append(built)
    return [RunningChange(number, tuple(statements)) for number, statements in changes.items()]
