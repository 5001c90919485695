"""Errors at run time: starting Spark, files, checkpoints, bounded reads, databases, and failures of queries."""

from penstock.diagnostics.diagnostic import Code

R001 = Code("R001", "no JDK 17 or 21 found")
R002 = Code("R002", "cannot start Spark: {reason}")
R003 = Code("R003", "path of {name} does not exist: {path}")
R004 = Code("R004", "file cannot be read: {file}")
R005 = Code("R005", "CSV header of {name} has no column {column}")
R006 = Code("R006", "file does not match the declared columns: {file}")
R007 = Code("R007", "rate stream {name} has a column of type {type}")
R010 = Code("R010", "checkpoint belongs to another query: {path}")
R011 = Code("R011", "folder is not a checkpoint: {path}")
R012 = Code("R012", "checkpoint is in use by process {pid}: {path}")
R013 = Code("R013", "checkpoint was drained: {path}")
R014 = Code("R014", "folder holds the rows of an earlier run: {path}")
R015 = Code("R015", "another writer changed the checkpoint of {query}")
R016 = Code("R016", "{query} and {other} write to the same folder: {path}")
R017 = Code("R017", "output folder of {name} is a file: {path}")
R020 = Code("R020", "division by zero in {query}")
R021 = Code("R021", "{value} cannot be cast to {type} in {query}")
R022 = Code("R022", "number out of range in {query}")
R023 = Code("R023", "index out of range in {query}")
R024 = Code("R024", "invalid keys of a map in {query}")
R025 = Code("R025", "text that does not fit its format in {query}")
R026 = Code("R026", "invalid pattern in {query}")
R027 = Code("R027", "invalid argument of a function in {query}")
R028 = Code("R028", "date or time that does not exist in {query}")
R029 = Code("R029", "value too large in {query}")
R030 = Code("R030", "unknown memory sink {name}")
R031 = Code("R031", "a read must be one SELECT without STREAM, not {found}")
R032 = Code("R032", "the current rows of {name} cannot be read: {reason}")
R033 = Code("R033", "{clause} is not allowed in a read: it belongs to queries that keep running")
R034 = Code("R034", "memory sink {name} holds only the newest {kept} of {count} rows of the table")
R040 = Code("R040", "the JVM of {query} has ended")
R041 = Code("R041", "path cannot be used: {path}")
R042 = Code("R042", "{what} and {other} overlap: {path} and {place}")
R043 = Code("R043", "{query} would read the rows that it writes: {path} overlaps {place}")
R044 = Code("R044", "{query} cannot read {path}, which overlaps {other} in {place}")
R045 = Code("R045", "{master} needs --checkpoint: a temporary one exists on this machine only")
R046 = Code("R046", "workers cannot read the checkpoint of {query}: {reason}")
R047 = Code("R047", "{python} on {host} cannot run queries: {reason}")
R048 = Code("R048", "setting {name} is not allowed: {reason}")
R050 = Code("R050", "file of the checkpoint is lost or damaged: {path}")
R051 = Code("R051", "lock of the checkpoint is damaged: {path}")
R052 = Code("R052", "log of the output folder is lost or damaged: {path}")
R053 = Code("R053", "file of the output folder is lost or damaged: {path}")
R054 = Code("R054", "state of {query} is lost or damaged: {path}")
R055 = Code("R055", "no space left on a disk that {query} writes to")
R060 = Code("R060", "{query} cannot write its table: {reason}")
R061 = Code("R061", "table of {query} is not as it is declared: {reason}")
R062 = Code("R062", "another process writes the table of {query}: {reason}")
R063 = Code("R063", "table of {query} was written from another checkpoint: {reason}")
R064 = Code("R064", "{query} updates a row that does not exist: {key}")
R065 = Code("R065", "{query} needs --checkpoint: without one the next run would apply its updates again")
R066 = Code("R066", "table {table} cannot be read: {reason}")
R067 = Code("R067", "connector {connector} needs packages that are not installed: {packages}")
R090 = Code("R090", "script {path} cannot be read: {reason}")
R099 = Code("R099", "{query} was stopped by Spark: {reason}")

CODES = (
    *(R001, R002, R003, R004, R005, R006, R007),
    *(R010, R011, R012, R013, R014, R015, R016, R017),
    *(R020, R021, R022, R023, R024, R025, R026, R027, R028, R029),
    *(R030, R031, R032, R033, R034),
    *(R040, R041, R042, R043, R044, R045, R046, R047, R048),
    *(R050, R051, R052, R053, R054, R055),
    *(R060, R061, R062, R063, R064, R065, R066, R067, R090, R099),
)
