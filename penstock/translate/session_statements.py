"""Statements about the session of another system, which are left out, and what they decide there."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.parser import Fault
from penstock.translate.foreign_statement import Foreign
from penstock.translate.model import NotTranslatedError

# What to do here.
_SESSION = {
    "SET": "settings of the other system are left out; docs/settings.md lists Penstock's settings",
    "RESET": "settings of the other system are left out",
    "UNSET": "settings of the other system are left out",
    "USE": "names have no catalog here",
    "ADD": "code cannot be added to a script",
    "CACHE": "Spark keeps what it needs: nothing is cached by hand",
    "UNCACHE": "Spark keeps what it needs: nothing is cached by hand",
    "CLEAR": "Spark keeps what it needs: nothing is cached by hand",
    "REFRESH": "files are looked for in each micro-batch",
}
_NAMESPACES = frozenset({"CATALOG", "DATABASE", "SCHEMA"})
# Settings that decide what results are, by a part of their names without signs.
_DECISIVE = (
    ("timezone", "times are in UTC here: FROM_UTC_TIMESTAMP gives times of a time zone"),
    ("statettl", "state has no time to live here: windows, WITHIN and RETENTION bound it"),
    ("autooffsetreset", "a query begins with the first row here"),
    ("ansienabled", "expressions fail here as in the ANSI mode; TRY_CAST, TRY_DIVIDE and their like give NULL instead"),
    ("legacycastbehaviour", "a CAST that fails stops the query here; TRY_CAST gives NULL"),
    ("escapedstringliterals", "this translates texts as if it were not set: a backslash begins an escape"),
    ("casesensitive", "names of columns differ in more than their case here"),
    ("doublequotedidentifiers", 'this translates texts as if it were not set: "…" is a text'),
    ("runtimemode", "a script is a streaming job here; run --once ends with the rows that are there"),
    ("collectlistlimit", "COLLECT_LIST has no limit here"),
    ("collectsetlimit", "COLLECT_SET has no limit here"),
)
# fmt: off
# Words that begin statements. Behind another statement one says that a semicolon is missing.
_STARTS = frozenset({
    "ALTER", "ANALYZE", "APPLY", "ASSERT", "BEGIN", "CACHE", "CREATE", "DECLARE", "DEFINE", "DELETE", "DESCRIBE",
    "DROP", "EXECUTE", "EXPLAIN", "INSERT", "MERGE", "PAUSE", "PRINT", "REFRESH", "RESUME", "SELECT", "SET", "SHOW",
    "RESET", "TERMINATE", "TRUNCATE", "UNCACHE", "UNSET", "UPDATE", "USE", "VACUUM", "VALUES", "WITH",
})
_CLAUSES = frozenset({"COMMENT", "LOCATION", "MANAGED", "OPTIONS", "IF"})
_JOINING = frozenset({".", "=", "-", "/", ":", ",", "(", ")"})
# fmt: on


def is_about_session(statement: Foreign) -> bool:
    """Whether the statement is left out."""
    word = statement.word(0)
    return word in _SESSION or (word == "CREATE" and statement.word(1) in _NAMESPACES)


def check_end(statement: Foreign) -> None:
    """Raises NotTranslatedError where another statement stands in this one, whose semicolon or quote is missing."""
    if any(isinstance(each.type, Fault) or (each.type == "STRING" and "\n" in each.value) for each in statement.tokens):
        raise NotTranslatedError("a text goes over several lines: a quote is missing, or a semicolon")
    place = find_missing_end(statement)
    if place < len(statement):
        if statement.word(0) == "CACHE":
            raise NotTranslatedError("Spark keeps what it needs: CREATE VIEW … AS SELECT gives the query a name")
        beginning = " ".join(statement.slice(each, each + 1) for each in range(place, min(place + 3, len(statement))))
        raise NotTranslatedError(f"a semicolon is missing before {beginning}")


def find_missing_end(statement: Foreign) -> int:
    """Where another statement begins behind one about the session, the length if nowhere.

    A line of its own is another statement, unless a sign or a clause joins it to the line before.
    """
    if not is_about_session(statement):
        return len(statement)
    for place in range(1, len(statement)):
        if statement.sign(place - 1) in _JOINING or statement.sign(place) in _JOINING:
            continue
        gap = statement.text[statement.tokens[place - 1].end : statement.tokens[place].start]
        if _continues(statement, place):
            continue
        is_behind_value = statement.tokens[place - 1].type == "STRING" and statement.word(0) == "SET"
        if "\n" in gap or is_behind_value or (statement.word(place) in _STARTS and not statement.sign(place + 1)):
            return place
    return len(statement)


def _continues(statement: Foreign, place: int) -> bool:
    """Whether a clause of CREATE DATABASE begins there, or a word that belongs to the one before."""
    if statement.word(0) == "CREATE":
        is_list = statement.sign(place + 1) == "(" or statement.word(place + 1) == "DBPROPERTIES"
        return is_list if statement.word(place) == "WITH" else statement.word(place) in _CLAUSES
    return statement.word(0) == "CLEAR" and place == 1


def hide_secrets(statement: Foreign) -> str:
    """The text without secrets. Each statement whose semicolon is missing is looked at by itself."""
    pieces, position = [], statement.tokens[0].start
    while (place := find_missing_end(statement)) < len(statement):
        pieces += [statement.text[position : statement.tokens[0].start], statement.show(place)]
        position = statement.tokens[place - 1].end
        statement = Foreign(statement.text, statement.tokens[place:])
    return "".join([*pieces, statement.text[position : statement.tokens[0].start], statement.show(len(statement))])


def explain_left_out(statement: Foreign) -> tuple[str, ...]:
    """Why the statement is left out, and what it decides in the other system."""
    return (_SESSION.get(statement.word(0), _SESSION["USE"]), *_explain_settings(statement))


def _explain_settings(statement: Foreign) -> Iterator[str]:
    if statement.word(0) in ("SET", "RESET"):
        name = "".join(sign for sign in statement.whole.partition("=")[0].lower() if sign.isalnum())
        yield from (told for part, told in _DECISIVE if part in name)
