"""Statements of other systems -> Penstock's spelling, as far as their tokens decide it."""

from __future__ import annotations

from penstock.planner.connectors import CONNECTORS
from penstock.translate.declaration import WATERMARK, Declaration, read_declaration, read_options
from penstock.translate.foreign_statement import Foreign
from penstock.translate.foreign_types import find_digits
from penstock.translate.model import Known, NotTranslatedError, Rewritten, System
from penstock.translate.place_options import PlaceOptions, find_place
from penstock.translate.rewrite_query import rewrite_query
from penstock.translate.session_statements import check_end, is_about_session

_NAMES_OF_KSQLDB = (
    "ksqlDB writes names without quotes in capitals; here they are written as the script has them",
    "ksqlDB writes columns of keys into the keys of messages alone, and windows as bytes behind them; here a stream "
    "has them in the values, too, unless it is declared with key_format, and windows are columns of the key",
)
_KINDS = {System.FLINK: ("TABLE",), System.KSQLDB: ("STREAM", "TABLE"), System.SPARK: ("TABLE",)}
_HOMES = {
    System.FLINK: "Flink writes the rows to a connector",
    System.KSQLDB: "ksqlDB writes the rows to a topic",
    System.SPARK: "Spark writes the rows to its warehouse",
}
_OWN = frozenset(connector.name for connector in CONNECTORS)
REFUSED = {
    "ALTER": "what is declared cannot be altered: change the script, as docs/semantics/script-changes.md allows",
    "PRINT": "a SELECT STREAM shows the rows of a stream",
    "TERMINATE": "DROP QUERY, or Ctrl-C, ends a query",
    "MERGE": "UPDATE … FROM … ELSE INSERT writes rows by their key",
    "LIST": "SHOW STREAMS and SHOW TABLES name what is declared",
    "ASSERT": "penstock check says whether a script is right",
    "DEFINE": "the shell that calls penstock has variables",
}


def rewrite(statement: Foreign, system: System, known: Known) -> Rewritten | None:
    """The statement in Penstock's spelling, None if it is left out. Raises NotTranslatedError."""
    word = statement.word(0)
    if is_about_session(statement):
        check_end(statement)
        return None
    if word in REFUSED:
        raise NotTranslatedError(REFUSED[word])
    declared = read_declaration(statement, _KINDS[system])
    if declared is not None:
        return _rewrite_declaration(statement, *declared, system, known)
    return rewrite_query(statement, system, known)


def _rewrite_declaration(
    statement: Foreign, declaration: Declaration, place: int, system: System, known: Known
) -> Rewritten:
    as_ = _read_clauses(statement, place, declaration)
    query = ""
    changes: tuple[str, ...] = ()
    if as_ < len(statement):
        behind = Foreign(statement.text, statement.tokens[as_ + 1 :])
        rewritten = rewrite_query(behind, system, known)
        query, changes = rewritten.sql, rewritten.changes
    is_own = declaration.options.get("connector") in _OWN and not any("-" in name for name in declaration.options)
    if query and is_own:
        return Rewritten(f"{statement.slice(0, as_ + 1)} {query}", changes)
    if query and not declaration.columns:
        return _rewrite_derived(declaration, query, changes, system)
    if query:
        raise NotTranslatedError("columns before AS SELECT have no place: name them in the SELECT list")
    _choose_kind(declaration, system)
    _drop_processing_times(declaration, known)
    edited = _edit_computed(statement, declaration, system, known)
    found = find_place(system, declaration)
    if len(declaration.key) == 0 and declaration.kind == "TABLE":
        raise NotTranslatedError("a table has a key: write PRIMARY KEY behind its column, or CREATE STREAM")
    known.digits |= find_digits(type_ for _, type_ in declaration.columns)
    changes = (*declaration.list_changes(), *edited, *found.changes)
    return Rewritten(declaration.write(found.options), changes, declaration.write(found.checked))


def _edit_computed(statement: Foreign, declaration: Declaration, system: System, known: Known) -> list[str]:
    """Writes the expressions of computed columns and of the watermark anew, and says what is changed."""
    changes: list[str] = []
    for number, (name, text) in enumerate(declaration.computed):
        rewritten = (
            _edit_part(statement, declaration.places[name], system, known) if name in declaration.places else None
        )
        declaration.computed[number] = (name, rewritten.sql if rewritten else text)
        changes += rewritten.changes if rewritten else ()
    if WATERMARK in declaration.places:
        rewritten = _edit_part(statement, declaration.places[WATERMARK], system, known)
        declaration.watermark = rewritten.sql
        changes += rewritten.changes
    return changes


def _edit_part(statement: Foreign, place: tuple[int, int], system: System, known: Known) -> Rewritten:
    first, end = place
    return rewrite_query(Foreign(statement.text, statement.tokens[first:end]), system, known)


def _rewrite_derived(declaration: Declaration, query: str, changes: tuple[str, ...], system: System) -> Rewritten:
    """CREATE … AS SELECT."""
    if any(name in declaration.options for name in ("connector", "kafka_topic", "path", "subscribe")):
        place = find_place(system, declaration)
        place.changes.extend(_NAMES_OF_KSQLDB if system is System.KSQLDB else ())
    else:
        dropped = f"; options are left out: {', '.join(declaration.options)}" if declaration.options else ""
        home = [f"{_HOMES[system]}; here rows are kept in memory unless WITH names a place{dropped}"]
        place = PlaceOptions([], [], home if system is System.KSQLDB or dropped else [])
    declaration.query = query
    told = (*declaration.changes, *place.changes, *changes)
    return Rewritten(declaration.write(place.options), told, declaration.write(place.checked))


def _read_clauses(statement: Foreign, place: int, declaration: Declaration) -> int:
    """What follows the columns, up to AS or the end."""
    while place < len(statement) and statement.word(place) != "AS":
        match statement.word(place):
            case "WITH" | "OPTIONS" | "TBLPROPERTIES" if statement.sign(place + 1) == "(":
                declaration.options.update(read_options(statement, place + 1))
                place = statement.close(place + 1) + 1
            case "USING":
                declaration.options["using"] = statement.value(place + 1)
                place += 2
            case "LOCATION":
                declaration.options["path"] = statement.value(place + 1)
                place += 2
            case "COMMENT":
                place += 2
            case "PARTITIONED" | "CLUSTERED":
                raise NotTranslatedError(
                    "PARTITIONED BY has no place: folders such as day=2026-01-01 are read without it"
                )
            case word:
                sign = word or statement.slice(place, place + 1)
                raise NotTranslatedError(f"{sign} has no place in a declaration, or a semicolon is missing before it")
    return place


def _choose_kind(declaration: Declaration, system: System) -> None:
    """A table of Flink or Spark without a primary key is a stream."""
    if declaration.kind == "TABLE" and not declaration.key and system is not System.KSQLDB:
        declaration.kind = "STREAM"
        declaration.changes.append(f"a table of {system.title} without a primary key is a stream: CREATE STREAM")


def _drop_processing_times(declaration: Declaration, known: Known) -> None:
    """Takes out columns that are PROCTIME()."""
    for name, text in [*declaration.computed]:
        if text.upper().replace(" ", "") == "PROCTIME()":
            declaration.computed.remove((name, text))
            known.processing_times.add(name.lower())
            declaration.changes.append(f"the processing time {name} is no column: a lookup joins the table as it is")
