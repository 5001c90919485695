"""Operators are named as the queries of the program that run them: a checkpoint of that name has their state."""

from __future__ import annotations

import pytest

from penstock.codegen import lower, name_operators
from penstock.compilation import compile
from penstock.planner.plan import Stateful
from penstock.planner.plan.walk import list_nodes
from tests.golden.cases import CASES, Case

ACCEPTED = [case for case in CASES if {"state", "spark"} & set(case.sections)]


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in ACCEPTED])
def test_every_query_with_state_runs_a_named_operator(case: Case) -> None:
    compilation = compile(case.sql)
    named = name_operators(compilation.queries)
    running = {query.name for query in lower(compilation.queries, compilation.settings).queries if query.store}
    assert {name for operators in named for name in operators.values()} == running
    for query, operators in zip(compilation.queries, named, strict=True):
        assert set(operators) == {node for node in list_nodes(query.root) if isinstance(node, Stateful)}
