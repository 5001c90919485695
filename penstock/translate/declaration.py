"""CREATE TABLE and CREATE STREAM with columns, as Flink, ksqlDB and Spark write them."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.translate.foreign_statement import Foreign
from penstock.translate.foreign_types import explain_types, rename_type
from penstock.translate.model import NotTranslatedError

# fmt: off
_MODIFIERS = frozenset({
    "METADATA", "NOT", "NULL", "PRIMARY", "KEY", "COMMENT", "DEFAULT", "CONSTRAINT", "HEADER", "HEADERS", "UNIQUE",
    "CHECK", "REFERENCES", "GENERATED", "VIRTUAL",
})
# fmt: on
WATERMARK = "WATERMARK FOR"


@dataclass(slots=True)
class Declaration:
    """What a statement declares. Texts are as in the statement. `options` have their values without quotes.

    `key`: the names in PRIMARY KEY. `computed`: columns that are expressions. `query`: the query of … AS SELECT.
    `not_null`: columns that are declared NOT NULL. `metadata`: what stands behind the types of METADATA columns.
    `places`: where the expressions of computed columns are, by their names, and where the watermark is. `changes`:
    what the translation does to the rest.
    """

    kind: str
    name: str
    or_replace: bool = False
    if_not_exists: bool = False
    columns: list[tuple[str, str]] = field(default_factory=list)
    key: list[str] = field(default_factory=list)
    watermark: str = ""
    computed: list[tuple[str, str]] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)
    query: str = ""
    not_null: list[str] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)
    places: dict[str, tuple[int, int]] = field(default_factory=dict)
    changes: list[str] = field(default_factory=list)

    def list_changes(self) -> list[str]:
        """What the columns mean otherwise, and what has been noted before."""
        return [*self.changes, *explain_types([type_ for _, type_ in self.columns])]

    def write(self, options: list[tuple[str, str]]) -> str:
        """The statement in Penstock's spelling, with these options."""
        word = "PRIMARY KEY" if self.kind == "TABLE" else "KEY"
        elements = []
        for name, type_ in self.columns:
            modifier = f" {word}" if name in self.key else " NOT NULL" if name in self.not_null else ""
            modifier = f" {self.metadata[name]}" if name in self.metadata else modifier
            elements.append(f"{name} {rename_type(type_)}{modifier}")
        elements += [f"{name} AS {text}" for name, text in self.computed]
        elements += [self.watermark] if self.watermark else []
        or_replace = "OR REPLACE " if self.or_replace else ""
        if_not_exists = "IF NOT EXISTS " if self.if_not_exists else ""
        head = f"CREATE {or_replace}{self.kind} {if_not_exists}{self.name}"
        body = f" ({', '.join(elements)})" if elements else ""
        place = f" WITH ({', '.join(f'{name} = {value}' for name, value in options)})" if options else ""
        return f"{head}{body}{place}" + (f" AS {self.query}" if self.query else "")


def read_declaration(statement: Foreign, kinds: tuple[str, ...]) -> tuple[Declaration, int] | None:
    """What a CREATE of one of these kinds declares up to its columns, and the place behind.

    None for other statements. Raises NotTranslatedError.
    """
    place = 1
    if statement.word(0) != "CREATE":
        return None
    or_replace = statement.says(place, "OR REPLACE") or statement.says(place, "OR REFRESH")
    place += 2 if or_replace else 0
    while statement.word(place) in ("TEMPORARY", "EXTERNAL", "STREAMING", "SOURCE"):
        place += 1
    kind = statement.word(place)
    if kind not in kinds:
        return None
    place += 1
    if_not_exists = statement.says(place, "IF NOT EXISTS")
    place += 3 if if_not_exists else 0
    end = place + 1
    while statement.sign(end) == ".":
        end += 2
    declaration = Declaration(kind, statement.slice(end - 1, end), or_replace, if_not_exists)
    if end > place + 1:
        declaration.changes.append(f"the name has no catalog: {declaration.name}")
    if statement.sign(end) == "(":
        closing = statement.close(end)
        for first, last in statement.split(end + 1, closing):
            read_element(statement, first, last, declaration)
        end = closing + 1
    return declaration, end


def read_element(statement: Foreign, first: int, end: int, declaration: Declaration) -> None:
    """One column, key or watermark. Raises NotTranslatedError."""
    if statement.says(first, "WATERMARK FOR"):
        declaration.watermark = statement.slice(first, end)
        declaration.places[WATERMARK] = (first, end)
        return
    if statement.word(first) == "CONSTRAINT":
        first += 2
    if statement.says(first, "PRIMARY KEY"):
        opening = first + 2
        declaration.key += [statement.slice(*each) for each in statement.split(opening + 1, statement.close(opening))]
        return
    name = statement.slice(first, first + 1)
    if statement.word(first + 1) == "AS":
        stop = next((p for p in range(first + 2, end) if statement.word(p) == "COMMENT"), end)
        declaration.computed.append((name, statement.slice(first + 2, stop)))
        declaration.places[name] = (first + 2, stop)
        return
    behind = first + 1
    while behind < end and statement.word(behind) not in _MODIFIERS:
        behind = min(statement.close(behind), end - 1) + 1 if statement.sign(behind) in ("<", "(") else behind + 1
    declaration.columns.append((name, statement.slice(first + 1, behind)))
    read_modifiers(statement, behind, end, name, declaration)


def read_modifiers(statement: Foreign, place: int, end: int, name: str, declaration: Declaration) -> None:
    """What follows the type of a column. Raises NotTranslatedError for what Penstock has no place for."""
    while place < end:
        match statement.word(place):
            case "PRIMARY":
                declaration.key.append(name)
                place += 4 if statement.says(place + 2, "NOT ENFORCED") else 2
            case "KEY":
                declaration.key.append(name)
                place += 1
            case "NOT":
                declaration.not_null.append(name)
                place += 2
            case "NULL":
                place += 1
            case "COMMENT":
                place += 2
            case "METADATA":
                begin = place
                place += 3 if statement.word(place + 1) == "FROM" else 1
                place += 1 if statement.word(place) == "VIRTUAL" else 0
                declaration.metadata[name] = statement.slice(begin, place)
            case word:
                raise NotTranslatedError(
                    f"{name} is declared with {word or statement.slice(place, place + 1)}, which has no place here: "
                    "write the value into a column of the record"
                )


def read_options(statement: Foreign, opening: int) -> dict[str, str]:
    """The options in brackets, names in lower case, values without quotes."""
    options = {}
    for first, end in statement.split(opening + 1, statement.close(opening)):
        equals = next((place for place in range(first, end) if statement.sign(place) == "="), first + 1)
        name = "".join(token.value for token in statement.tokens[first:equals]).lower()
        begin = equals + 1 if statement.sign(equals) == "=" else equals
        options[name] = "".join(token.value for token in statement.tokens[begin:end])
    return options
