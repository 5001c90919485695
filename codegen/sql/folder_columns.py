"""Folders such as `day=2026-01-01` -> Spark SQL for the values that they have for columns, as other systems read them.

All of it is one expression, which is computed for files below such a folder alone. Lambdas bind what is used twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

from sqlglot import exp

from penstock.codegen.sql.read_values import convert, misfits
from penstock.codegen.sql.trees import call, column, function, is_null, number, only_if, struct_of, text
from penstock.planner.plan import Expression
from penstock.planner.types import BINARY, Array, Map, Struct, Type

FOLDER = "_folder"
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What Hive, Spark and Flink write for NULL."""
_ESCAPED = r"[\x00-\x1f\x7f\"#%'*/:=?\\{[\]^]"
"""What they escape in names of folders."""
_VALUE, _WRONG = "value", "wrong"


@dataclass(frozen=True, slots=True)
class FolderColumns:
    """The columns that folders may have values of, with their numbers as fields.

    Their types are types that a text can have.
    """

    columns: tuple[tuple[str, Type], ...]

    def read(self) -> Expression:
        """A struct for the path in `_file`; NULL, or a field NULL, where no folder is for any, or for this column."""
        is_there = call("CONTAINS", column("_file"), text("="))
        fields = [(f"c{place}", _read(name, type_)) for place, (name, type_) in enumerate(self.columns)]
        found = _bind(_decode(column("_file")), "path", lambda _: _bind_keys(struct_of(fields)))
        return only_if(is_there, found)

    def fill(self, name: str, own: Expression) -> Expression:
        """The value of a column whose record has a value of its `own`, or NULL."""
        return call("COALESCE", own.copy(), self._part(name, _VALUE)) if name in dict(self.columns) else own

    def is_against(self, own: Sequence[tuple[str, Expression]]) -> Expression | None:
        """Whether a text is no value of its column, or the record has another one; None without columns.

        `own`: the values of the record, by column.
        """
        if not self.columns:
            return None
        problems: list[Expression] = []
        for name, value in own:
            if name in dict(self.columns):
                problems += [
                    self._part(name, _WRONG),
                    exp.NEQ(this=value.copy(), expression=self._part(name, _VALUE)),
                ]
        known = [call("COALESCE", each, exp.Boolean(this=False)) for each in problems]
        any_ = reduce(lambda left, right: exp.Or(this=left, expression=right), known)
        return exp.And(this=exp.Not(this=is_null(column(FOLDER))), expression=exp.Paren(this=any_))

    def _part(self, name: str, part: str) -> Expression:
        place = [each for each, _ in self.columns].index(name)
        return _field(_field(column(FOLDER), f"c{place}"), part)


def choose_columns(columns: Sequence[tuple[str, Type]]) -> FolderColumns:
    """Chooses the columns whose types a text can have."""
    kept = [each for each in columns if each[1] != BINARY and not isinstance(each[1], Array | Map | Struct)]
    return FolderColumns(tuple(kept))


def _read(name: str, type_: Type) -> Expression:
    """The value by the folder of a column, and whether its text is not a value.

    As in CSV, it has to be one of the type.
    """
    escaped = re.sub(_ESCAPED, lambda sign: f"%{ord(sign[0]):02X}", name)
    spellings = sorted({name.lower(), escaped.lower()})
    keys = [call("CONTAINS", column("keys"), text(f"/{each}=")) for each in spellings]
    is_there = reduce(lambda left, right: exp.Or(this=left, expression=right), keys)
    pattern = f"(?i)^.*/(?:{'|'.join(map(_quote_pattern, spellings))})=([^/]*)/"
    found = call("REGEXP_EXTRACT", column("path"), text(pattern), number(1))
    given = exp.Column(this=exp.to_identifier("given", quoted=True))
    misfit = misfits(given, type_, "csv") or exp.Boolean(this=False)
    parts = [(_VALUE, convert(given, type_, "csv")), (_WRONG, misfit)]
    read = _bind(found, "found", lambda raw: _bind(_without_escapes(raw), "given", lambda _: struct_of(parts)))
    return only_if(is_there, read)


def _bind_keys(body: Expression) -> Expression:
    return _bind(call("LOWER", column("path")), "keys", lambda _: body)


def _bind(value: Expression, name: str, body: Callable[[Expression], Expression]) -> Expression:
    """The body with a name for a value, which is computed once."""
    bound = function(name, body=lambda parameter: body(column(parameter)))
    return call("GET", call("TRANSFORM", call("ARRAY", value), bound), number(0))


def _without_escapes(raw: Expression) -> Expression:
    """What the text of a folder stands for; NULL for none."""
    return call("NULLIF", call("NULLIF", _decode(raw), text("")), text(_NO_VALUE))


def _decode(value: Expression) -> Expression:
    """A text without escapes such as `%3A`. The function that decodes would take `+` for a space."""
    decoded = call("TRY_URL_DECODE", call("REPLACE", value.copy(), text("+"), text("%2B")))
    has_escapes = call("CONTAINS", value.copy(), text("%"))
    return exp.Case(ifs=[exp.If(this=has_escapes, true=call("COALESCE", decoded, value.copy()))], default=value.copy())


def _quote_pattern(name: str) -> str:
    """A regular expression of Java's that matches a text."""
    return re.sub(r"[^\w]", lambda sign: f"\\x{{{ord(sign[0]):x}}}", name)


def _field(value: Expression, name: str) -> Expression:
    return exp.Dot(this=value, expression=exp.Identifier(this=name, quoted=True))
