"""`LATERAL (SELECT … ORDER BY … LIMIT n)` of other systems -> a join with the rows that QUALIFY keeps of each key."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.diagnostics import Diagnostic, Span
from penstock.grammar import NAME, NUMBER, Token
from penstock.parser.stops import Stop
from penstock.parser.unparse_scalars import name_text

_CLAUSES = ("FROM", "WHERE", "ORDER", "LIMIT")
_OTHERS = frozenset({"GROUP", "HAVING", "UNION", "INTERSECT", "EXCEPT", "OFFSET", "WINDOW", "QUALIFY", "FETCH", "JOIN"})
_NAME = "ranked"
_LEAST = 5
"""The tokens of SELECT a FROM t and a join."""
_OTHERWISE = (
    "QUALIFY ROW_NUMBER() OVER (PARTITION BY key ORDER BY value DESC) <= 2 behind FROM keeps the first rows of a key, "
    "as LIMIT does there"
)

Tokens = Sequence[Token]


def explain_lateral(found: Diagnostic, stop: Stop) -> Diagnostic | None:
    """The finding with a ranking as its hint; None where no LIMIT is in parentheses behind LATERAL."""
    source, tokens, index = stop.source, stop.tokens, stop.index
    first = index - 2
    if first < _LEAST or index >= len(tokens) or tokens[first].word != "LATERAL" or tokens[index].word != "SELECT":
        return None
    end = _find_end(tokens, first + 1)
    if end is None or not any(token.word == "LIMIT" for token in tokens[index:end]):
        return None
    joined = _write_join(source.shown, tokens, first, end)
    if joined is None:
        return found.with_hint(_OTHERWISE)
    text, begin, behind = joined
    place = Span(source, tokens[begin].start, tokens[behind - 1].end)
    return found.with_sql(text, place, after=" has the first rows of each key, as LIMIT does there")


def _write_join(text: str, tokens: Tokens, first: int, end: int) -> tuple[str, int, int] | None:
    """The join in the place of that with LATERAL, and from which token to which one it stands; None if it is not known.

    `first`, `end`: LATERAL and the last parenthesis.
    """
    begin, word = _find_join(tokens, first)
    name, behind = _find_name(tokens, end)
    if not word:
        return None
    has_condition = [token.word for token in tokens[behind : behind + 2]] == ["ON", "TRUE"]
    if (tokens[first - 1].word == "JOIN" and tokens[first - 2].word != "CROSS") != has_condition:
        return None
    behind += 2 if has_condition else 0
    clauses = _split_clauses(tokens[first + 3 : end])
    if clauses is None:
        return None
    items, relation, condition, order, limit = clauses
    known = relation[-1].value
    terms = None if any(token.word in ("OR", "BETWEEN") for token in condition) else _split(condition, "AND")
    keys = {each: _read_equality(term, known) for each, term in enumerate(terms or ())}
    equal = [each for each in keys.values() if each is not None]
    others = [term for each, term in enumerate(terms or ()) if keys[each] is None]
    if not equal or any(_is_outer(token, at, term, known) for term in others for at, token in enumerate(term)):
        return None
    shown = [_text(text, item) for item in _split(items, ",")]
    listed = {each.lower().removeprefix(f"{known.lower()}.") for each in shown}
    added = [] if "*" in listed else [key for key, _ in equal if key.lower() not in listed]
    where = " WHERE " + " AND ".join(_text(text, term) for term in others) if others else ""
    over = f"PARTITION BY {', '.join(key for key, _ in equal)} ORDER BY {_text(text, order[1:])}"
    ranked = (
        f"SELECT {', '.join([*added, *shown])} FROM {_text(text, relation)}{where} QUALIFY ROW_NUMBER() OVER ({over})"
    )
    on = " AND ".join(f"{name}.{key} = {outer}" for key, outer in equal)
    return f"{word} ({ranked} <= {limit[0].value}) {name} ON {on}", begin, behind


def _find_end(tokens: Tokens, begin: int) -> int | None:
    """The parenthesis that closes the one at `begin`."""
    depth = 0
    for place in range(begin, len(tokens)):
        depth += (tokens[place].value == "(") - (tokens[place].value == ")")
        if depth == 0:
            return place
    return None


def _find_join(tokens: Tokens, first: int) -> tuple[int, str]:
    """Where the join before LATERAL begins, and what to write for it; "" for an outer one that keeps the right side."""
    before = tokens[first - 1]
    if before.value == ",":
        return first - 1, "JOIN"
    kind = tokens[first - 3].word if tokens[first - 2].word == "OUTER" else tokens[first - 2].word
    if before.word != "JOIN" or kind in ("RIGHT", "FULL"):
        return first, ""
    if kind == "LEFT":
        return first - (3 if tokens[first - 2].word == "OUTER" else 2), "LEFT JOIN"
    return first - (2 if kind in ("CROSS", "INNER") else 1), "JOIN"


def _find_name(tokens: Tokens, end: int) -> tuple[str, int]:
    """The name behind the last parenthesis, and the token behind it."""
    place = end + 1
    if place < len(tokens) and tokens[place].word == "AS":
        place += 1
    if place < len(tokens) and tokens[place].type == NAME:
        return name_text(tokens[place].value), place + 1
    return _NAME, end + 1


def _split_clauses(tokens: Tokens) -> list[Tokens] | None:
    """What stands behind SELECT, FROM, WHERE, ORDER and LIMIT; None where the query is not of just these."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.value == "(") - (token.value == ")")
        if depth == 0 and token.word in _OTHERS:
            return None
        if depth == 0 and len(parts) <= len(_CLAUSES) and token.word == _CLAUSES[len(parts) - 1]:
            parts.append([])
        else:
            parts[-1].append(token)
    if len(parts) != len(_CLAUSES) + 1 or not all(parts):
        return None
    items, relation, condition, order, limit = parts
    listed = [*_split(items, ","), *_split(condition, "AND"), order[1:]]
    if not all(listed) or order[0].word != "BY":
        return None
    is_named = all(token.type == NAME or token.word == "AS" or token.value == "." for token in relation)
    is_known = is_named and items[0].word != "DISTINCT" and [token.type for token in limit] == [NUMBER]
    return [*parts] if is_known else None


