"""Statements that a server refuses, and queries that it holds."""

from penstock.diagnostics.diagnostic import Code

V001 = Code("V001", "SELECT STREAM has no end, so a server cannot answer it")
V002 = Code("V002", "{author} may not {action}")
V003 = Code("V003", "{what} is not allowed on this server: {place}")
V004 = Code("V004", "the server runs {count} queries, which is its limit")
V005 = Code("V005", "{name} is a table of PostgreSQL that Penstock has not made")
V006 = Code("V006", "unknown query {name}")
V007 = Code("V007", "the engine is away")
V008 = Code("V008", "the engine has not answered within {seconds} seconds")
V009 = Code("V009", "statement was cancelled")
V010 = Code("V010", "statement has {size} bytes, and {limit} are the limit")
V011 = Code("V011", "query {name} is held after {count} failures: {reason}")
V012 = Code("V012", "{statement} belongs to a script, and a server does not take it")
V013 = Code("V013", "the engine failed at the statement, which is a defect of Penstock: {reason}")
V014 = Code("V014", "EXPLAIN WHY needs a running query, and a script has none")
V015 = Code("V015", "role {role} cannot be used over HTTP")
V016 = Code("V016", "{name} cannot be shown as a table: {reason}")
V017 = Code("V017", "statement has {count} words and signs, and {limit} are the limit")
V018 = Code("V018", "the plan of the statement was ended: {reason}")
V019 = Code("V019", "{name} cannot be built beside the old one: {reason}")
V020 = Code("V020", "{name} is being replaced")
V021 = Code("V021", "{name} is read by views of PostgreSQL: {views}")

CODES = (
    *(V001, V002, V003, V004, V005, V006, V007, V008, V009, V010),
    *(V011, V012, V013, V014, V015, V016, V017, V018, V019, V020, V021),
)
