"""Rows drawn by chance, from the values at which scripts change their mind.

These are the literals of scripts, the lengths of their intervals, and what lies beside these.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from random import Random
from types import MappingProxyType

from sqlglot import exp

from penstock.compilation import Compilation
from penstock.evaluator import Row, Value
from penstock.parser.ast import UNIT_MILLISECONDS
from penstock.planner.plan import Origin
from penstock.planner.plan.walk import walk
from penstock.planner.types import BIGINT, BOOLEAN, DATE, DOUBLE, INTEGERS, STRING, TIME, TIMESTAMP, Type
from penstock.planner.types import Decimal as DecimalType
from penstock.testing.given_values import START
from penstock.testing.script_relations import complete_row, list_stored
from penstock.testing.solved_values import WIDE

INTERVAL = re.compile(r"INTERVAL\s+'?(\d+)'?\s+([A-Z]+?)S?\b", re.IGNORECASE)
MILLISECOND = timedelta(milliseconds=1)
Values = dict[str, list[Value]]
"""The values that are drawn, by the kind of their type."""


def draw_row(origin: Origin, values: Values, chance: Random, known: Mapping[str, Value] = MappingProxyType({})) -> Row:
    """A row with the known values. Columns that must have a value have one."""
    needed = {origin.time, *origin.key, *(each.name for each in origin.columns if not each.nullable)}
    row: Row = {}
    for column in list_stored(origin):
        is_null = column.name not in needed and chance.random() < 0.15
        drawn = ["delete"] if column.name == origin.operation else values.get(kind_of(column.type))
        row[column.name] = None if is_null or not drawn else fit_value(chance.choice(drawn), column.type)
        if column.name == origin.operation and chance.random() < 0.5:
            row[column.name] = None
    return complete_row({**row, **known}, origin)


def kind_of(type_: Type) -> str:
    """The name under which values are drawn for a type."""
    return "number" if type_ in (*INTEGERS, DOUBLE) or isinstance(type_, DecimalType) else str(type_)


def fit_value(value: Value, type_: Type) -> Value:
    """A drawn value as the type has it: small numbers, without digits behind the point that it lacks."""
    if isinstance(type_, DecimalType):
        is_small = type_.precision - type_.scale <= 6
        return Decimal(0) if is_small else Decimal(value).quantize(Decimal(1).scaleb(-type_.scale), context=WIDE)
    if type_ in INTEGERS:
        return int(value) if abs(value) < 100 or type_ == BIGINT else int(value) % 100
    return float(value) if type_ == DOUBLE else value


def list_values(scripts: Sequence[Compilation]) -> Values:
    """The values that are drawn for rows of these scripts."""
    numbers: set[Decimal] = {Decimal(0), Decimal(1), Decimal(2)}
    texts = {"a", "b"}
    lengths = {0, 1000, 60_000}
    for each in scripts:
        for source in each.sources:
            lengths |= {int(n) * UNIT_MILLISECONDS.get(unit.upper(), 0) for n, unit in INTERVAL.findall(source.text)}
        for query in each.queries:
            for node in walk(query.root):
                for literal in (found for part in node.expressions for found in part.find_all(exp.Literal)):
                    if literal.is_string:
                        texts.add(literal.name)
                    elif re.fullmatch(r"\d{1,6}(\.\d{1,4})?", literal.name):
                        numbers |= {Decimal(literal.name) + step for step in (-1, 0, 1)}
    near = sorted({abs(length + step) for length in lengths for step in (-1, 0, 1)} | {2 * each for each in lengths})
    times = [START + MILLISECOND * length for length in near if length < 40 * 86_400_000]
    return {
        "number": sorted(numbers),
        str(STRING): sorted(texts),
        str(BOOLEAN): [False, True],
        str(TIMESTAMP): times,
        str(DATE): [date(2025, 1, 1), date(2025, 1, 2)],
        str(TIME): [time(0), time(12)],
    }
