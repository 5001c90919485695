r"""Lines -> the texts that are run one by one: a line that begins with a backslash, or statements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.parser import is_whole

WORDS = {"exit": "\\q", "quit": "\\q", "help": "\\?"}
"""What people type without a backslash."""


def split_texts(lines: Iterable[str]) -> Iterator[str]:
    """The texts, each as soon as its last line has come. The last one may lack its semicolon.

    Empty lines stand for the lines before a text, so that its places are the ones in the whole.
    """
    text, before = "", 0
    for line in lines:
        may_end = not text or ";" in line  # a long text is not looked at again for each line
        text += line
        if may_end and _ends(text):
            if text.strip():
                yield "\n" * before + text
            before += text.count("\n")
            text = ""
    if text.strip():
        yield "\n" * before + text


def is_complete(text: str) -> bool:
    """Whether nothing has to follow what was typed."""
    texts = [*split_texts(text.splitlines(keepends=True))]
    return not texts or _ends(texts[-1])


def is_command(text: str) -> bool:
    """Whether it is no statement, but a command of the shell."""
    typed = text.strip()
    return typed.startswith("\\") or typed.rstrip("; \t").lower() in WORDS


def _ends(text: str) -> bool:
    return is_command(text) or is_whole(text)
