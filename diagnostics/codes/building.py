"""What the dialect has and this version does not run yet. Refused, never half done."""

from penstock.diagnostics.diagnostic import Code

B001 = Code("B001", "not supported yet: {above} over the result of {below}")
B002 = Code("B002", "not supported yet: {construct}")
B003 = Code("B003", "not supported yet: {kind} JOIN of a {left} with a {right}")

CODES = (B001, B002, B003)
