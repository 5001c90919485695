"""Which statements of a message are Penstock's. The rule is told in docs/serve.md."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum

from penstock.parser.ast import ShowKind, Stage
from penstock.server.engine_protocol import QUERY_COLUMNS, REASON_COLUMNS, Refusal
from penstock.server.postgres.messages import MAX_PARAMETERS
from penstock.server.postgres.named_relations import (
    list_relations,
    list_relations_without_select,
    read_name,
    says_stream,
)
from penstock.server.postgres.probing import Probe
from penstock.server.postgres.run_calls import RunCall, find_probed, find_run_calls
from penstock.server.postgres.tokens import Lexeme, Part, split_statements

CHANGES_HINT = "read the changes of a table from GET /v1/tables/{name}/changes"
ALONE_HINT = "send the statements of Penstock in a message of their own"

_STAGES = {stage.value.lower() for stage in Stage} | {"why"}
_LISTED = {kind.value.lower() for kind in ShowKind}
_VERBS = (
    *("create", "drop", "pause", "resume", "show", "describe", "explain", "insert", "update", "delete"),
    *("stream", "penstock"),
)
_TRANSACTIONS = ("begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release")
# A long text has to have one of these as well: to split a megabyte into tokens takes a third of a second.
_MARKS = ("stream", "penstock", "connector", "replace", "query", "pause", "resume", "show", "describe", "explain")
_LONG = 1 << 16
_CALLS = 100
"""The most calls of penstock.run in one statement.

They are asked one after the other, also if the client does not wait.
"""
_READ = 20_000
"""Tokens of a statement that decide whose it is. A longer one is refused by the engine (V017), or is PostgreSQL's."""


@dataclass(frozen=True, slots=True)
class OwnStatement:
    """A statement of Penstock in a message."""

    text: str
    start: int
    """The place of its first character in the message, from 0."""
    columns: tuple[str, ...]
    """The columns of its answer, as far as they are known without asking; none if it answers with no rows."""


@dataclass(frozen=True, slots=True)
class OwnStatements:
    """All statements of the message are Penstock's."""

    statements: tuple[OwnStatement, ...]
    parameters: bool
    """Whether one of them has a parameter such as $1."""
    before: str
    after: str
    """The parts of the message in front and behind, which begin and end transactions."""


@dataclass(frozen=True, slots=True)
class RunCalls:
    """One statement of PostgreSQL that calls penstock.run."""

    calls: tuple[RunCall, ...]
    parameters: int
    """The number of its last parameter."""
    is_copy: bool
    """A COPY takes no parameters, whoever gives them."""
    before: str
    after: str
    """As of OwnStatements."""
    probe: Probe | None = None
    """What tells which of the calls are carried out. None if all of them are."""


@dataclass(frozen=True, slots=True)
class RefusedMessage:
    """The message is refused. The position is a character of the message."""

    refusal: Refusal


Verdict = OwnStatements | RunCalls | RefusedMessage


class Owner(Enum):
    """Whose a statement is. Nobody takes a SELECT STREAM."""

    PENSTOCK = "Penstock"
    POSTGRES = "PostgreSQL"
    NOBODY = "nobody"


