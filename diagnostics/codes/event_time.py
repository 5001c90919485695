"""Event time: watermarks, windows, OVER, EMIT."""

from penstock.diagnostics.diagnostic import Code

W001 = Code("W001", "{operator} needs an event time, and {relation} has no watermark")
W002 = Code("W002", "{column} is not the event time of {relation}")
W003 = Code("W003", "the watermark of {column} is not `{column} - interval`")
W004 = Code("W004", "{interval} is not a fixed number of milliseconds")
W005 = Code("W005", "{clause} without {needed}")
W006 = Code("W006", "{window} takes {expected}")
W007 = Code("W007", "the slide of a HOP is longer than its size")
W008 = Code("W008", "the length of a {what} is not positive")
W009 = Code("W009", "the SELECT has two windows")
W010 = Code("W010", "{found} cannot be emitted as CHANGES")
W012 = Code("W012", "EMIT FINAL without a window: no group is ever final")
W013 = Code("W013", "{name} is not a TIMESTAMP column of {relation}")
W014 = Code("W014", "the processing time decides what {operator} keeps")
W015 = Code("W015", "the size of a CUMULATE is not a multiple of its step")
W016 = Code("W016", "a window inside grouping sets: it belongs to all of them")
W017 = Code("W017", "two of the grouping sets have the same keys")
W018 = Code("W018", "the rows of a SESSION are unknown until it ends")
W019 = Code("W019", "EMIT EARLY EVERY in SELECT STREAM: a row of a stream is final when it is sent")
W020 = Code("W020", "the frame of OVER has no lower end, so every row would be kept forever")
W021 = Code("W021", "OVER needs ORDER BY the event time")
W022 = Code("W022", "OVER without a frame reaches back to the first row, so every row would be kept forever")
W023 = Code("W023", "{function} cannot be computed over a frame")
W024 = Code("W024", "unknown window {name}")
W025 = Code("W025", "OVER without PARTITION BY is computed in one partition", severity="warning")
W026 = Code("W026", "{operator} needs a stream, and {relation} is a table")
W027 = Code("W027", "the reach of RANGE is not an interval")
W028 = Code("W028", "the frame of OVER has no upper end, so no row would ever be final")
W029 = Code("W029", "the frame of OVER ends before it begins")
W030 = Code("W030", "two windows are named {name}")
W031 = Code("W031", "{function} needs ORDER BY")
W040 = Code("W040", "SELECT STREAM DISTINCT without an event time would remember every row forever")
W041 = Code("W041", "OVER ROWS keeps the last rows of each key forever", severity="warning")
W042 = Code("W042", "a frame of ROWS ends after its row: a row without enough rows after it would wait forever")
W043 = Code("W043", "the reach of ROWS is not a whole number of rows")
W044 = Code("W044", "{function} over a stream without a window would keep the values of all rows forever")
W050 = Code("W050", "{what} are kept forever, and there are ever more of them", severity="warning")

CODES = (
    W001,
    W002,
    W003,
    W004,
    W005,
    W006,
    W007,
    W008,
    W009,
    W010,
    W012,
    W013,
    W014,
    W015,
    W016,
    W017,
    W018,
    W019,
    W020,
    W021,
    W022,
    W023,
    W024,
    W025,
    W026,
    W027,
    W028,
    W029,
    W030,
    W031,
    W040,
    W041,
    W042,
    W043,
    W044,
    W050,
)
