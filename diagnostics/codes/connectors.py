"""Places outside: connectors and their options, and our own settings."""

from penstock.diagnostics.diagnostic import Code

C001 = Code("C001", "unknown connector {name}")
C002 = Code("C002", "connector {connector} has no option {name}")
C003 = Code("C003", "{name} takes {expected}")
C004 = Code("C004", "connector {connector} needs the option {name}")
C005 = Code("C005", "connector {connector} cannot be {used}")
C006 = Code("C006", "option {name} is given twice")
C007 = Code("C007", "unknown setting {name}")
C008 = Code("C008", "the {kind} {name} has no connector")
C009 = Code("C009", "{format} files cannot hold the column {column}: {type}")
C010 = Code("C010", "SET must come before the first query")
C015 = Code("C015", "rows for which {text} fails cannot be rejected")
C018 = Code("C018", "CSV files with the single column {column} cannot hold NULL: an empty line is not a record")
C019 = Code("C019", "{database} cannot hold the column {column}: {type}")
C020 = Code("C020", "a secret stands in the option {name}")
C021 = Code("C021", "UPDATE of {table}, which has batch_mode = 'compact'")
C022 = Code("C022", "rows of {table} are kept for lookups, and the script writes it")
C023 = Code("C023", "the key of the topic cannot be so: {reason}")
C024 = Code("C024", "connector {connector} waits for a release that runs on this Spark")
C025 = Code("C025", "a name of Avro has letters, digits and _, and no digit first: {name}")
C026 = Code("C026", "not in real time: {construct}")
C027 = Code("C027", "{database} keeps {limit} bytes of a name, and {name} has {count}")
C028 = Code("C028", "datagen makes no values for the column {column}: {type}")

CODES = (
    *(C001, C002, C003, C004, C005, C006, C007, C008, C009, C010, C015, C018, C019),
    *(C020, C021, C022, C023, C024, C025, C026, C027, C028),
)
