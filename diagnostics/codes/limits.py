"""L: the text is larger in some way than the compiler takes."""

from penstock.diagnostics.diagnostic import Code

NESTED_TOO_DEEP = Code("L001", "nested more than {limit} levels deep")
CHAIN_TOO_LONG = Code("L002", "{count} {what} in a row, at most {limit} are allowed")
STATEMENT_TOO_DEEP = Code("L003", "long chains inside each other: more than {limit} levels deep in all")
PLAN_TOO_LARGE = Code("L004", "the plan has more than {limit} operators")

CODES = (NESTED_TOO_DEEP, CHAIN_TOO_LONG, STATEMENT_TOO_DEEP, PLAN_TOO_LARGE)
