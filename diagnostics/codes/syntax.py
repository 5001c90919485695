"""S: the text is not a statement of the dialect."""

from penstock.diagnostics.diagnostic import Code

S001 = Code("S001", "unexpected {found}")
S002 = Code("S002", "the statement ends unexpectedly")
S003 = Code("S003", "string without a closing quote")
S004 = Code("S004", "comment without a closing */")
S005 = Code("S005", "quoted name without a closing {quote}")
S006 = Code("S006", "unknown character {character}")
S007 = Code("S007", "malformed number {number}")
S008 = Code("S008", "ORDER BY on a query that never ends")
S009 = Code("S009", "LIMIT on a query that never ends")
S010 = Code("S010", "UNION without ALL")
S011 = Code("S011", "unknown type {name}")
S012 = Code("S012", "{clause} is given twice")
S013 = Code("S013", "{clause} must come before {other}")
S014 = Code("S014", "{found} is not an interval")
S015 = Code("S015", "{name} is not a table function")
S016 = Code("S016", "wrong arguments of {name}")
S017 = Code("S017", "a parameter of a lambda is not a plain name")
S018 = Code("S018", "subquery as an argument of {name}")
S019 = Code("S019", "AS inside a call of {name}")
S020 = Code("S020", ".* must follow the name of a relation or a struct")
S021 = Code("S021", "wrong parameters of type {name}")
S022 = Code("S022", "empty name")
S023 = Code("S023", "two watermarks in one statement")
S024 = Code("S024", "invalid number of partitions {number}")
S025 = Code("S025", "LIMIT takes a whole number of at most nine digits")
S026 = Code("S026", "{construct} is not supported")
S027 = Code("S027", "a row of {left} and a row of {right} values are compared")

CODES = (
    S001,
    S002,
    S003,
    S004,
    S005,
    S006,
    S007,
    S008,
    S009,
    S010,
    S011,
    S012,
    S013,
    S014,
    S015,
    S016,
    S017,
    S018,
    S019,
    S020,
    S021,
    S022,
    S023,
    S024,
    S025,
    S026,
    S027,
)
