r"""The commands that begin with a backslash: what they are called, and what they do."""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from penstock.commands.script_files import read_source
from penstock.commands.show_findings import show_findings
from penstock.compilation import compile_sources
from penstock.diagnostics import CompileError, Source, nearest
from penstock.diagnostics.codes.kinds import K012
from penstock.diagnostics.codes.running import R098
from penstock.diagnostics.terminal import align_texts, show_text
from penstock.parser import name_text
from penstock.planner.catalog import Declared
from penstock.shell.split_texts import WORDS, is_command, split_texts
from penstock.shell.workspace import Workspace, describe_queries

WATCH_SECONDS = 2.0


class LeaveShell(Exception):
    r"""`\q` was typed."""


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """What is typed behind the backslash, and what `run` does with the words behind it."""

    usage: str
    about: str
    run: Callable[[Workspace, list[str]], None]


def run_text(workspace: Workspace, source: Source) -> None:
    """Runs a text: a line that begins with a backslash, or statements. Raises as both do."""
    if is_command(source.text):
        run_command(workspace, source.text)
    else:
        workspace.run(source)


def run_file(workspace: Workspace, source: Source) -> None:
    """Runs the texts of a file in their order. Raises as `run_text` does."""
    for text in split_texts(source.text.splitlines(keepends=True)):
        run_text(workspace, Source(source.name, text))


def run_command(workspace: Workspace, line: str) -> None:
    r"""Runs a line that begins with a backslash.

    Raises:
        CompileError: there is no such command, it is used in another way, or a text that it runs is refused.
        RunError: what it runs fails.
        LeaveShell: the shell ends.
    """
    text = line.strip().rstrip("; \t")
    try:
        name, *words = shlex.split(WORDS.get(text.lower(), text).removeprefix("\\")) or [""]
    except ValueError:
        raise _misused(f"{text.split()[0]} with quotes that are closed") from None
    command = COMMANDS.get(name)
    if command is None:
        raise CompileError([R098.at(None, command=f"\\{name}").with_hint(r"\? lists the commands")])
    command.run(workspace, words)


def list_relations(workspace: Workspace, words: list[str]) -> None:
    """Prints all relations, or the columns of one."""
    catalog = workspace.catalog
    if words:
        name = " ".join(words).strip('"`')
        entry = catalog.find(name)
        if entry is None:
            raise CompileError([K012.at(None, name=name).with_guess(nearest(name, catalog.names()))])
        workspace.run(Source("<shell>", f"DESCRIBE {name_text(entry.name)};"))
        return
    rows = [
        (each.name, each.kind.lower(), each.origin.connector if isinstance(each, Declared) else "computed")
        for each in catalog.entries.values()
    ]
    if not rows:
        print("nothing is declared; CREATE STREAM or CREATE TABLE does that, and penstock describe writes it")
        return
    for line in align_texts([[*map(show_text, row)] for row in (("name", "kind", "where its rows are"), *rows)]):
        print(f"  {line}")


def include_file(workspace: Workspace, words: list[str]) -> None:
    """Runs the statements of a file."""
    run_file(workspace, read_source(str(Path(_one(words, r"\i FILE")).expanduser())))


def check_file(workspace: Workspace, words: list[str]) -> None:
    """Checks the statements of a file, and starts nothing."""
    source = read_source(str(Path(_one(words, r"\check FILE")).expanduser()))
    compilation = compile_sources([source], workspace.catalog)
    show_findings(compilation.diagnostics)
    count = len(compilation.statements)
    print(f"ok: {count} statement{'s' * (count != 1)}")


def watch(workspace: Workspace, words: list[str]) -> None:
    """Answers the last SELECT again and again."""
    if workspace.last_read is None:
        raise CompileError([R098.at(None, command=r"\watch").with_hint(r"type a SELECT first, then \watch")])
    try:
        seconds = float(words[0]) if words else WATCH_SECONDS
        times = int(words[1]) if len(words) > 1 else 0
        if not (math.isfinite(seconds) and seconds > 0 and times >= 0):
            raise ValueError(seconds, times)
    except ValueError:
        raise _misused(r"\watch [SECONDS [TIMES]]") from None
    count = 0
    try:
        while True:
            workspace.run(workspace.last_read)
            count += 1
            if count == times:
                return
            time.sleep(seconds)
    except KeyboardInterrupt:
        return


def list_queries(workspace: Workspace, words: list[str]) -> None:
    """Prints how the queries are doing."""
    for text in describe_queries(workspace.queries):
        print(text)
    if not workspace.queries:
        print("no query runs")


def stop_query(workspace: Workspace, words: list[str]) -> None:
    """Stops a query."""
    name = _one(words, r"\stop NAME")
    running = {each.name.lower(): each for each in workspace.queries}
    if name.lower() not in running:
        guess = nearest(name, [each.name for each in workspace.queries])
        found = R098.at(None, command=f"\\stop {name}")
        raise CompileError([found.with_guess(guess) if guess else found.with_hint(r"\queries lists them")])
    query = running[name.lower()]
    query.stop()
    print(f"stopped {query.name}")


def choose_once(workspace: Workspace, words: list[str]) -> None:
    """Says whether queries end with the input that is there."""
    if words and words[0] not in ("on", "off"):
        raise _misused(r"\once [on|off]")
    workspace.to_end = words[0] == "on" if words else not workspace.to_end
    print("queries run over the input that is there, and end" if workspace.to_end else "queries keep running")


def show_help(workspace: Workspace, words: list[str]) -> None:
    """Prints what can be typed."""
    rows = [[f"\\{each.usage}", each.about] for each in COMMANDS.values()]
    for line in align_texts([*STATEMENTS, *rows]):
        print(f"  {line}")


def leave(workspace: Workspace, words: list[str]) -> None:
    """Ends the shell."""
    raise LeaveShell


def _one(words: list[str], usage: str) -> str:
    if not words:
        raise _misused(usage)
    return " ".join(words)


def _misused(usage: str) -> CompileError:
    return CompileError([R098.at(None, command=usage.split()[0]).with_hint(f"type {usage}")])


STATEMENTS = (
    ["CREATE STREAM … WITH (…);", "declares a place with rows; penstock describe writes it"],
    ["SELECT STREAM * FROM name LIMIT 20;", "the first rows of a stream as they are typed"],
    ["CREATE TABLE … AS SELECT …;", "starts a query"],
    ["SELECT * FROM name;", "the rows of a table as they are now"],
    ["EXPLAIN STATE SELECT …;", "what a query would keep"],
)
COMMANDS = {
    "d": ShellCommand("d [NAME]", "the relations, or the columns of one", list_relations),
    "i": ShellCommand("i FILE", "run the statements of a file", include_file),
    "check": ShellCommand("check FILE", "check the statements of a file", check_file),
    "watch": ShellCommand("watch [SECONDS [TIMES]]", "answer the last SELECT again and again, until Ctrl-C", watch),
    "queries": ShellCommand("queries", "the queries that run, and their counts", list_queries),
    "stop": ShellCommand("stop NAME", "stop a query", stop_query),
    "once": ShellCommand("once [on|off]", "whether queries end with the input that is there", choose_once),
    "?": ShellCommand("?", "this list", show_help),
    "q": ShellCommand("q", "end the shell, and its queries; as Ctrl-D", leave),
}
