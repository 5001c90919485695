"""Golden files: `<word>/<case>.test`, SQL first, then sections `---- <name>` with the text expected of that stage."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
_SECTION = re.compile(r"^---- (\w+)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Case:
    """One file. `sections` maps a stage to the text expected of it, without the last line break."""

    path: Path
    sql: str
    sections: dict[str, str]

    @property
    def name(self) -> str:
        return str(self.path.relative_to(FOLDER).with_suffix(""))

    def accept(self, section: str, text: str) -> None:
        """Writes what came out as what is expected."""
        sections = {**self.sections, **read(self.path).sections, section: text}
        parts = [self.sql, *(f"---- {name}\n{expected}" for name, expected in sections.items())]
        self.path.write_text("\n".join(parts) + "\n", encoding="utf-8")


def read(path: Path) -> Case:
    """The case in a file."""
    sql, *rest = _SECTION.split(path.read_text(encoding="utf-8"))
    texts = dict(zip(rest[::2], (text.removesuffix("\n") for text in rest[1::2]), strict=True))
    return Case(path, sql.removesuffix("\n"), texts)


CASES = [read(path) for path in sorted(FOLDER.glob("*/*.test"))]
