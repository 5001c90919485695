"""What Tab completes: words of the language, names of relations and columns, commands with a backslash."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from penstock.parser import list_keywords, name_text
from penstock.planner import list_columns
from penstock.planner.catalog import Broken
from penstock.shell.shell_commands import COMMANDS
from penstock.shell.workspace import Workspace

_WORD = re.compile(r"\\?[\w?]*$")


class NameCompleter(Completer):
    """Completes the word before the cursor."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._keywords = list_keywords()

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """The words that begin as the one before the cursor: names first, as they are fewer."""
        found = _WORD.search(document.text_before_cursor)
        typed = found[0] if found else ""
        if typed.startswith("\\"):
            if document.text_before_cursor.strip() == typed:
                yield from _complete(typed, ((f"\\{name}", each.about) for name, each in COMMANDS.items()))
            return
        if not typed and not document.text_before_cursor.rstrip().endswith((",", "FROM", "JOIN")):
            return
        yield from _complete(typed, self._list_names())
        if typed:
            yield from _complete(typed, ((each, "") for each in self._keywords))

    def _list_names(self) -> Iterator[tuple[str, str]]:
        """Names as SQL has them, each with what it is."""
        columns: dict[str, str] = {}
        for entry in self._workspace.catalog.entries.values():
            yield name_text(entry.name), entry.kind.lower()
            if not isinstance(entry, Broken):
                for column in list_columns(entry):
                    columns.setdefault(name_text(column.name), f"column of {entry.name}")
        yield from columns.items()


def _complete(typed: str, words: Iterable[tuple[str, str]]) -> Iterator[Completion]:
    for word, about in words:
        if word.lower().startswith(typed.lower()) and word.lower() != typed.lower():
            yield Completion(word, -len(typed), display_meta=about)
