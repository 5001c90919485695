"""A terminal -> the texts that are typed, and the file that keeps them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import create_app_session
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.output import Output, create_output
from prompt_toolkit.patch_stdout import patch_stdout
from pygments.lexers.sql import SqlLexer

from penstock.commands.script_files import explain_problem
from penstock.diagnostics import Source, hide_credentials, redact_value
from penstock.diagnostics.terminal import output_guarded, styled
from penstock.parser import split_script
from penstock.shell.name_completion import NameCompleter
from penstock.shell.split_texts import is_complete, split_texts
from penstock.shell.workspace import Workspace

STRING = "STRING"
PROMPT, CONTINUED = "penstock> ", "     ...> "
HISTORY_MODE = 0o600


def read_terminal(
    workspace: Workspace,
    run: Callable[[str], None],
    history: History,
    given: Input | None = None,
    shown: Output | None = None,
) -> None:
    """Calls `run` with each text that is typed, until Ctrl-D. `given` and `shown` stand for the terminal in tests."""
    # What the prompt draws are controls of its own, so it has the stream behind the guard.
    with create_app_session(given, shown or create_output(styled(sys.stdout))):
        session = make_prompt(workspace, history)
        while True:
            try:
                # What running queries print goes above the prompt.
                with patch_stdout(), output_guarded():
                    text = session.prompt(PROMPT)
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            for each in split_texts(text.splitlines(keepends=True)):
                run(each)


def make_prompt(workspace: Workspace, history: History) -> PromptSession[str]:
    """A prompt of several lines. Enter takes what is complete; otherwise it begins a line."""
    keys = KeyBindings()
    session: PromptSession[str] = PromptSession(
        history=history,
        multiline=True,
        key_bindings=keys,
        completer=NameCompleter(workspace),
        complete_while_typing=False,
        lexer=PygmentsLexer(SqlLexer),
        prompt_continuation=CONTINUED,
    )

    @keys.add("enter", filter=Condition(lambda: is_complete(session.default_buffer.text)))
    def _accept(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    return session


class DiscreetHistory(FileHistory):
    """What was typed, in a file that only its user reads. Texts with a secret are not kept."""

    def store_string(self, string: str) -> None:
        """Keeps a text."""
        if not holds_secret(string):
            super().store_string(string)


def open_history(file: Path) -> History:
    """The history in a file; one that is forgotten, with a warning, where the file cannot be written."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(HISTORY_MODE)
        file.chmod(HISTORY_MODE)
    except OSError as problem:
        print(f"what is typed is not kept: {file}: {explain_problem(problem)}", file=sys.stderr)
        return InMemoryHistory()
    return DiscreetHistory(str(file))


def holds_secret(text: str) -> bool:
    """Whether a text has credentials, or an option that errors would not show."""
    if hide_credentials(text) != text:
        return True
    for tokens in split_script(Source("<shell>", text)):
        for name, _, value in zip(tokens, tokens[1:], tokens[2:], strict=False):
            if value.type == STRING and redact_value(name.value, value.value) != value.value:
                return True
    return False


def is_typed() -> bool:
    """Whether somebody types."""
    return sys.stdin.isatty() and sys.stdout.isatty()
