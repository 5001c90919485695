"""An Input -> how its records become rows, made when it is first asked for: checks do not need it, and it takes long.

The archive of a job has this module without the SQL printer. A job brings what is made here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from penstock.codegen.record_parsing import Parsing

if TYPE_CHECKING:
    from penstock.codegen.program import Input


@lru_cache(maxsize=64)
def parse_records(source: Input) -> Parsing | None:
    """None where the place of the input holds rows."""
    from penstock.codegen.sql.parsed import make_parsing

    return make_parsing(source)
