"""Partitions: what meets in a join has to agree in their number and in the key."""

from penstock.diagnostics.diagnostic import Code

P001 = Code("P001", "the streams of a join have different numbers of partitions")
P002 = Code("P002", "the join does not compare the key of {streams}")
P003 = Code("P003", "{stream} gets {given} partitions, not {asked}", severity="warning")

CODES = (P001, P002, P003)
