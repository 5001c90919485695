"""Types of other systems in Penstock's names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

# Patterns of a type, and what it is called here.
_NAMES = (
    (r"TIMESTAMP(?:_LTZ)?\s*(?:\(\s*\d+\s*\))?\s*(?:WITH(?:OUT)?\s+(?:LOCAL\s+)?TIME\s+ZONE)?", "TIMESTAMP"),
    (r"DOUBLE\s+PRECISION", "DOUBLE"),
    (r"(?:VARCHAR|CHARACTER\s+VARYING|CHARACTER|CHAR|STRING|TEXT)\s*(?:\(\s*\d+\s*\))?", "STRING"),
    (r"(?:VARBINARY|BINARY|BYTES)\s*(?:\(\s*\d+\s*\))?", "BINARY"),
    (r"INTEGER", "INT"),
    (r"(?:NUMERIC|DEC)\b", "DECIMAL"),
    (r"REAL", "FLOAT"),
    (r"BYTE", "TINYINT"),
    (r"SHORT", "SMALLINT"),
    (r"LONG", "BIGINT"),
)
_PATTERNS = tuple((re.compile(rf"\b{pattern}(?!\w)", re.IGNORECASE), name) for pattern, name in _NAMES)
_ROW = re.compile(r"\bROW\s*([<(])", re.IGNORECASE)


_SIZED = re.compile(r"\b(?:VAR)?CHAR\w*\s*\(", re.IGNORECASE)
_WITHOUT_ZONE = re.compile(r"\bTIMESTAMP\b(?!\s*(?:\(\s*\d+\s*\))?\s*WITH\s)", re.IGNORECASE)


def explain_types(texts: Iterable[str]) -> Iterator[str]:
    """What types mean otherwise here."""
    types = " ".join(texts)
    if _SIZED.search(types):
        yield "VARCHAR(n) and CHAR(n) are a STRING of any length, without padding"
    if _WITHOUT_ZONE.search(types):
        yield "a TIMESTAMP without a zone is a time in UTC"


def rename_type(text: str) -> str:
    """The type in Penstock's names. What is not known stays, and the check of the statement tells."""
    text = _rename_rows(text)
    for pattern, name in _PATTERNS:
        text = pattern.sub(name, text)
    return re.sub(r"\s+([>)])", r"\1", text)


def _rename_rows(text: str) -> str:
    """ROW<…> and ROW(…) as STRUCT<…>."""
    while match := _ROW.search(text):
        opening = match[1]
        closing, depth = {"<": ">", "(": ")"}[opening], 0
        for end in range(match.end() - 1, len(text)):
            depth += (text[end] == opening) - (text[end] == closing)
            if depth == 0:
                break
        else:
            return text
        text = f"{text[: match.start()]}STRUCT<{text[match.end() : end]}>{text[end + 1 :]}"
    return text
