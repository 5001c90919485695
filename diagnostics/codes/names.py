"""Codes of names that stand for nothing, or for too much."""

from penstock.diagnostics.diagnostic import Code

N001 = Code("N001", "unknown column {name}")
N002 = Code("N002", "column {name} is ambiguous")
N003 = Code("N003", "unknown relation {name}")
N004 = Code("N004", "unknown function {name}")
N005 = Code("N005", "function {name} is not allowed")
N006 = Code("N006", "{type} has no field {name}")
N007 = Code("N007", "{clause} {number} names no item of the SELECT list that it can use")

CODES = (N001, N002, N003, N004, N005, N006, N007)
