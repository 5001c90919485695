"""Names of a script -> names of files and folders."""

from __future__ import annotations

from urllib.parse import quote


def checkpoint_name(query: str) -> str:
    """The name of a query's checkpoint in the folder of all checkpoints."""
    return quote(query, safe="")


def folder_name(name: str) -> str:
    """A name as one part of a path: letters and digits of any script stay, what could lead elsewhere is quoted."""
    quoted = "".join(
        char if char.isalnum() or char in "_-." else "".join(f"%{byte:02X}" for byte in char.encode()) for char in name
    )
    return f"%2E{quoted[1:]}" if quoted.startswith(".") else quoted