def classify(text: str, relations: Collection[str]) -> Verdict | None:
    """What the relay does with a message; None if it goes to PostgreSQL as it is.

    `relations`: the names of all relations of Penstock, in lower case.
    """
    if not may_be_penstock(text, relations):
        return None
    statements = split_statements(text)
    if not statements:
        return None
    owners = [find_owner(tokens[:_READ], relations) for tokens in statements]
    own = [tokens for tokens, owner in zip(statements, owners, strict=True) if owner is not Owner.POSTGRES]
    if Owner.NOBODY in owners:
        start = statements[owners.index(Owner.NOBODY)][0].start
        return _refused("SELECT STREAM has no end, and this connection waits for one", CHANGES_HINT, start)
    inner = _without_transactions(statements)
    before = text[: inner[0][0].start] if inner and inner[0] is not statements[0] else ""
    after = text[inner[-1][-1].end :] if inner and inner[-1] is not statements[-1] else ""
    if not own:
        calls = [call for tokens in statements for call in find_run_calls(tokens, text)]
        if not calls:
            return None
        if len(calls) > _CALLS:
            message = f"a message calls penstock.run {len(calls):,} times, and {_CALLS} are the limit"
            return _refused(message, "send several statements", calls[_CALLS].start)
        if len(inner) == 1:
            last = max((int(token.text) for token in inner[0] if token.part is Part.PARAMETER), default=0)
            is_copy = inner[0][0].is_word("copy")
            if last > MAX_PARAMETERS:
                return None
            place = find_probed(inner[0], calls)
            probe = None if place is None else Probe(text[place[0] : place[1]], place[0], tuple(calls))
            return RunCalls(tuple(calls), last, is_copy, before, after, probe)
        return _refused("a message with penstock.run has other statements as well", ALONE_HINT, calls[0].start)
    if len(own) < len(inner):
        message = "a message has statements of Penstock and of PostgreSQL"
        return _refused(message, ALONE_HINT, own[0][0].start)
    parameters = any(token.part is Part.PARAMETER for tokens in own for token in tokens)
    return OwnStatements(tuple(_found(text, tokens) for tokens in own), parameters, before, after)


def _without_transactions(statements: Sequence[Sequence[Lexeme]]) -> Sequence[Sequence[Lexeme]]:
    """The statements without the ones at both ends that begin and end transactions.

    psqlODBC sends BEGIN and SAVEPOINT in one message with the statement of its user, and a FETCH behind a DECLARE.
    """
    first, last = 0, len(statements)
    while first < last and statements[first][0].is_word(*_TRANSACTIONS):
        first += 1
    while first < last and statements[last - 1][0].is_word(*_TRANSACTIONS, "fetch"):
        last -= 1
    return statements[first:last]


def may_be_penstock(text: str, relations: Collection[str]) -> bool:
    """False only for texts in which nothing can be Penstock's. Cheap: nearly every SELECT ends here."""
    lower = text.lower()
    if not any(verb in lower for verb in _VERBS):
        return False
    return len(text) < _LONG or any(mark in lower for mark in _MARKS) or any(name in lower for name in relations)


def find_owner(tokens: Sequence[Lexeme], relations: Collection[str]) -> Owner:
    """Whose one statement is."""
    if tokens[0].part is not Part.WORD:
        opened = tokens[0].text == "("
        return Owner.NOBODY if opened and says_stream(tokens, relations) else Owner.POSTGRES
    word = tokens[0].text
    match word:
        case "pause" | "resume" | "describe":
            return Owner.PENSTOCK
        case "show":
            is_create = _words(tokens, 1) & {"create"} and len(tokens) > 2
            return _penstock_if(is_create or (len(tokens) == 2 and _words(tokens, 1) & _LISTED))
        case "drop":
            return _penstock_if(_owns_drop(tokens, relations))
        case "create":
            return _penstock_if(_owns_create(tokens, relations))
        case "insert" | "update" | "delete":
            return _penstock_if(_owns_change(tokens, relations))
        case "explain":
            return _penstock_if(_owns_explain(tokens, relations))
        case "select" | "with":
            return Owner.NOBODY if says_stream(tokens, relations) else Owner.POSTGRES
        case _:
            return Owner.POSTGRES


def find_columns(tokens: Sequence[Lexeme]) -> tuple[str, ...]:
    """The columns that a statement of Penstock answers with."""
    match tokens[0].text:
        case "explain":
            return REASON_COLUMNS if _words(tokens, 1) & {"why"} else ("plan",)
        case "describe":
            return ("column", "type", "role")
        case "show":
            return _SHOWN[tokens[1].text]
        case _:
            return ()


_SHOWN = {
    **dict.fromkeys(("streams", "tables", "views"), ("name", "columns")),
    "queries": QUERY_COLUMNS,
    "functions": ("name", "what it gives"),
    "create": ("statement",),
}


