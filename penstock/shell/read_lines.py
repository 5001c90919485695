"""A terminal, or a file -> the texts that a workspace runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.output import Output
from prompt_toolkit.patch_stdout import patch_stdout
from pygments.lexers.sql import SqlLexer

from penstock.diagnostics.terminal import output_guarded
from penstock.parser import is_complete
from penstock.shell.name_completion import NameCompleter
from penstock.shell.workspace import Workspace

PROMPT, CONTINUED = "penstock> ", "     ...> "
HISTORY_MODE = 0o600


def read_terminal(
    workspace: Workspace,
    run: Callable[[str], None],
    history: Path,
    given: Input | None = None,
    shown: Output | None = None,
) -> None:
    """Calls `run` with each text that is typed, until Ctrl-D. `given` and `shown` stand for the terminal in tests."""
    session = make_prompt(workspace, history, given, shown)
    while True:
        try:
            # What running queries print goes above the prompt.
            with patch_stdout(), output_guarded():
                text = session.prompt(PROMPT)
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if text.strip():
            run(text)


def make_prompt(workspace: Workspace, history: Path, given: Input | None, shown: Output | None) -> PromptSession[str]:
    """A prompt of several lines. Enter takes what is complete; otherwise it begins a line."""
    history.parent.mkdir(parents=True, exist_ok=True)
    history.touch(HISTORY_MODE)
    keys = KeyBindings()
    session: PromptSession[str] = PromptSession(
        history=FileHistory(str(history)),
        multiline=True,
        key_bindings=keys,
        completer=NameCompleter(workspace),
        complete_while_typing=False,
        lexer=PygmentsLexer(SqlLexer),
        prompt_continuation=CONTINUED,
        input=given,
        output=shown,
    )

    @keys.add("enter", filter=Condition(lambda: is_complete(session.default_buffer.text)))
    def _accept(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    return session


def read_stream(lines: Iterable[str], run: Callable[[str], None]) -> None:
    """Calls `run` with each text of a file or a pipe: a line with a backslash, or lines up to a semicolon."""
    text = ""
    for line in lines:
        text += line
        if is_complete(text):
            if text.strip():
                run(text)
            text = ""
    if text.strip():
        run(text)


def is_typed() -> bool:
    """Whether somebody types."""
    return sys.stdin.isatty() and sys.stdout.isatty()
