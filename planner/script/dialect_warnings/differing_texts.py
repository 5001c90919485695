"""Texts with a backslash, and matches of regular expressions, that mean something else in another system."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp

from penstock.planner.scalars.literals import bare
from penstock.planner.script.dialect_warnings.other_meaning import OtherMeaning, Rule, text_of

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[0-3][0-7]{2}|.)", re.DOTALL)
_CONTROLS: Mapping[str, str] = {"0": "\0", "b": "\b", "t": "\t", "n": "\n", "r": "\r", "Z": "\x1a"}
_KEPT = ("%", "_")
_PATTERNS = ("REGEXP_", "SPLIT")
_EXTRACT = "REGEXP_EXTRACT"
_NO_MATCH = "It is an empty text here where nothing matches. There it is NULL."


def _unescape(match: re.Match[str]) -> str:
    """What Spark makes of an escape."""
    escape = match[1]
    if escape in _KEPT:
        return match[0]
    if len(escape) == 5:
        return chr(int(escape[1:], 16))
    return chr(int(escape, 8)) if len(escape) == 3 else _CONTROLS.get(escape, escape)


def _quote(text: str) -> str:
    """A text that means the same in Penstock and Spark."""
    if "\\" in text and "'" not in text:
        return f"r'{text}'"
    parts = [each for each in re.split(r"([\x00-\x1f])", text) if each]
    shown = [f"CHR({ord(each)})" if each < " " else "'" + each.replace("'", "''") + "'" for each in parts]
    return " || ".join(shown) or "''"


def _is_pattern(part: exp.Expression) -> bool:
    """Whether a text is a regular expression, which has escapes of its own."""
    parent = part.parent
    if isinstance(parent, exp.RegexpLike | exp.RegexpILike):
        return part.arg_key == "expression"
    return isinstance(parent, exp.Anonymous) and parent.name.upper().startswith(_PATTERNS) and part.index == 1


def _is_replacement(part: exp.Expression) -> bool:
    """Whether it is the text that REGEXP_REPLACE puts in."""
    parent = part.parent
    return isinstance(parent, exp.Anonymous) and parent.name.upper() == "REGEXP_REPLACE" and part.index == 2


def _judge_text(part: exp.Expression) -> OtherMeaning | None:
    """Texts with escapes of Spark. In a regular expression, only two backslashes are sure to be one."""
    written = text_of(part)
    variable = re.search(r"\$\{[\w.]+\}", part.name)
    if part.args["is_string"] and variable is not None and written.startswith("'"):
        reason = "It is a part of the text here. There the value of a variable is put in its place."
        hint = written.replace("${", "$' || '{")
        return OtherMeaning(variable[0], "ksqlDB and Spark", reason, hint)
    if part.args["is_string"] and _is_replacement(part) and re.search(r"\\\d", part.name):
        reason = "A backslash makes the digit a character here. There it stands for a group."
        return OtherMeaning(written, "PostgreSQL", reason, re.sub(r"\\(\d)", r"$\1", written))
    if not part.args["is_string"] or "\\" not in part.name or written != "'" + part.name.replace("'", "''") + "'":
        return None
    meant = _ESCAPE.sub(_unescape, part.name)
    if meant == part.name or (_is_pattern(part) and "\\\\" not in part.name):
        return None
    reason = "A backslash is a character here. There it begins an escape, and r'…' has none."
    return OtherMeaning(written, "Spark", reason, _quote(meant))


def _ends_as_it_begins(pattern: str) -> bool:
    """Whether the first group of a regular expression is all of it."""
    depth = 0
    for place, sign in enumerate(re.sub(r"\\.", "..", pattern, flags=re.DOTALL)):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return place == len(pattern) - 1
    return False


def _is_extract(part: exp.Expression) -> bool:
    return (
        isinstance(part, exp.Anonymous) and part.name.upper() == _EXTRACT and text_of(part).upper().startswith(_EXTRACT)
    )


def _judge_extract(part: exp.Expression) -> OtherMeaning | None:
    """Without a group."""
    if len(part.expressions) != 2 or not _is_extract(part):
        return None
    pattern = bare(part.expressions[1])
    if not isinstance(pattern, exp.Literal) or _ends_as_it_begins(pattern.name):
        return None
    text, shown = (text_of(each) for each in part.expressions)
    reason = "It gives the first group here. There it gives the whole match."
    hint = f"{_EXTRACT}({text}, {shown}, 0)"
    return OtherMeaning(f"{_EXTRACT} without the number of a group", "Flink and ksqlDB", reason, hint)


def _add_group(call: exp.Expression) -> str:
    """The call with the number of the group that it asks for elsewhere, as it is written else."""
    return f"{text_of(call).removesuffix(')')}, 0)" if _judge_extract(call) else text_of(call)


def _judge_null(part: exp.Expression) -> OtherMeaning | None:
    """REGEXP_EXTRACT(…) IS NULL."""
    call = bare(part.this)
    if not isinstance(part.args["expression"], exp.Null) or not _is_extract(call):
        return None
    test = "IS NOT NULL" if isinstance(part.parent, exp.Not) else "IS NULL"
    return OtherMeaning(f"{_EXTRACT} … {test}", "Flink and ksqlDB", _NO_MATCH, f"NULLIF({_add_group(call)}, '') {test}")


def _judge_default(part: exp.Expression) -> OtherMeaning | None:
    """COALESCE(REGEXP_EXTRACT(…), …)."""
    call = bare(part.expressions[0])
    if len(part.expressions) < 2 or not _is_extract(call):
        return None
    name = text_of(part).partition("(")[0].strip().upper()
    rest = ", ".join(text_of(each) for each in part.expressions[1:])
    hint = f"{name}(NULLIF({_add_group(call)}, ''), {rest})"
    return OtherMeaning(f"{name} of {_EXTRACT}", "Flink and ksqlDB", _NO_MATCH, hint)


OPERATORS: Mapping[type[exp.Expression], Rule] = {exp.Literal: _judge_text, exp.Is: _judge_null}
CALLS: Mapping[str, Rule] = {
    _EXTRACT: _judge_extract,
    **dict.fromkeys(("COALESCE", "IFNULL", "NVL"), _judge_default),
}
