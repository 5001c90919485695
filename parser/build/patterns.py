"""Patterns of LIKE … ESCAPE and SIMILAR TO -> patterns of LIKE and RLIKE."""

from __future__ import annotations

_LIKE_SPECIAL = "%_\\"
_REGEX_SPECIAL = ".^$\\"


def escaped_like(pattern: str, escape: str) -> str | None:
    r"""The pattern with `\` in the place of another escape character; None if that stands before a plain character."""
    pieces: list[str] = []
    characters = iter(pattern)
    for char in characters:
        if char == escape:
            following = next(characters, "")
            if following not in ("%", "_", escape):
                return None
            pieces.append(_literal(following))
        else:
            pieces.append("\\\\" if char == "\\" else char)
    return "".join(pieces)


def _literal(char: str) -> str:
    return f"\\{char}" if char in _LIKE_SPECIAL else char


def similar_regex(pattern: str, escape: str) -> str | None:
    """The regular expression that finds exactly the texts that are SIMILAR TO a pattern; None if that is malformed."""
    pieces: list[str] = []
    at = depth = 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == escape:
            if at == len(pattern):
                return None
            pieces.append(_plain(pattern[at]))
            at += 1
        elif char == "[":
            end = pattern.find("]", at + (pattern[at : at + 1] == "^") + 1)
            content = pattern[at:end]
            if end < 0 or "[" in content or escape in content or "&&" in content:
                return None
            pieces.append("[" + content.replace("\\", "\\\\") + "]")
            at = end + 1
        elif char == "(":
            depth += 1
            pieces.append("(?:")
        elif char == ")":
            depth -= 1
            pieces.append(")")
            if depth < 0:
                return None
        elif char == "+" and pieces and pieces[-1] in ("*", "+", "?", "}"):
            return None  # Java would repeat without going back
        else:
            pieces.append({"%": ".*", "_": "."}.get(char, f"\\{char}" if char in _REGEX_SPECIAL else char))
    return None if depth else f"(?s)^(?:{''.join(pieces)})(?!.)"


def _plain(char: str) -> str:
    """A character that stands for itself."""
    return char if char.isalnum() or char.isspace() or not char.isascii() else f"\\{char}"
