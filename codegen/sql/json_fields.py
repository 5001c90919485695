"""A record of JSON -> which of the declared fields it has, as bits, and its names where it lacks some.

A declared name that no record has makes a column of NULLs, which nothing else would tell. Whether records have a field
is observed once for each micro-batch: the bits of all records together, and the names of one record that lacks a field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce

from sqlglot import exp

from penstock.codegen.record_parsing import BITS, HAVE, NAMES, RECORDS, WATCHED, FieldWatch, Path
from penstock.codegen.sql.json_text import java_literal
from penstock.codegen.sql.printing import print_inline
from penstock.codegen.sql.trees import alias, call, cast, column, either, is_null, number, only_if, struct_of, text
from penstock.planner.plan import Expression
from penstock.planner.types import BIGINT, Struct, Type

_LACKING = "lacking"
_LONGEST = 1 << 16
"""A record of more bytes is not looked at for its names."""
_STRING_VALUE = r'(?s)\G((?:[^"]++|"(?:[^"\\]++|\\.)*+"\s*+:)*+)"(?:[^"\\]++|\\.)*+"'
_NUMBER_VALUE = r'(?s)\G((?:[^"0-9-]++|-(?![0-9])|"(?:[^"\\]++|\\.)*+")*+)-?[0-9][0-9.eE+-]*+'


def watch_fields(
    fields: Sequence[tuple[str, Type]],
    record: Expression,
    written: Expression,
    malformed: Expression,
    given: Mapping[str, Expression],
) -> FieldWatch:
    """What is observed of records. `record` is the struct of the fields, and `written` its text.

    `given`: values that columns have from elsewhere, by column. A column that has one lacks nothing.

    `malformed` is a column beside the items, NULL for a sound record.
    """
    paths = (*_list_paths(fields),)
    words = [paths[start : start + BITS] for start in range(0, len(paths), BITS)]
    names = [f"{HAVE}{place}" for place, _ in enumerate(words)]
    is_short = exp.LTE(this=call("OCTET_LENGTH", written.copy()), expression=number(_LONGEST))
    found = struct_of(
        [
            *((name, _find_bits(each, record, written, given)) for name, each in zip(names, words, strict=True)),
            (_LACKING, only_if(is_short, written)),
        ]
    )
    item = alias(only_if(exp.Not(this=is_null(record)), found), WATCHED)
    sound = [only_if(is_null(malformed.copy()), column(WATCHED, name)) for name in names]
    full = [(exp.Literal.number((1 << len(each)) - 1), of) for each, of in zip(words, sound, strict=True)]
    lacks = _balance(_or, [exp.LT(this=of.copy(), expression=bits) for bits, of in full])
    skeleton = call("MIN", only_if(lacks, column(WATCHED, _LACKING)))
    for pattern in (_STRING_VALUE, _NUMBER_VALUE):
        skeleton = call("REGEXP_REPLACE", skeleton, text(pattern), text("$10"))
    metrics = [(name, call("BIT_OR", of.copy())) for name, of in zip(names, sound, strict=True)]
    metrics += [(RECORDS, call("COUNT", sound[0].copy())), (NAMES, skeleton)]
    return FieldWatch(paths, print_inline(item), tuple((name, print_inline(each)) for name, each in metrics))


def _list_paths(fields: Sequence[tuple[str, Type]], above: Path = ()) -> Iterator[Path]:
    """The fields, and the fields within structs. What is within arrays and maps is not looked at."""
    for name, type_ in fields:
        yield (*above, name)
        if isinstance(type_, Struct):
            yield from _list_paths(type_.fields, (*above, name))


def _find_bits(
    paths: Sequence[Path], record: Expression, written: Expression, given: Mapping[str, Expression]
) -> Expression:
    """The number whose bits say which of the fields the record has.

    A field is there if it has a value, or if its name stands before a `null`. The latter may belong to another object.
    """
    bits: list[Expression] = []
    for place, path in enumerate(paths):
        value = reduce(lambda of, name: exp.Dot(this=of, expression=_identifier(name)), path, record.copy())
        has_name = call("CONTAINS", written.copy(), text(f'"{path[-1]}"'))
        is_null_there = exp.RegexpLike(
            this=written.copy(), expression=text(rf'"{java_literal(path[-1])}"\s*+:\s*+null')
        )
        is_there = _or(exp.Not(this=is_null(value)), exp.And(this=has_name, expression=is_null_there))
        if len(path) == 1 and path[0] in given:
            is_there = _or(is_there, exp.Not(this=is_null(given[path[0]].copy())))
        bits.append(either(is_there, cast(exp.Literal.number(1 << place), BIGINT), cast(number(0), BIGINT)))
    return _balance(lambda left, right: exp.BitwiseOr(this=left, expression=right), bits)


def _balance(join: Callable[[Expression, Expression], Expression], parts: Sequence[Expression]) -> Expression:
    """All parts, joined as a tree that is as low as it can be: printing recurses."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return exp.Paren(this=join(_balance(join, parts[:half]), _balance(join, parts[half:])))


def _or(left: Expression, right: Expression) -> Expression:
    return exp.Or(this=left, expression=right)


def _identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)
