"""Where passwords are found. They are read when a connection is made, and kept nowhere."""

import os
from dataclasses import dataclass
from typing import Literal

from penstock.kit.databases.faults import TableError


@dataclass(frozen=True, slots=True)
class SecretRef:
    """Where a secret is found: in a variable of the environment, or in a file, whose last newline is no part of it."""

    kind: Literal["ENV", "FILE"]
    name: str

    def read(self) -> str:
        """The secret.

        Raises TableError (password) if it is not there.
        """
        if self.kind == "ENV":
            if self.name not in os.environ:
                raise TableError("password", f"there is no variable {self.name} in the environment")
            return os.environ[self.name]
        try:
            with open(self.name, encoding="utf-8") as file:
                return file.read().removesuffix("\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is no text"
            raise TableError("password", f"the file {self.name} of the password cannot be read: {reason}") from None


class KnownSecret:
    """A secret that has been read, for a process that cannot read it. Its text is not shown."""

    def __init__(self, text: str) -> None:
        self._text = text

    def read(self) -> str:
        """The secret."""
        return self._text