def _found(text: str, tokens: Sequence[Lexeme]) -> OwnStatement:
    start = tokens[0].start
    return OwnStatement(text[start : tokens[-1].end], start, find_columns(tokens))


def _refused(message: str, hint: str, start: int) -> RefusedMessage:
    return RefusedMessage(Refusal("", "0A000", message, hint=hint, position=start + 1))


def _penstock_if(condition: object) -> Owner:
    return Owner.PENSTOCK if condition else Owner.POSTGRES


def _words(tokens: Sequence[Lexeme], *places: int) -> set[str]:
    """The words at these places, without quoted names."""
    return {tokens[at].text for at in places if at < len(tokens) and tokens[at].part is Part.WORD}


def _skip(tokens: Sequence[Lexeme], at: int, *words: str) -> int:
    """The place behind these words, or the same place if they are not there."""
    end = at + len(words)
    there = [token.text for token in tokens[at:end] if token.part is Part.WORD]
    return end if there == list(words) else at


def _owns_drop(tokens: Sequence[Lexeme], relations: Collection[str]) -> bool:
    kind = _words(tokens, 1)
    if kind & {"stream", "query"}:
        return True
    return bool(kind & {"table", "view"}) and read_name(tokens, _skip(tokens, 2, "if", "exists")).name in relations


def _owns_create(tokens: Sequence[Lexeme], relations: Collection[str]) -> bool:
    at = _skip(tokens, 1, "or", "replace")
    replace = at > 1
    kind = _words(tokens, at)
    if kind & {"stream"}:
        return True
    if kind & {"view"}:
        return says_stream(tokens, relations)
    if not kind & {"table"}:
        return False  # TEMP, UNLOGGED and other kinds of tables are PostgreSQL's
    body = tokens[read_name(tokens, _skip(tokens, at + 1, "if", "not", "exists")).end :]
    query = _query_behind_as(body)
    options = body[: len(body) - len(query)]
    if replace or _names_connector(options) or says_stream(query, relations):
        return True
    return bool(list_relations(query, relations) or list_relations_without_select(query, relations))


def _query_behind_as(tokens: Sequence[Lexeme]) -> Sequence[Lexeme]:
    """What follows the AS outside of brackets; nothing if there is none."""
    depth = 0
    for at, token in enumerate(tokens):
        depth += token.opens
        if depth == 0 and token.is_word("as"):
            return tokens[at + 1 :]
    return ()


def _names_connector(tokens: Sequence[Lexeme]) -> bool:
    """Whether there is a WITH (… connector = …)."""
    depth = 0
    inside = False
    for at, token in enumerate(tokens):
        depth += token.opens
        if depth == 0:
            inside = token.is_word("with")
        elif inside and depth == 1 and token.text == "connector" and tokens[at + 1].is_sign("="):
            return True
    return False


def _owns_change(tokens: Sequence[Lexeme], relations: Collection[str]) -> bool:
    word = tokens[0].text
    at = {"insert": _skip(tokens, 1, "into"), "delete": _skip(tokens, 1, "from"), "update": 1}[word]
    if read_name(tokens, _skip(tokens, at, "only")).name in relations:
        return True
    if word == "insert":
        return says_stream(tokens, relations)
    streamed = [
        read_name(tokens, place + 2).name
        for place in range(at, len(tokens))
        if _words(tokens, place) & {"from", "using"} and _words(tokens, place + 1) & {"stream"}
    ]
    return any(name in relations for name in streamed)


def _owns_explain(tokens: Sequence[Lexeme], relations: Collection[str]) -> bool:
    tokens = tokens[next((at for at, token in enumerate(tokens) if not token.is_word("explain")), len(tokens)) - 1 :]
    if _words(tokens, 1) & _STAGES:
        return True
    if len(tokens) == 1 or tokens[1].part is not Part.WORD:
        return False
    return find_owner(tokens[1:], relations) is not Owner.POSTGRES
