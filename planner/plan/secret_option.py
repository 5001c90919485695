"""The values of options, as plans hold them."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec


class SecretOption(msgspec.Struct, frozen=True):
    """Where a secret is: in the variable `name` of the environment (ENV), or in the file `name` (FILE).

    It is read when a connection is made. The secret itself is in no plan.
    """

    kind: Literal["ENV", "FILE"]
    name: str

    def __str__(self) -> str:
        name = self.name.replace("'", "''")
        return f"{self.kind}('{name}')"


Value: TypeAlias = str | int | bool | SecretOption
Options: TypeAlias = tuple[tuple[str, Value], ...]
