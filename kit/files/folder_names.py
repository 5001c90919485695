"""The path of a file -> the columns that its folders, such as `day=2026-01-01`, have values of."""

from collections.abc import Iterable
from urllib.parse import unquote


def list_folder_columns(file: str, columns: Iterable[str]) -> list[str]:
    """The columns that the folders of a file have values of. `file`: its path as an URI."""
    keys = {unquote(part.partition("=")[0]).lower() for part in unquote(file).split("/")[:-1] if "=" in part}
    return [name for name in columns if name.lower() in keys]
