"""Names of a script -> names of files and folders."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import quote

from penstock.kit.watermark import END_SOURCE


def checkpoint_name(query: str) -> str:
    """The name of a query's checkpoint in the folder of all checkpoints."""
    return quote(query, safe="")


def folder_name(name: str) -> str:
    """A name as one part of a path: letters and digits of any script stay, what could lead elsewhere is quoted."""
    quoted = "".join(
        char if char.isalnum() or char in "_-." else "".join(f"%{byte:02X}" for byte in char.encode()) for char in name
    )
    return f"%2E{quoted[1:]}" if quoted.startswith(".") else quoted


def source_name(name: str) -> str:
    """The name of an input as the one of a source of Spark's, which has ASCII letters, digits and `_` alone."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", name)
    # Two `_` are before the number of a source that is read again, and before this hash.
    return name if plain == name and name != END_SOURCE else f"{plain}__{hashlib.sha256(name.encode()).hexdigest()[:8]}"
