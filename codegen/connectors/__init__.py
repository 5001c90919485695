"""How an ejected program reads and writes each kind of place: Python text, included where a program needs it."""

from penstock.codegen.connectors.files import FORMATS, READ_FILES, WRITE_CHANGES, WRITE_FILES
from penstock.codegen.connectors.local import KEEP, READ_RATE, SHOW
from penstock.codegen.connectors.stage import READ_STAGE, WRITE_STAGE
from penstock.codegen.intermediates import INTERMEDIATE

SOURCES = {"files": READ_FILES, "rate": READ_RATE, INTERMEDIATE: READ_STAGE}
"""By connector: the text of the function that returns a source's rows, named `read_<connector>`."""

CHANGES = "changes"
SINKS = {"files": WRITE_FILES, "console": SHOW, "memory": KEEP, INTERMEDIATE: WRITE_STAGE, CHANGES: WRITE_CHANGES}
"""By connector: the text of the function that returns a writer of a query's rows, named `write_<connector>`.

CHANGES stands for files to which a table's changes are written; it needs the text for files, too.
"""

__all__ = ["CHANGES", "FORMATS", "SINKS", "SOURCES"]
