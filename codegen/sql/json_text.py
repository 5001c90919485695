"""A record of JSON -> the same record, with its fields named and written as its columns ask for.

Spark's parser takes a field for a column only if both names are the same to the letter. It also writes numbers, objects
and arrays in a way of its own where a STRING takes them: 1.10 becomes 1.1, and 1E400 the word Infinity in quotes. So a
record that has such a field is written anew and parsed once more. The field then has the name of its column, and its
own text as a JSON string. The first look at a record tells cheaply whether that is needed; most records do not need it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from sqlglot import exp

from penstock.codegen.sql.trees import both, call, column, either, function, is_null, number, only_if, text
from penstock.planner.plan import Expression
from penstock.planner.types import STRING, Array, Map, Struct, Type

Fields = Sequence[tuple[str, Type]]

DEPTH = 32
"""How deeply the objects and arrays of a record may be nested that is written anew, the record itself included."""

_STRING = r'"(?:[^"\\]++|\\.)*+"'


# They find parts of what is known to be JSON, so they need not refuse anything. `(?s)`: a dot stands for any character.
_OPENED, _CLOSED = rf'(?:\[|\{{)(?:[^"\[\]{{}}]++|{_STRING}', r")*+[\]}]"
_BARE = r'[^\s,:"\[\]{}]++'
_NAME = r'(?s)^"((?:[^"\\]++|\\.)*+)"'
_BEFORE_VALUE = rf"(?s)^{_STRING}\s*+:\s*+"
# What Spark's parser may write in another way, as it begins in the record.
_REWRITTEN = r"(?:[\[{NI]|[+-]I|-0|-?[0-9]++[.eE])"


def needs_rewrite(fields: Fields, first: Expression, value: Expression) -> Expression:
    """Whether the record `value` has to be written anew. `first` is the struct that the first look at it has found."""
    names = _names_pattern(fields)
    conditions = [] if names is None else [_both(_any_null(fields, first, 0), _matches(value, names))]
    for name, type_ in fields:
        strings = [*_list_strings(_field(first, name), type_, 0)]
        if type_ == STRING:
            pattern = rf'(?:"{java_literal(name)}"|\\u[^"]*+")\s*+:\s*+{_REWRITTEN}'
            contained = call("CONTAINS", value.copy(), call("CONCAT", text(f'"{name}":'), _field(first, name)))
            is_own = exp.And(this=_is_nested_text(_field(first, name)), expression=contained)
            conditions.append(_both(*strings, exp.Not(this=exp.Paren(this=is_own)), _matches(value, pattern)))
        elif strings:
            conditions.append(_both(_any(strings), _matches(value, rf"[:\[,]\s*+{_REWRITTEN}")))
    return call("COALESCE", _any(conditions), exp.Boolean(this=False)) if conditions else exp.Boolean(this=False)


def rewrite(fields: Fields, value: Expression) -> Expression:
    """The record, written anew.

    It is NULL if it is nested more deeply than `DEPTH`, or if several of its fields could be the same column.
    """
    is_whole = exp.RegexpLike(this=value.copy(), expression=_pattern(r"(?s)^\s*+", r"\s*+$"))
    return only_if(is_whole, _rewrite_object(value, dict(fields), None, 0))


def read_raw(value: Expression, name: str) -> Expression:
    """What stands in the record for the column of this name; NULL if nothing does."""
    pattern = _pattern(rf"(?s){_STRING}\s*+:\s*+(?:{_STRING}|", f"|{_BARE})")
    pairs = call("REGEXP_EXTRACT_ALL", value.copy(), pattern, number(0))

    def is_it(pair: Expression) -> Expression:
        return exp.EQ(this=call("LOWER", _name_of(pair)), expression=text(name.lower()))

    last = call("TRY_ELEMENT_AT", _each("FILTER", pairs, "w0", is_it), number(-1))
    return call("REGEXP_REPLACE", last, text(_BEFORE_VALUE), text(""))


def _rewrite(value: Expression, type_: Type, depth: int) -> Expression:
    """The text of a value as a value of the type asks for it."""
    match type_:
        case Struct():
            written = _rewrite_object(value, dict(type_.fields), None, depth)
            return either(call("STARTSWITH", value.copy(), text("{")), written, value.copy())
        case Map():
            written = _rewrite_object(value, {}, type_.value, depth)
            return either(call("STARTSWITH", value.copy(), text("{")), written, value.copy())
        case Array():
            items = call(
                "REGEXP_EXTRACT_ALL",
                call("SUBSTR", value.copy(), number(2)),
                _pattern(f"(?s){_STRING}|", f"|{_BARE}"),
                number(0),
            )
            items = _each("TRANSFORM", items, f"i{depth}", lambda item: _rewrite(item, type_.element, depth + 1))
            written = call("CONCAT", text("["), call("ARRAY_JOIN", items, text(",")), text("]"))
            return either(call("STARTSWITH", value.copy(), text("[")), written, value.copy())
    if type_ != STRING:
        return value
    return either(_matches(value, r"^[-+0-9IN\[{]"), _quote(value), value.copy())


def _rewrite_object(value: Expression, fields: dict[str, Type], item: Type | None, depth: int) -> Expression:
    """`fields`: the types of its fields by name. `item`: for a map, the type of all of its values."""

    def write(pairs: Expression) -> Expression:
        names = _each("TRANSFORM", pairs, f"p{depth}", _name_of)
        values = _each(
            "TRANSFORM", pairs, f"p{depth}", lambda pair: call("REGEXP_REPLACE", pair, text(_BEFORE_VALUE), text(""))
        )
        named = names if item is not None else _let(names, f"n{depth}", lambda found: _rename(found, fields, depth))
        written = function(f"f{depth}", f"v{depth}", body=lambda name, of: _write_pair(column(name), column(of)))
        return call("ARRAY_JOIN", call("ZIP_WITH", named, values, written), text(","))

    def _write_pair(name: Expression, of: Expression) -> Expression:
        return call("CONCAT", _quote(name), text(":"), _write_value(name, of))

    def _write_value(name: Expression, of: Expression) -> Expression:
        if item is not None:
            return _rewrite(of, item, depth + 1) if _is_written(item) else of
        known = [(each, type_) for each, type_ in fields.items() if _is_written(type_)]
        ifs = [
            exp.If(this=exp.EQ(this=name.copy(), expression=text(each)), true=_rewrite(of.copy(), type_, depth + 1))
            for each, type_ in known
        ]
        return exp.Case(ifs=ifs, default=of) if ifs else of

    pairs = call(
        "REGEXP_EXTRACT_ALL", value.copy(), _pattern(rf"(?s){_STRING}\s*+:\s*+(?:{_STRING}|", f"|{_BARE})"), number(0)
    )
    return call("CONCAT", text("{"), _let(pairs, f"o{depth}", write), text("}"))


def _name_of(pair: Expression) -> Expression:
    """The name before a value, without escapes."""
    name = call("REGEXP_EXTRACT", pair, text(_NAME), number(1))
    in_list = call("CONCAT", text('["'), name.copy(), text('"]'))
    without = call("GET", call("FROM_JSON", in_list, text("ARRAY<STRING>")), number(0))
    return either(call("CONTAINS", name, text("\\")), without, name.copy())


def _rename(names: Expression, fields: dict[str, Type], depth: int) -> Expression:
    """The names as the columns have them; NULL if two names could be the same column.

    A field that has the name of a column to the letter is that column. Letters in another case are looked at only where
    there is no such field.
    """
    columns = {name.lower(): name for name in fields}

    def find(name: Expression) -> Expression:
        lower = call("LOWER", name.copy())
        ifs = [exp.If(this=text(folded), true=text(declared)) for folded, declared in columns.items()]
        return exp.Case(this=lower, ifs=ifs)

    def take(name: Expression) -> Expression:
        found = find(name)
        taken = call("ARRAY_CONTAINS", names.copy(), found.copy())
        return call("COALESCE", only_if(exp.Not(this=taken), found), name.copy())

    def is_doubtful(name: Expression) -> Expression:
        def could_be_it(other: Expression) -> Expression:
            is_like = exp.EQ(this=call("LOWER", other.copy()), expression=call("LOWER", name.copy()))
            return exp.And(this=is_like, expression=exp.NEQ(this=other.copy(), expression=name.copy()))

        is_renamed = exp.NEQ(this=take(name), expression=name.copy())
        return exp.And(this=is_renamed, expression=_each("EXISTS", names, f"e{depth}", could_be_it))

    doubtful = _each("EXISTS", names, f"d{depth}", is_doubtful)
    return only_if(exp.Not(this=doubtful), _each("TRANSFORM", names, f"t{depth}", take))


def _is_written(type_: Type) -> bool:
    """Whether something in a value of the type may have to be written anew."""
    match type_:
        case Struct():
            return True
        case Array():
            return _is_written(type_.element)
        case Map():
            return _is_written(type_.value)
    return type_ == STRING


def _pattern(before: str, behind: str) -> Expression:
    """A pattern with the pattern of an object or array in it. Spark makes it once, as it is long."""
    opened = call("REPEAT", text(f"{_OPENED}|"), number(DEPTH - 1))
    closed = call("REPEAT", text(_CLOSED), number(DEPTH - 1))
    return call("CONCAT", text(before), opened, text(_OPENED + _CLOSED), closed, text(behind))


def _quote(value: Expression) -> Expression:
    """The text as a JSON string."""
    return call("REGEXP_REPLACE", call("TO_JSON", call("ARRAY", value.copy())), text("^.|.$"), text(""))


def _names_pattern(fields: Fields) -> str | None:
    """Matches a name that differs from the name of a column in case alone. None if no column has letters."""
    spellings = sorted(set(_list_names(fields)), key=lambda name: (name.lower(), name))
    groups = [[*group] for _, group in groupby(spellings, key=str.lower)]
    groups = [group for group in groups if group[0].lower() != group[0].upper()]
    if not groups:
        return None
    # A name that a column here and another one there spell in two ways is always looked at.
    exact = [group[0] for group in groups if len(group) == 1]
    refused = f'(?!(?:{_any_name(exact)})")' if exact else ""
    first = "".join(sorted({java_literal(each) for group in groups for each in _cases(group[0][0])}))
    return rf'"(?=[{first}]){refused}(?iu:{_any_name([group[0] for group in groups])})"\s*+:'


def _cases(letter: str) -> set[str]:
    return {each for each in (letter.lower(), letter.upper(), letter) if len(each) == 1}


def _any_name(names: Sequence[str]) -> str:
    """A pattern for several names. Names that begin with the same letter are tried together."""
    groups = ((first, [*group]) for first, group in groupby(sorted(names), key=lambda name: name[0]))
    parts = ((java_literal(first), [java_literal(each[1:]) for each in group]) for first, group in groups)
    return "|".join(f"{first}(?:{'|'.join(rest)})" if len(rest) > 1 else first + rest[0] for first, rest in parts)


def _list_names(fields: Fields) -> Iterator[str]:
    """The names of all fields, including fields within fields."""
    for name, type_ in fields:
        yield name
        yield from _list_names(_fields_within(type_))


def _fields_within(type_: Type) -> Fields:
    match type_:
        case Struct():
            return type_.fields
        case Array():
            return _fields_within(type_.element)
        case Map():
            return _fields_within(type_.value)
    return ()


def _any_null(fields: Fields, value: Expression, depth: int) -> Expression:
    """Whether a field of a struct, or one within it, has not been found."""
    conditions = []
    for name, type_ in fields:
        field = _field(value, name)
        conditions.append(is_null(field))
        within = _null_within(type_, field, depth)
        conditions += [] if within is None else [within]
    return _any(conditions)


def _null_within(type_: Type, value: Expression, depth: int) -> Expression | None:
    match type_:
        case Struct():
            return _any_null(type_.fields, value, depth)
        case Array() | Map() if _fields_within(type_):
            item = type_.element if isinstance(type_, Array) else type_.value
            items = value.copy() if isinstance(type_, Array) else call("MAP_VALUES", value.copy())
            return _each("EXISTS", items, f"z{depth}", lambda x: _null_within(item, x, depth + 1) or is_null(x))
    return None


def _list_strings(value: Expression, type_: Type, depth: int) -> Iterator[Expression]:
    """For each STRING in a value: whether the first look has found a text that Spark may have written."""
    match type_:
        case Struct():
            for name, each in type_.fields:
                yield from _list_strings(_field(value, name), each, depth)
        case Array() | Map():
            item = type_.element if isinstance(type_, Array) else type_.value
            if [*_list_strings(value, item, depth)]:
                items = value.copy() if isinstance(type_, Array) else call("MAP_VALUES", value.copy())
                yield _each("EXISTS", items, f"s{depth}", lambda x: _any([*_list_strings(x, item, depth + 1)]))
        case _ if type_ == STRING:
            is_low = exp.LT(this=value.copy(), expression=text(":"))
            yield exp.Paren(this=exp.Or(this=is_low, expression=_is_nested_text(value)))


def _is_nested_text(value: Expression) -> Expression:
    """Whether a text begins as the text of an object or an array."""

    def between(low: str, high: str) -> Expression:
        above = exp.GTE(this=value.copy(), expression=text(low))
        return exp.And(this=above, expression=exp.LT(this=value.copy(), expression=text(high)))

    return exp.Paren(this=exp.Or(this=between("[", "\\"), expression=between("{", "|")))


def _let(value: Expression, name: str, body: Callable[[Expression], Expression]) -> Expression:
    """The body, over a value that is computed once."""
    return call("GET", _each("TRANSFORM", call("ARRAY", value), name, body), number(0))


def _each(of_all: str, values: Expression, name: str, body: Callable[[Expression], Expression]) -> Expression:
    return call(of_all, values.copy(), function(name, body=lambda given: body(column(given))))


def _any(conditions: Sequence[Expression]) -> Expression:
    first, *others = conditions
    for each in others:
        first = exp.Or(this=first, expression=each)
    return first if not others else exp.Paren(this=first)


def _both(*conditions: Expression) -> Expression:
    return both(*conditions) or exp.Boolean(this=True)


def _matches(value: Expression, pattern: str) -> Expression:
    return exp.RegexpLike(this=value.copy(), expression=text(pattern))


def _field(value: Expression, name: str) -> Expression:
    return exp.Dot(this=value.copy(), expression=exp.Identifier(this=name, quoted=True))


def java_literal(name: str) -> str:
    """A text as a regular expression of Java's that matches it."""
    return "".join(each if each.isalnum() else f"\\x{{{ord(each):x}}}" for each in name)
