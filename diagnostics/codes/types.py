"""Codes of expressions whose parts do not fit together."""

from penstock.diagnostics.diagnostic import Code

NOT_BOOLEAN = Code("T001", "{clause} needs a BOOLEAN, not {type}")
OPERAND_TYPES = Code("T002", "{operator} does not take {types}")
NO_COMMON_TYPE = Code("T003", "{left} and {right} have no common type")
NEEDS_CAST = Code("T004", "{operator} of STRING and {type} needs a CAST")
ARITY = Code("T005", "function {name} does not take {count}")
ARGUMENT_TYPES = Code("T006", "function {name} does not take ({types})")
AGGREGATE_NOT_ALLOWED = Code("T007", "aggregate {name} is not allowed here")
NOT_ALLOWED = Code("T008", "{construct} is not allowed here")
UNKNOWN_TYPE = Code("T009", "unknown type {name}")
BAD_LITERAL = Code("T010", "{text} is not a valid {type}")
MONTHS_INTERVAL = Code("T011", "an interval of {unit} has no fixed length")
NO_CAST = Code("T012", "{source} can not be cast to {target}")

CODES = (
    NOT_BOOLEAN,
    OPERAND_TYPES,
    NO_COMMON_TYPE,
    NEEDS_CAST,
    ARITY,
    ARGUMENT_TYPES,
    AGGREGATE_NOT_ALLOWED,
    NOT_ALLOWED,
    UNKNOWN_TYPE,
    BAD_LITERAL,
    MONTHS_INTERVAL,
    NO_CAST,
)
