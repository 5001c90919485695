"""Codes of names that stand for nothing, or for too much."""

from penstock.diagnostics.diagnostic import Code

UNKNOWN_COLUMN = Code("N001", "unknown column {name}")
AMBIGUOUS_COLUMN = Code("N002", "column {name} is ambiguous")
UNKNOWN_RELATION = Code("N003", "unknown relation {name}")
UNKNOWN_FUNCTION = Code("N004", "unknown function {name}")
REFUSED_FUNCTION = Code("N005", "function {name} is not allowed")
UNKNOWN_FIELD = Code("N006", "{type} has no field {name}")

CODES = (UNKNOWN_COLUMN, AMBIGUOUS_COLUMN, UNKNOWN_RELATION, UNKNOWN_FUNCTION, REFUSED_FUNCTION, UNKNOWN_FIELD)
