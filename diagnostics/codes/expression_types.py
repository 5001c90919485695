"""Codes of expressions whose parts do not fit together."""

from penstock.diagnostics.diagnostic import Code

T001 = Code("T001", "{clause} needs a BOOLEAN, not {type}")
T002 = Code("T002", "{operator} does not take {types}")
T003 = Code("T003", "{left} and {right} have no common type")
T004 = Code("T004", "{operator} of STRING and {type} needs a CAST")
T005 = Code("T005", "function {name} does not take {count}")
T006 = Code("T006", "function {name} does not take ({types})")
T007 = Code("T007", "aggregate {name} is not allowed here")
T008 = Code("T008", "{construct} is not allowed here")
T009 = Code("T009", "unknown type {name}")
T010 = Code("T010", "{text} is not a valid {type}")
T011 = Code("T011", "an interval of {unit} has no fixed length")
T012 = Code("T012", "{source} cannot be cast to {target}")
T013 = Code("T013", "{function} needs a literal as {kind}")
T014 = Code("T014", "{function} does not take {value} as {kind}")
T015 = Code("T015", "a struct has two fields {name}")
T016 = Code("T016", "{type} cannot be the key of a map")
T017 = Code("T017", "{expression} fails for every row")
T018 = Code("T018", "implicit cast from {source} to {type} can fail", severity="warning")
T019 = Code("T019", "{function} takes a constant for the text and looks for a pattern that varies", severity="warning")
T020 = Code("T020", "{form} means something else in {systems}", severity="warning")
T030 = Code("T030", "{condition} is never true", severity="warning")
T031 = Code("T031", "{function} gives NULL for every row: '{path}' is no path", severity="warning")

CODES = (
    T001,
    T002,
    T003,
    T004,
    T005,
    T006,
    T007,
    T008,
    T009,
    T010,
    T011,
    T012,
    T013,
    T014,
    T015,
    T016,
    T017,
    T018,
    T019,
    T020,
    T030,
    T031,
)
