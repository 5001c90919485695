"""Broken texts: whatever happens to a text, the answer is statements or coded findings inside the text."""

from __future__ import annotations

import random
import re

from penstock.diagnostics import Source
from penstock.diagnostics.all_codes import CATALOG
from penstock.grammar import dialect
from penstock.parser import parse, unparse
from tests.golden.cases import CASES
from tests.parser.texts import findings

ODDITIES = [*"()[],;.'\"`-*/<>=:!?#\\\0\n", "''", "/*", "*/", "--", "->", "5e", "1.2", "é", "😀", "INTERVAL '1'", " "]


def mutated(text: str, chance: random.Random) -> str:
    """The text with one to four words removed, doubled, swapped, replaced, or a character inserted."""
    words = re.findall(r"\w+|\s+|.", text)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(words))
        match chance.randrange(5):
            case 0:
                words[at] = ""
            case 1:
                words[at] *= 2
            case 2:
                other = chance.randrange(len(words))
                words[at], words[other] = words[other], words[at]
            case 3:
                words[at] = chance.choice(sorted(dialect().keywords))
            case _:
                words.insert(at, chance.choice(ODDITIES))
    return "".join(words)


def test_two_thousand_mutations() -> None:
    chance = random.Random(1)
    codes = {code.id for code in CATALOG}
    seeds = [case.sql for case in CASES]
    refused = 0
    for _ in range(2_000):
        text = mutated(chance.choice(seeds), chance)
        found = findings(text)
        refused += bool(found)
        for finding in found:
            assert finding.code in codes
            assert finding.labels
            assert all(0 <= label.span.start <= label.span.end <= len(text) for label in finding.labels), text
    assert 500 < refused < 2_000


def test_texts_that_end_anywhere() -> None:
    chance = random.Random(3)
    for _ in range(1_000):
        words = re.findall(r"\w+|\s+|.", chance.choice(CASES).sql)
        text = "".join(words[: chance.randrange(len(words))])
        assert all(label.span.end <= len(text) for finding in findings(text) for label in finding.labels), text


def test_what_still_parses_survives_the_round_trip() -> None:
    chance = random.Random(2)
    survived = 0
    for _ in range(1_000):
        text = mutated(chance.choice(CASES).sql, chance)
        if not findings(text):
            parsed = parse(Source("<test>", text))
            assert parse(Source("<test>", ";\n".join(map(unparse, parsed)))) == parsed, text
            survived += 1
    assert survived > 50
