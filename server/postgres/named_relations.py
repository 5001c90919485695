"""What a query says of its relations, as far as its tokens tell."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from penstock.server.postgres.tokens import Lexeme, Part

# fmt: off
_CLAUSES = (
    "where", "group", "having", "order", "limit", "offset", "fetch", "for", "window", "union", "intersect", "except",
)
_ENDS_FROM = (
    *_CLAUSES, "returning", "select", "on", "set", "values",
    "qualify", "deduplicate", "partition", "emit", "grace", "retention",
)
_ENDS_ITEM = (
    *_CLAUSES, "from", "as", "into",
    "and", "or", "is", "in", "not", "like", "ilike", "similar", "between", "collate", "at", "isnull", "notnull",
)
# fmt: on


@dataclass(frozen=True, slots=True)
class NameRead:
    """A name with or without a schema."""

    name: str | None
    """As it is looked up in `public`; None if there is no name, or one of another schema."""
    end: int
    """The place behind it."""


def read_name(tokens: Sequence[Lexeme], at: int) -> NameRead:
    """The name that begins at a place."""
    parts: list[str] = []
    while at < len(tokens) and tokens[at].is_name:
        parts.append(tokens[at].text)
        at += 1
        if not (at < len(tokens) and tokens[at].is_sign(".")):
            break
        at += 1
    match parts:
        case [name] | ["public", name]:
            return NameRead(name, at)
        case _:
            return NameRead(None, at)


def list_relations(tokens: Sequence[Lexeme], relations: Collection[str]) -> set[str]:
    """The relations that a query reads: names behind FROM, JOIN and USING, also in subqueries."""
    return (_names_read(tokens, is_query=False) & set(relations)) - _local_names(tokens)


def list_relations_without_select(tokens: Sequence[Lexeme], relations: Collection[str]) -> set[str]:
    """The same for a text in the place of a query that PostgreSQL does not read as one, such as `SELEC a FROM
    clicks`.
    """
    first = next((each for each in tokens if not each.is_sign("(")), None)
    if first is None or first.is_word("select", "with", "values", "table", "execute"):
        return set()
    return _names_read(tokens, is_query=True) & set(relations)


def says_stream(tokens: Sequence[Lexeme], relations: Collection[str]) -> bool:
    """Whether there is a SELECT STREAM.

    PostgreSQL can read `SELECT stream a FROM t` as a column with an alias. Then the relations of the query decide.
    """
    selects = [at for at in range(len(tokens) - 1) if tokens[at].is_word("select") and tokens[at + 1].is_word("stream")]
    behind = [tokens[at + 2 : at + 4] for at in selects]
    if any(map(_is_surely_stream, behind)):
        return True
    return any(map(_may_be_stream, behind)) and bool(list_relations(tokens, relations))


def _is_surely_stream(behind: Sequence[Lexeme]) -> bool:
    """Whether no column `stream` can stand before these two tokens."""
    if len(behind) < 2:
        return False
    first, second = behind
    if first.part in (Part.STRING, Part.NUMBER, Part.PARAMETER) or first.is_word("distinct", "case"):
        return True
    if first.is_sign("*"):
        return second.is_sign(",") or second.is_word("from")
    if first.part is Part.SIGN or first.is_word(*_ENDS_ITEM):
        return False
    return not (second.is_sign(",", ")") or second.is_word(*_CLAUSES, "from", "into"))


def _may_be_stream(behind: Sequence[Lexeme]) -> bool:
    """Whether an item of a SELECT can begin here."""
    if not behind:
        return False
    first = behind[0]
    return first.is_sign("(") or (first.is_name and not first.is_word(*_ENDS_ITEM))


@dataclass(slots=True)
class _Level:
    """Between two brackets."""

    selects: bool
    """Whether a FROM belongs to a query here, and not to EXTRACT(… FROM …)."""
    names: bool
    """Whether a name may follow."""
    listing: bool
    """Whether this is a list of relations, in which a comma comes before a name."""


def _names_read(tokens: Sequence[Lexeme], *, is_query: bool) -> set[str]:
    """`is_query`: each FROM belongs to a query, although there is no SELECT before it."""
    found: set[str] = set()
    levels = [_Level(is_query, False, False)]
    at = 0
    while at < len(tokens):
        token, level = tokens[at], levels[-1]
        at += 1
        if token.is_sign("("):
            # Behind FROM: a subquery, relations in brackets, or the argument of a function such as TUMBLE(clicks, …).
            levels.append(_Level(is_query, level.names, False))
            level.names = False
        elif token.is_sign(")"):
            del levels[1 if len(levels) == 1 else -1 :]
        elif token.is_sign(","):
            level.names = level.listing
        elif token.part is Part.WORD and token.text in ("from", "using"):
            apart = tokens[at - 2].is_word("distinct") and at > 2 and tokens[at - 3].is_word("is", "not")
            level.names = level.listing = (level.selects or token.text == "using") and not apart
        elif token.is_word("join"):
            level.names = True
        elif token.is_word(*_ENDS_FROM):
            level.names = level.listing = False
            level.selects = level.selects or token.text == "select"
        elif level.names and not token.is_word("only", "lateral", "stream") and token.is_name:
            read = read_name(tokens, at - 1)
            at = read.end
            if at < len(tokens) and tokens[at].is_sign("("):
                continue  # a function, whose first argument may be a relation
            level.names = False
            if read.name is not None:
                found.add(read.name)
    return found


def _local_names(tokens: Sequence[Lexeme]) -> set[str]:
    """The names of WITH name [(columns)] AS [[NOT] MATERIALIZED] (…)."""
    found = set()
    opened: list[int] = []
    before = -1  # the place of what may be a name: the last token, or the one before the brackets that it closes
    for at, token in enumerate(tokens):
        if token.is_word("as") and before >= 0 and tokens[before].is_name:
            behind = at + 1
            while behind < len(tokens) and tokens[behind].is_word("not", "materialized"):
                behind += 1
            if behind < len(tokens) and tokens[behind].is_sign("("):
                found.add(tokens[before].text)
        before = at
        if token.is_sign("("):
            opened.append(at)
        elif token.is_sign(")"):
            before = opened.pop() - 1 if opened else -1
    return found
