"""Files of this machine, read as `Storage` reads them, without a JVM."""

from __future__ import annotations

from pathlib import Path

from penstock.runtime.checkpoint.storage import Damaged
from penstock.runtime.checkpoint.writable import find_local


class LocalFiles:
    """What of a `Storage` logs and checkpoints are read with. Places elsewhere are as if there were nothing."""

    def is_file(self, path: str) -> bool:
        """Whether a path exists and is no folder."""
        place = find_local(path)
        return place is not None and place.is_file()

    def is_folder(self, path: str) -> bool:
        """Whether a path exists and is a folder."""
        place = find_local(path)
        return place is not None and place.is_dir()

    def names(self, folder: str) -> list[str]:
        """The names in a folder, none if there is no such folder."""
        place = find_local(folder)
        return [each.name for each in place.iterdir()] if place is not None and place.is_dir() else []

    def newest(self, log: str) -> int:
        """The highest batch number in a folder of Spark's logs, -1 if it has none."""
        stems = (name.split(".")[0] for name in self.names(log))
        return max((int(stem) for stem in stems if stem.isdigit()), default=-1)

    def read(self, path: str) -> str | None:
        """The text of a file, None if there is no such file.

        Raises:
            Damaged: it is no text.
        """
        place = find_local(path)
        try:
            return None if place is None else place.read_bytes().decode()
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:
            raise Damaged(path, "it is not text") from None


def is_hidden(path: Path) -> bool:
    """Whether Spark passes over a file or a folder for its name."""
    return path.name.startswith(".") or (path.name.startswith("_") and "=" not in path.name)
