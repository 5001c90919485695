"""Tests of scripts: what a test says, and what comes out otherwise."""

from penstock.diagnostics.diagnostic import Code

T101 = Code("T101", "this test needs Spark: {reason}")
T102 = Code("T102", "{text} is not a value of {column}, which is {type}")
T103 = Code("T103", "values and columns do not match: {reason}")
T104 = Code("T104", "no rows of {relation} can be given")
T105 = Code("T105", "no rows of {relation} can be expected")
T106 = Code("T106", "{statement} cannot stand here")
T107 = Code("T107", "{path} cannot be read: {reason}")
T108 = Code("T108", "{text} is not a time")
T109 = Code("T109", "{relation} has no {clause}")
T110 = Code("T110", "the rows of {relation} are not as expected")
T111 = Code("T111", "the state of {relation} has {found}, and at most {most} are expected")
T112 = Code("T112", "no row fails with {code}")
T113 = Code("T113", "{query} fails: {reason}")
T114 = Code("T114", "the script is not refused with {code}")
T115 = Code("T115", "the rows of {relation} depend on {cause}")
T116 = Code("T116", "internal error: {kind}")
T117 = Code("T117", "this test cannot run on Spark: {reason}")

CODES = (T101, T102, T103, T104, T105, T106, T107, T108, T109, T110, T111, T112, T113, T114, T115, T116, T117)
