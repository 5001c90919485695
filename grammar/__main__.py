"""Compiles the grammar: `python -m penstock.grammar` rewrites tables.json."""

from penstock.grammar.compile import TABLES, tables

TABLES.write_text(tables(), encoding="utf-8")
