"""Joins: legality, equality, and the bound on the difference of the event times."""

from penstock.diagnostics.diagnostic import Code

J001 = Code("J001", "stream-stream join has no time bound")
J002 = Code("J002", "stream-stream join is bounded on one side only")
J003 = Code("J003", "the time bound of a stream-stream join is under OR")
J004 = Code("J004", "the time bound compares columns that are not the event times")
J005 = Code("J005", "the time bound depends on the processing time")
J006 = Code("J006", "the time bound does not give a fixed difference of the event times")
J007 = Code("J007", "{construct} over a stream would keep the stream forever")
J008 = Code("J008", "the join has no equality between its two sides")
J009 = Code("J009", "the time bound of a {kind} JOIN is in WHERE")
J010 = Code("J010", "the time bound can never hold")
J011 = Code("J011", "there is no {kind} JOIN of {left} with {right}")
J012 = Code("J012", "the join cannot compare {left} with {right}")
J013 = Code("J013", "the join casts {source} to {target} to compare the keys", severity="warning")
J014 = Code("J014", "both sides of the join are named {name}")
J015 = Code("J015", "{kind} JOIN without ON")
J016 = Code("J016", "the key of both sides of a FULL JOIN of tables can be NULL")
J017 = Code("J017", "a FULL JOIN of tables on more than their keys can give two rows with the same key")
J018 = Code("J018", "the join compares {compared} of {relation}, but its key is {key}")
J019 = Code("J019", "the history of {relation} is not known: {reason}")
J020 = Code("J020", "windows of {relation} are looked up, but it has no RETENTION", severity="warning")
J021 = Code("J021", "the windows of {left} and {right} cannot be compared: {reason}")
J022 = Code("J022", "NATURAL JOIN compares whatever columns have the same name")

CODES = (
    *(J001, J002, J003, J004, J005, J006, J007, J008, J009, J010, J011),
    *(J012, J013, J014, J015, J016, J017, J018, J019, J020, J021, J022),
)
