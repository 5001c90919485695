"""What Spark, a JVM or Python say of an error -> one line for people, without stack frames and names of packages."""

from __future__ import annotations

import re

_LINE = 300  # characters of a message that are worth reading
_FRAME = re.compile(
    r'\s*(at [^\s(]+\(.*\)|\.\.\. \d+ .*|File ".*", line \d+.*|[\^~\s]+|Driver stacktrace:.*|Traceback .*)'
)
_PYTHON_ERROR = re.compile(r"(?:\w+\.)*(\w*(?:Error|Exception|Interrupt|Exit)(?:: .*)?)")
_PACKAGE = re.compile(r"\b(?:[a-z]\w*\.)+(?=[A-Z]\w*(?:Exception|Error)\b)")
_CALL = re.compile(r"An error occurred while calling .*|Exception in thread \S+ ")
_TASK = re.compile(r".*most recent failure: (?:Lost task .*? executor [\w-]+\): )?")


def plain_line(message: str) -> str:
    """The line of a message that tells what happened, empty if none does."""
    lines = message.splitlines()
    if any(line.startswith("Traceback ") for line in lines):
        told = [found[1] for found in map(_PYTHON_ERROR.fullmatch, lines) if found]
        lines = told[-1:]
    for line in lines:
        if not _FRAME.fullmatch(line):
            line = _TASK.sub("", _CALL.sub("", line).strip().removeprefix("Caused by: ").removeprefix(": "))
            line = _PACKAGE.sub("", line).partition(" SQLSTATE")[0].strip()
            if line:
                return line if len(line) <= _LINE else line[:_LINE] + "…"
    return ""


def line_of_noise(noise: str) -> str:
    """The line in which a process that did not come up speaks of an error, else its last one."""
    lines = [plain_line(line) for line in noise.splitlines()]
    told = [line for line in lines if line and not line.startswith("Picked up ")]
    return next((line for line in told if re.search(r"rror|Exception", line)), told[-1] if told else "")
