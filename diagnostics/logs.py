"""Logs of the processes of a server: no text of data or of users forges a line or steers a terminal."""

from __future__ import annotations

import logging
from types import TracebackType

from penstock.diagnostics.terminal import show_text


class LogFormatter(logging.Formatter):
    """Lines of a log: one for each message, and the lines of a traceback behind it, indented.

    So no text forges a line.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The line with the message."""
        record.message = show_text(record.message)
        return super().formatMessage(record)

    def formatException(
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None],
    ) -> str:
        """The lines of a traceback."""
        return "\n".join(f"  {show_text(line)}" for line in super().formatException(ei).split("\n"))


def log_to_stderr(level: int, form: str) -> None:
    """Sends the log of this process to standard error. `form`: as `logging.Formatter` takes it."""
    handler = logging.StreamHandler()
    handler.setFormatter(LogFormatter(form))
    logging.basicConfig(level=level, handlers=[handler])
