"""Compiles the grammar: `python -m penstock.grammar` rewrites tables.json, and the grammar in docs/sql.md."""

from penstock.grammar.compile_tables import TABLES, tables
from penstock.grammar.page import PAGE, page

TABLES.write_text(tables(), encoding="utf-8")
PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
