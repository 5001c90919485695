"""Types of other systems in Penstock's names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from penstock.diagnostics import Source
from penstock.parser import split_script
from penstock.translate.foreign_statement import Foreign

_NAMES: Mapping[str, str] = {
    "TIMESTAMP_LTZ": "TIMESTAMP",
    **dict.fromkeys(("VARCHAR", "CHARACTER", "CHAR", "TEXT"), "STRING"),
    **dict.fromkeys(("VARBINARY", "BYTES"), "BINARY"),
    "INTEGER": "INT",
    **dict.fromkeys(("NUMERIC", "DEC"), "DECIMAL"),
    "REAL": "FLOAT",
    "BYTE": "TINYINT",
    "SHORT": "SMALLINT",
    "LONG": "BIGINT",
}
_SIZED = frozenset({"VARCHAR", "CHARACTER", "CHAR"})
_UNSIZED = frozenset({"TIMESTAMP", "STRING", "BINARY", "TIME"})  # whose size has no place here
_NESTED = frozenset({"ARRAY", "MAP", "MULTISET"})
_STRUCTS = frozenset({"STRUCT", "ROW"})


def explain_types(texts: Iterable[str]) -> Iterator[str]:
    """What types mean otherwise here."""
    words = [read for text in texts for read in _read_words(text)]
    if any(word in _SIZED and is_sized for word, is_sized, _ in words):
        yield "VARCHAR(n) and CHAR(n) are a STRING of any length, without padding"
    if any(word == "TIMESTAMP" and not has_zone for word, _, has_zone in words):
        yield "a TIMESTAMP without a zone is a time in UTC"


def find_digits(texts: Iterable[str]) -> set[int]:
    """How many digits of seconds the times have that are declared with these types: 6 where they do not say."""
    found = set()
    for text in texts:
        statement = read_tokens(text)
        for place in range(len(statement)):
            if statement.word(place) in ("TIMESTAMP", "TIMESTAMP_LTZ"):
                size = statement.value(place + 2) if statement.sign(place + 1) == "(" else "6"
                found.add(int(size) if size.isdecimal() else 6)
    return found


def rename_type(text: str) -> str:
    """The type in Penstock's names. What is not known stays, and the check of the statement tells."""
    statement = read_tokens(text)
    pieces: list[str] = []
    return "".join(pieces) if _write_type(statement, 0, pieces) == len(statement) else text


def read_tokens(text: str) -> Foreign:
    """The tokens of a text that is a part of a statement."""
    tokens = [each for statement in split_script(Source("type", text)) for each in statement]
    return Foreign(text, tokens)


def _read_words(text: str) -> Iterator[tuple[str, bool, bool]]:
    """The words of a type, each with whether a size and whether WITH … TIME ZONE follow."""
    statement = read_tokens(text)
    for place in range(len(statement)):
        is_sized = statement.sign(place + 1) == "(" or statement.word(place + 1) == "VARYING"
        behind = statement.close(place + 1) + 1 if statement.sign(place + 1) == "(" else place + 1
        yield statement.word(place), is_sized, statement.word(behind) == "WITH"


def _write_type(statement: Foreign, place: int, pieces: list[str]) -> int:
    """Writes the type that begins there, and gives the place behind it."""
    word, opening = statement.word(place), statement.sign(place + 1)
    if word in _STRUCTS and opening in ("<", "("):
        pieces.append("STRUCT<")
        return _write_fields(statement, place + 2, ">" if opening == "<" else ")", pieces)
    if word in _NESTED and opening == "<":
        pieces.append(f"{word}<")
        place = _write_type(statement, place + 2, pieces)
        while statement.sign(place) == ",":
            pieces.append(", ")
            place = _write_type(statement, place + 1, pieces)
        return _write_closing(statement, place, ">", pieces)
    pieces.append(_NAMES.get(word, statement.slice(place, place + 1)))
    place += 1
    if word in ("DOUBLE", "CHARACTER", "CHAR") and statement.word(place) in ("PRECISION", "VARYING"):
        place += 1
    if statement.sign(place) == "(":
        behind = statement.close(place) + 1
        if _NAMES.get(word, word) not in _UNSIZED:
            pieces.append("".join(statement.slice(each, each + 1) for each in range(place, behind)).replace(",", ", "))
        place = behind
    if word == "TIMESTAMP" and statement.word(place) in ("WITH", "WITHOUT"):
        place += 4 if statement.word(place + 1) == "LOCAL" else 3
    return place


def _write_fields(statement: Foreign, place: int, closing: str, pieces: list[str]) -> int:
    """Writes the fields of a struct. Their names stay, even if they are words of types."""
    while place < len(statement) and statement.sign(place) != closing:
        colon = ":" if statement.sign(place + 1) == ":" else ""
        pieces.append(f"{statement.slice(place, place + 1)}{colon} ")
        place = _write_type(statement, place + 1 + len(colon), pieces)
        if statement.says(place, "NOT NULL"):
            place += 2
        elif statement.word(place) == "NULL":
            place += 1
        if statement.word(place) == "COMMENT":
            place += 2
        if statement.sign(place) == ",":
            pieces.append(", ")
            place += 1
    return _write_closing(statement, place, closing, pieces)


def _write_closing(statement: Foreign, place: int, closing: str, pieces: list[str]) -> int:
    """The place behind the bracket; one behind the end of the text, so that it is no type, where there is none."""
    pieces.append(">")
    return place + 1 if statement.sign(place) == closing else len(statement) + 1
