"""The compiled grammar."""

from __future__ import annotations

import json
import subprocess
import sys

from penstock.grammar import NESTING, PREFERRED, RESERVED, dialect
from penstock.grammar.compile_tables import TABLES, tables
from penstock.parser.build import RULES


def test_the_committed_tables_are_those_of_the_grammar() -> None:
    assert TABLES.read_text(encoding="utf-8") == tables(), "run python -m penstock.grammar"


def test_every_rule_has_a_builder_and_every_builder_a_rule() -> None:
    compiled = json.loads(TABLES.read_text(encoding="utf-8"))["rules"]
    # Nothing is built of helpers, and of rules that their single part stands for.
    built = {name for name, _, _, parts, inline, helper in compiled if not helper and not (inline and len(parts) == 1)}
    assert set(RULES) == built


def test_the_word_lists_name_keywords_and_the_nesting_list_names_rules() -> None:
    assert dialect().keywords >= RESERVED | PREFERRED
    assert not RESERVED & PREFERRED
    assert set(RULES) >= NESTING


def test_parsing_does_not_load_lark() -> None:
    program = "import sys; from penstock.grammar import dialect; dialect(); sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
