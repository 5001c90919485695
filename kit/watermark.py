"""A checkpoint -> the watermark in force in a micro-batch.

Before a micro-batch runs, Spark writes the watermark that will be in force to `<checkpoint>/offsets/<its number>`. The
same file is found when the micro-batch is replayed, so rows are late or not for good. The file `metadata` tells whether
the folder belongs to the query, and not to an earlier query.
"""

import json
from collections.abc import Callable

END_SOURCE = "end"
"""The name of the source of rows that only move the watermark."""
HOLD_BACK_MS = 1
"""By how many milliseconds the watermark of a query with sessions is behind the watermark of its rows.

Spark closes a session when the watermark reaches its end; yet a row of that very time is not late and belongs to it.
"""


def watermark_of(read: Callable[[str], str], checkpoint: str, batch: str | None, query: str | None) -> int:
    """The watermark in force in a micro-batch of the query with this identifier of Spark's, in milliseconds since 1970.

    `read` gives the text of a file, or raises OSError. Raises LookupError where the watermark cannot be told.
    """
    try:
        if batch is None:
            raise ValueError("Spark runs no micro-batch")
        if json.loads(read(f"{checkpoint}/metadata"))["id"] != query:
            raise ValueError("it is a folder of another query")
        offsets = read(f"{checkpoint}/offsets/{batch}").splitlines()
        return int(json.loads(offsets[1])["batchWatermarkMs"])
    except (OSError, ValueError, LookupError) as error:
        raise LookupError(f"no watermark in {checkpoint}: {type(error).__name__}: {error}") from None


def row_watermark_of(watermark: int) -> int:
    """The watermark of the rows of a query with sessions. It begins in 1970, and then nothing has held it back."""
    return watermark + HOLD_BACK_MS if watermark > 0 else watermark
