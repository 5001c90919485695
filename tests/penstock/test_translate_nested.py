"""`penstock translate`: forms inside of each other, whatever the order, are translated to what is accepted again."""

from __future__ import annotations

import os
import random

import pytest

from penstock.compilation import compile
from penstock.diagnostics import Source
from penstock.translate import System, Verdict, translate
from tests.penstock.test_translate_meanings import DECLARED

DRAWN = int(os.environ.get("PENSTOCK_TRANSLATIONS", "40"))
# fmt: off
NUMBERS = (
    "n", "m", "2", "-1", "CARDINALITY({a})", "CHAR_LENGTH({t})", "({n} + {n})", "{n} / {n}", "ROUND({d})", "SIGN({n})",
    "{a}[{n}]", "CAST({t} AS INT)", "INSTR({t}, {t})", "CASE WHEN {b} THEN {n} ELSE {n} END", "FLOOR({d})",
)
FRACTIONS = ("d", "1.5", "-2.5", "CEIL({d})", "{d} / {n}", "LN({d})", "CAST({n} AS DOUBLE)", "{d} * {d}")
TEXTS = (
    "txt", "u", "'a.b'", "'it''s'", "CONCAT({t}, {t})", "SUBSTRING({t}, {n})", "SPLIT({t}, '.')[1]", "{t} || {t}",
    "CAST({b} AS STRING)", "CAST(t AS STRING)", "REGEXP_EXTRACT({t}, {t})", "LPAD({t}, 3, '0')", "INITCAP({t})",
    "JSON_VALUE({t}, 'lax $.a')", "LTRIM({t}, 'x')", "UPPER({t})", "ELT({n}, {t}, {t})", "ARRAY_JOIN(ta, '-')",
)
TRUTHS = (
    "b", "{n} > {n}", "{t} LIKE 'a\\_b'", "NOT {b}", "({b} AND {b})", "ARRAY_CONTAINS({a}, {n})", "{t} IS NULL",
    "{n} BETWEEN {n} AND {n}", "ARRAY_CONTAINS(SPLIT({t}, '|'), {t})",
)
ARRAYS = (
    "a", "ARRAY[{n}, {n}]", "ARRAY_SORT({a})", "ARRAY_REMOVE({a}, {n})", "SLICE({a}, {n}, {n})", "ARRAY_DISTINCT({a})",
)
# fmt: on
FORMS = {"n": NUMBERS, "d": FRACTIONS, "t": TEXTS, "b": TRUTHS, "a": ARRAYS}


def draw(kind: str, depth: int, random_: random.Random) -> str:
    """An expression of a kind, with so many levels at most."""
    forms = FORMS[kind] if depth else [each for each in FORMS[kind] if "{" not in each]
    text = random_.choice(forms)
    for inner in FORMS:
        while f"{{{inner}}}" in text:
            text = text.replace(f"{{{inner}}}", draw(inner, depth - 1, random_), 1)
    return text


@pytest.mark.draws
@pytest.mark.parametrize("system", System)
def test_forms_inside_of_each_other(system: System) -> None:
    """What is accepted is accepted again, and needs no more changes of how it is written; no text fails otherwise."""
    accepted = 0
    for seed in range(DRAWN * 3):
        random_ = random.Random(f"{system.value} {seed}")
        kind = random_.choice(list(FORMS))
        text = f"{DECLARED[system]}\nCREATE VIEW v AS SELECT {draw(kind, 3, random_)} AS x FROM s;"
        declared, view = [each for _, each in translate(Source("<test>", text), system) if each is not None]
        if view.verdict is not Verdict.REFUSED:
            accepted += 1
            assert compile(f"{declared.sql};\n{view.sql};"), text
    assert accepted > DRAWN / 4
