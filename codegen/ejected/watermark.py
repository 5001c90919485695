"""A checkpoint -> the watermark in force in a micro-batch. This runs in Spark's Python workers, wherever these are.

Before a micro-batch runs, Spark writes the watermark that will be in force to `<checkpoint>/offsets/<its number>`. The
same file is found when the micro-batch is replayed, so rows are late or not for good. The file `metadata` tells whether
the folder that a worker finds is that of the query, and not one of an earlier query on a disk of its own.
"""

import json
from datetime import UTC, datetime
from urllib.parse import quote


def watermark_of(checkpoint: str, batch: str | None, query: str | None) -> datetime:
    """The watermark in force in a micro-batch of the query with this identifier of Spark's.

    Raises LookupError where it cannot be told.
    """
    try:
        if batch is None:
            raise ValueError("Spark runs no micro-batch")
        if json.loads(text_of(f"{checkpoint}/metadata"))["id"] != query:
            raise ValueError("it is a folder of another query")
        offsets = text_of(f"{checkpoint}/offsets/{batch}").splitlines()
        return datetime.fromtimestamp(json.loads(offsets[1])["batchWatermarkMs"] / 1000, UTC)
    except (OSError, ValueError, LookupError, ImportError, NotImplementedError) as error:
        # pyarrow raises NotImplementedError for a file system that it was built without.
        raise LookupError(f"no watermark in {checkpoint}: {type(error).__name__}: {error}") from None


def text_of(path: str) -> str:
    """The text of a file on a disk of this machine, or in another file system that Arrow knows."""
    scheme, separator, place = path.partition("://")
    if not separator or scheme == "file":
        with open((place if separator else path).removeprefix("file:"), encoding="utf-8") as file:
            return file.read()
    from pyarrow import fs

    files, place = fs.FileSystem.from_uri(f"{'s3' if scheme == 's3a' else scheme}://{quote(place)}")
    with files.open_input_stream(place) as stream:
        return bytes(stream.read()).decode()
