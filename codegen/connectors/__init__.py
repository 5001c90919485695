"""How an ejected program reads and writes each kind of place: Python text, included where a program needs it."""

from penstock.codegen.connectors.files import READ_FILES, WRITE_FILES
from penstock.codegen.connectors.local import KEEP, READ_RATE, SHOW

SOURCES = {"files": READ_FILES, "rate": READ_RATE}
"""By connector: the text of the function that returns a source's rows, named `read_<connector>`."""

SINKS = {"files": WRITE_FILES, "console": SHOW, "memory": KEEP}
"""By connector: the text of the function that returns a writer of a query's rows, named `write_<connector>`."""

__all__ = ["SINKS", "SOURCES"]
