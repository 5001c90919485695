"""Types -> SQL in which names of fields are quoted where they have to be."""

from __future__ import annotations

from penstock.parser import name_text
from penstock.planner.types import Array, Map, Struct, Type


def type_text(type_: Type) -> str:
    """The type as a script has it."""
    match type_:
        case Array():
            return f"ARRAY<{type_text(type_.element)}>"
        case Map():
            return f"MAP<{type_text(type_.key)}, {type_text(type_.value)}>"
        case Struct():
            return f"STRUCT<{', '.join(f'{name_text(name)}: {type_text(each)}' for name, each in type_.fields)}>"
    return str(type_)
