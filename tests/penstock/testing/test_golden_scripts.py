"""The evaluator runs the queries of all golden scripts, or says what it does not know; micro-batches do not matter."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import penstock
from penstock.compilation import Compilation
from penstock.evaluator import Arrival, QueryFailure, Row, Unsupported
from penstock.planner import types as t
from penstock.planner.catalog import Declared
from penstock.planner.types import Type
from penstock.testing.other_arrivals import find_dependence
from penstock.testing.query_runs import QueryRun
from penstock.testing.script_relations import complete_row, list_stored
from tests.golden.cases import CASES

START = datetime(2025, 1, 1)


def draw_value(type_: Type, chance: Random) -> Any:
    """A value of a type, or NULL."""
    if chance.random() < 0.1:
        return None
    match type_:
        case t.Decimal(precision, scale):
            return Decimal(chance.randint(-99, 99) if precision > 2 else 0).scaleb(-scale)
        case t.Array(element):
            return [draw_value(element, chance) for _ in range(chance.randint(0, 3))]
        case t.Map(key, value):
            return {"a": draw_value(value, chance)} if key == t.STRING else {}
        case t.Struct(fields):
            return {name: draw_value(of, chance) for name, of in fields}
    values: dict[Type, Any] = {
        t.BOOLEAN: chance.random() < 0.5,
        t.FLOAT: 0.5,
        t.DOUBLE: chance.choice((1.5, 2.0, -1.0)),
        t.STRING: chance.choice(("a", "b", "lamp", "")),
        t.BINARY: b"a",
        t.DATE: date(2025, 1, chance.randint(1, 3)),
        t.TIMESTAMP: START + timedelta(seconds=chance.randint(0, 8000)),
        t.TIME: time(chance.randint(0, 23)),
        t.INTERVAL: timedelta(seconds=chance.randint(0, 100)),
    }
    return values.get(type_, chance.randint(-3, 5))


def draw_arrivals(compilation: Compilation, chance: Random) -> list[Arrival]:
    """Three steps with some rows of each declared relation. Raises Unsupported for event times that are not known."""
    declared = [each for each in compilation.catalog.entries.values() if isinstance(each, Declared)]

    def draw_row(relation: Declared) -> Row:
        row = {each.name: draw_value(each.type, chance) for each in list_stored(relation.origin)}
        return complete_row(row, relation.origin)

    return [
        Arrival({each.origin.name: [draw_row(each) for _ in range(chance.randint(0, 3))] for each in declared})
        for _ in range(3)
    ]


def test_golden_scripts() -> None:
    chance, outcomes = Random(1), Counter[str]()
    for case in CASES:
        try:
            compilation = penstock.compile(case.sql)
        except penstock.CompileError:
            continue
        for query in compilation.queries:
            try:
                arrivals = draw_arrivals(compilation, chance)
            except (Unsupported, QueryFailure):
                continue
            run = QueryRun(query)
            for arrival in (*arrivals, Arrival(is_end=True)):
                run.step(arrival)
            outcomes["known" if run.problem is None else "unknown"] += 1
            dependence = find_dependence(query, arrivals, START)
            assert dependence is None, (case.sql, dependence)
    assert outcomes["known"] > 440, outcomes
