"""KStream, KTable, WTable: what may be made from what."""

from penstock.diagnostics.diagnostic import Code

K001 = Code("K001", "SELECT STREAM over a table: a table's changes are not a stream of new rows")
K002 = Code("K002", "SELECT without STREAM asks for a table, but these rows have no key")
K003 = Code("K003", "a {made} cannot be created from a query that returns a {given}")
K004 = Code("K004", "UNION ALL takes streams, or tables without windows")
K005 = Code("K005", "the queries of UNION, INTERSECT or EXCEPT do not match: {reason}")
K006 = Code("K006", "the table lacks its key column {column}")
K007 = Code("K007", "{kind} {name} {problem}")
K008 = Code("K008", "INSERT INTO {target}: {reason}")
K009 = Code("K009", "{target} would read the rows that it writes")
K010 = Code("K010", "two columns are named {name}")
K011 = Code("K011", "{name} already exists")
K012 = Code("K012", "unknown name {name}")
K013 = Code("K013", "{name} is a {found}, not a {wanted}")
K014 = Code("K014", "{expression} is neither aggregated nor in GROUP BY")
K015 = Code("K015", "{name} is in use by the query {users}")

K016 = Code("K016", "{name} is a reserved column name")
K017 = Code("K017", "{column} is a bare NULL, which has no type")
K018 = Code("K018", "{type} cannot be compared, so nothing can be grouped or joined by it")
K019 = Code("K019", "{function} over a table cannot retract a row that leaves its group")
K020 = Code("K020", "PARTITION BY of a {kind}: a table is partitioned by its key")
K021 = Code("K021", "{statement} {target}: {reason}")
K022 = Code("K022", "{relation} has {columns}, but the list of names has {names}")
K023 = Code("K023", "{function} over a {kind}: the rows that it makes have no key")
K024 = Code("K024", "a query that keeps running has nothing to read")
K025 = Code("K025", "the query has no columns")
K026 = Code("K026", "the {connector} connector has no metadata '{key}'")
K040 = Code("K040", "{table} is looked up and written by one query: updates can be lost", severity="warning")
K041 = Code("K041", "ELSE INSERT gives {column} what SET adds again: it counts twice", severity="warning")

CODES = (
    K001,
    K002,
    K003,
    K004,
    K005,
    K006,
    K007,
    K008,
    K009,
    K010,
    K011,
    K012,
    K013,
    K014,
    K015,
    K016,
    K017,
    K018,
    K019,
    K020,
    K021,
    K022,
    K023,
    K024,
    K025,
    K026,
    K040,
    K041,
)
