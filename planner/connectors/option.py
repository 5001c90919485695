"""What a connector is to the planner: a name, what it can be used for, and the options it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Value = str | int | bool


@dataclass(frozen=True, slots=True)
class OptionType:
    """The values that an option accepts; `choices` restricts a STRING to a few words, `filled` says it is not empty."""

    kind: Literal["STRING", "INTEGER", "BOOLEAN", "INTERVAL"]
    choices: tuple[str, ...] = ()
    filled: bool = False

    def __str__(self) -> str:
        if self.choices:
            return "one of " + ", ".join(f"'{choice}'" for choice in self.choices)
        if self.filled:
            return "a string that is not empty"
        words = {"STRING": "a string", "INTEGER": "a number from 1 to 999999999", "BOOLEAN": "TRUE or FALSE"}
        return words.get(self.kind, "a time such as 7 DAYS")


STRING = OptionType("STRING")
NAME = OptionType("STRING", filled=True)
INTEGER = OptionType("INTEGER")
BOOLEAN = OptionType("BOOLEAN")
INTERVAL = OptionType("INTERVAL")
"""Its value is in milliseconds."""


@dataclass(frozen=True, slots=True)
class ConnectorOption:
    name: str
    type: OptionType
    doc: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Connector:
    """`reads`, `writes`: what it can be used for by design. `built`: whether this version runs it."""

    name: str
    doc: str
    reads: bool
    writes: bool
    built: bool
    options: tuple[ConnectorOption, ...]
