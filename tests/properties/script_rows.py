"""What random scripts read from, and what their queries give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.properties.script_scalars import Reference


@dataclass(frozen=True)
class Rows:
    """What may stand in FROM, or a SELECT: `columns` are names and types, `times` those that are event times."""

    sql: str
    columns: Mapping[str, str]
    times: tuple[str, ...] = ()
    alias: str = ""

    def references(self, *, qualified: bool = False) -> list[Reference]:
        prefix = f"{self.alias}." if qualified else ""
        return [Reference(prefix + name, type_) for name, type_ in self.columns.items() if type_]