def _split(tokens: Tokens, sign: str) -> list[Tokens]:
    """The tokens between words or signs that stand in no parentheses."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.value == "(") - (token.value == ")")
        if depth == 0 and sign in (token.word, token.value):
            parts.append([])
        else:
            parts[-1].append(token)
    return [*parts]


def _read_equality(term: Tokens, known: str) -> tuple[str, str] | None:
    """A column of the relation `known`, and the column of another one that is equal to it; None for other terms."""
    sides = _split(term, "=")
    if len(sides) != 2:
        return None
    columns = [_read_column(side) for side in sides]
    for own, other in (columns, columns[::-1]):
        if own is None or other is None:
            return None
        if own[0].lower() in ("", known.lower()) and other[0].lower() not in ("", known.lower()):
            return name_text(own[1]), f"{name_text(other[0])}.{name_text(other[1])}"
    return None


def _read_column(side: Tokens) -> tuple[str, str] | None:
    """`column` or `relation.column`."""
    names = [token.value for token in side if token.type == NAME]
    if len(side) == 1 and names:
        return "", names[0]
    return (names[0], names[1]) if len(side) == 3 and len(names) == 2 and side[1].value == "." else None


def _is_outer(token: Token, place: int, term: Tokens, known: str) -> bool:
    """Whether a name belongs to a relation other than `known`."""
    is_relation = token.type == NAME and place + 1 < len(term) and term[place + 1].value == "."
    return is_relation and token.value.lower() != known.lower()


def _text(text: str, tokens: Tokens) -> str:
    return " ".join(text[tokens[0].start : tokens[-1].end].split())
