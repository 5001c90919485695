"""Starting Spark, reading inputs, checkpoints, and failures of running queries."""

from penstock.diagnostics.diagnostic import Code

R001 = Code("R001", "no JDK 17 or 21 found")
R002 = Code("R002", "no Spark session: {reason}")
R003 = Code("R003", "path of {name} does not exist: {path}")
R004 = Code("R004", "file can not be read: {file}")
R005 = Code("R005", "CSV header of {name} has no column {column}")
R006 = Code("R006", "file does not fit the declared columns: {file}")
R007 = Code("R007", "rate stream {name} has a column of type {type}")
R010 = Code("R010", "checkpoint belongs to another query: {path}")
R011 = Code("R011", "folder is not a checkpoint: {path}")
R012 = Code("R012", "checkpoint is in use by process {pid}: {path}")
R013 = Code("R013", "checkpoint was drained: {path}")
R014 = Code("R014", "folder holds the rows of an earlier run: {path}")
R015 = Code("R015", "another writer changed the checkpoint of {query}")
R016 = Code("R016", "{query} and {other} write to one folder: {path}")
R017 = Code("R017", "output folder of {name} is a file: {path}")
R020 = Code("R020", "division by zero in {query}")
R021 = Code("R021", "{value} can not be cast to {type} in {query}")
R022 = Code("R022", "number out of range in {query}")
R030 = Code("R030", "no memory sink is called {name}")
R031 = Code("R031", "a read is one SELECT without STREAM, and this is {found}")
R032 = Code("R032", "{name} can not be read as it is now: {reason}")
R033 = Code("R033", "{clause} belongs to queries that keep running, and a read ends")
R034 = Code("R034", "memory sink {name} holds no more than the newest {kept} of {count} rows of the table")
R090 = Code("R090", "script {path} can not be read: {reason}")
R099 = Code("R099", "{query} was stopped by Spark: {reason}")

CODES = (
    *(R001, R002, R003, R004, R005, R006, R007),
    *(R010, R011, R012, R013, R014, R015, R016, R017),
    *(R020, R021, R022, R030, R031, R032, R033, R034, R090, R099),
)
