"""What other systems write and the grammar does not have -> what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

from penstock.grammar import NAME, NUMBER, STRING, Token
from penstock.parser.other_statements import NO_QUALIFIED, OTHERWISE, STATEMENTS, UNFINISHED

_JSON_PATH = "GET_JSON_OBJECT(json, '$.path') is the text at a path, or NULL; CAST gives it a type"
_NO_PARAMETERS = "a script has no parameters: write the value, or let the shell that calls penstock put it in"
_SAMPLE = "take rows by their keys, which is the same after a restart: WHERE PMOD(HASH(key), 10) = 0"
_FIRST = "a read has LIMIT 10 at its end; on a stream QUALIFY ROW_NUMBER() OVER (ORDER BY a DESC) <= 10 keeps the first"
_BEFORE_VALUES = ("SELECT", "=", "<", ">", "(", ",", "AND", "BETWEEN", "LIMIT")
_NOW = "leave it out: a read sees the rows as they are now"
_TYPED = {
    "INT": "INT INTEGER INT4",
    "BIGINT": "BIGINT INT8",
    "DECIMAL(10, 2)": "NUMERIC DECIMAL",
    "DOUBLE": "DOUBLE FLOAT8 PRECISION",
    "BOOLEAN": "BOOL BOOLEAN",
}
_FILES = "WITH (connector = 'files', path = 'folder', format = 'parquet') says where rows are"
_DELTA = "WITH (connector = 'delta', path = 'folder') says where rows are"
_SLICE = "SLICE(array, 2, 3) takes three elements from the second one on"
_NO_WRITE = "an INSERT, UPDATE or DELETE is a statement by itself, and a SELECT another one"
_MOMENT = "CAST('2026-01-31 12:00:00+01:00' AS TIMESTAMP) reads a time with its zone"

# Words within statements where the grammar stops. Behind a `(` it may have gone on for a few words.
CLAUSES: tuple[tuple[str, str], ...] = (
    ("PIVOT (", "an aggregate for each value: SUM(a) FILTER (WHERE b = 'x') AS x"),
    ("UNPIVOT (", "CROSS JOIN UNNEST(ARRAY[STRUCT('a' AS name, a AS value), STRUCT('b' AS name, b AS value)]) AS u"),
    ("TABLESAMPLE SYSTEM", _SAMPLE),
    ("TABLESAMPLE BERNOULLI", _SAMPLE),
    *((f"{word} {{number}}", _FIRST) for word in ("TOP", "FIRST")),
    ("FOR {number}", "SUBSTRING(text FROM 1 FOR 3)"),
    ("TABLESAMPLE (", _SAMPLE),
    ("OVERLAPS (", "two spans overlap where start1 < end2 AND start2 < end1"),
    (
        "LATERAL ( SELECT",
        "a JOIN has the condition behind ON; other columns are computed in the SELECT list, or in a subquery around "
        "the relation",
    ),
    ("TABLE ( SELECT", "give the query a name before it: WITH q AS (the query), and then TABLE q"),
    *((f"IS {word}", "put the comparison in parentheses: (a = b) IS TRUE") for word in ("TRUE", "FALSE", "NOT TRUE")),
    ("IS JSON", "JSON_OBJECT_KEYS(text) IS NOT NULL tells objects, JSON_ARRAY_LENGTH(text) IS NOT NULL arrays"),
    ("IS NOT JSON", "JSON_OBJECT_KEYS(text) IS NULL AND JSON_ARRAY_LENGTH(text) IS NULL tells other texts"),
    ("IGNORE NULLS", "MAX_BY(value, time) FILTER (WHERE value IS NOT NULL) passes NULLs over"),
    ("RESPECT NULLS", "leave it out: NULLs count"),
    ("ON CONFLICT", "leave it out: an INSERT into a table with a key replaces rows by that key"),
    ("RETURNING {name}", "leave it out: a SELECT from the table shows its rows"),
    ("RETURNING *", "leave it out: a SELECT from the table shows its rows"),
    ("RETURNING", "leave it out: a SELECT from the table shows its rows"),
    ("DISTRIBUTED", "leave it out: PARTITION BY in the query that writes rows decides how they are divided"),
    ("CLUSTERED", "leave it out: PARTITION BY in the query that writes rows decides how they are divided"),
    ("FRESHNESS", "leave it out: every micro-batch brings a table up to date"),
    ("AT LOCAL", "times are UTC; AT TIME ZONE 'Europe/Paris' names a zone"),
    ("GLOBAL TEMPORARY", "leave out GLOBAL: what a script declares is the script's own"),
    ("LOCAL TEMPORARY", "leave out LOCAL: what a script declares is the script's own"),
    ("CASCADE", "leave it out: DROP is refused while a query reads it; DROP QUERY ends the query"),
    ("RESTRICT", "leave it out: DROP is always refused while a query reads it"),
    ("INHERITS (", "list all columns: a table is one by itself"),
    ("TABLESPACE", "leave it out: the options of WITH say where rows are"),
    ("ON COMMIT", "leave it out: a script is no transaction"),
    ("WITH DATA", "leave it out: a table is filled at once, and kept up to date"),
    ("WITH NO", "leave it out: a table is filled at once, and kept up to date"),
    ("WITH CHECK", "leave it out: no rows are written into a view"),
    ("WITH LOCAL CHECK", "leave it out: no rows are written into a view"),
    ("WITH CASCADED CHECK", "leave it out: no rows are written into a view"),
    ("INTO {name} FROM", "CREATE TABLE {name} AS SELECT keeps the result of a query"),
    ("SELECT INTO", "CREATE TABLE {name} AS SELECT keeps the result of a query"),
    ("INT CONSTRAINT", "leave out the name: id INT PRIMARY KEY"),
    ("CONSTRAINT {name} PRIMARY", "leave out the name: id INT PRIMARY KEY"),
    ("CONSTRAINT {name} NOT", "leave out the name: a INT NOT NULL"),
    ("CONSTRAINT {name} UNIQUE", "leave it out: only the key of a table is unique"),
    ("CONSTRAINT {name} CHECK", "leave it out, and filter the rows where they are read: WHERE has the condition"),
    ("CONSTRAINT {name} REFERENCES", "leave it out: a join finds the rows that a column refers to"),
    ("ON DELETE", "leave it out: no rows are deleted by rows of another table"),
    ("ON UPDATE", "leave it out: no rows are changed by rows of another table"),
    ("DEFERRABLE", "leave it out: a script is no transaction"),
    ("EXCLUDE USING", "leave it out: only the key of a table is unique"),
    ("IDENTITY (", "the key of a row has to be in its record"),
    ("COLLATE {name}", "leave it out: texts are compared by their bytes in UTF-8"),
    ("COLLATE", "leave it out: texts are compared by their bytes in UTF-8"),
    (
        "TIMESTAMPTZ {string}",
        "TIMESTAMP '2026-01-31 12:00:00'; CAST('2026-01-31 12:00:00+01:00' AS TIMESTAMP) reads a zone",
    ),
    ("TIMESTAMP WITH", _MOMENT),
    ("TIMESTAMP WITH TIME", _MOMENT),
    *(
        (f"{kind} {{string}}", f"CAST('1' AS {name}) gives a text a type")
        for name, kinds in _TYPED.items()
        for kind in kinds.split()
    ),
    ("ONLY {name}", "leave out ONLY: a table is one by itself"),
    ("AS ( INSERT", _NO_WRITE),
    ("AS ( UPDATE", _NO_WRITE),
    ("AS ( DELETE", _NO_WRITE),
    (") AS SELECT", "leave out the list in parentheses: the query gives names, types and the key"),
    ("PURGE", "leave it out: DROP forgets the declaration, and the rows stay"),
    ("PARTITION BY RANGE", "leave it out: a table is one, and its rows are divided by their keys"),
    ("PARTITION BY LIST", "leave it out: a table is one, and its rows are divided by their keys"),
    ("PARTITION BY HASH", "leave it out: a table is one, and its rows are divided by their keys"),
    ("USING >", "ORDER BY a DESC puts the greatest first"),
    ("USING <", "ORDER BY a puts the least first"),
    ("USING {string}", "queries run no programs; docs/functions.md lists the functions they have"),
    ("DELETE TOPIC", "leave it out: DROP forgets the declaration, and the rows stay"),
    ("FOR UPDATE", "leave it out: a read takes no locks"),
    ("RECURSIVE", "a recursive query has no bound; join as many times as there are levels"),
    ("WITH RECURSIVE {name}", "a recursive query has no bound; join as many times as there are levels"),
    ("GROUPS", "frames are RANGE of a time or ROWS of a number"),
    ("INCLUDING", "leave it out: LIKE takes all columns; list them to take some"),
    ("EXCLUDING", "leave it out: LIKE takes all columns; list them to take some"),
    ("EXTENDED", "leave it out: SHOW prints all it knows"),
    ("LIKE {name} (", "leave it out: LIKE takes all columns; list them to take some"),
    ("-> {string}", "GET_JSON_OBJECT(json, '$.a.b') reads a field of JSON"),
    ("-> >", "GET_JSON_OBJECT(json, '$.a.b') reads a field of JSON"),
    ("& &", "ARRAYS_OVERLAP(a, b)"),
    ("! ~ ~ *", "text NOT ILIKE 'pattern'"),
    ("! ~ ~", "text NOT LIKE 'pattern'"),
    ("! ~ *", "text NOT RLIKE '(?i)pattern' matches none, in upper or lower case"),
    ("~ ~ *", "text ILIKE 'pattern'"),
    ("~ ~", "text LIKE 'pattern'"),
    ("~ *", "text RLIKE '(?i)pattern' matches a regular expression, in upper or lower case"),
    ("| /", "SQRT(value)"),
    ("|| /", "CBRT(value)"),
    ("{number} !", "FACTORIAL(number)"),
    ("! ~", "text NOT RLIKE 'pattern' matches no regular expression"),
    ("E {string}", "leave out E: a backslash is a backslash, and CHR(10) the end of a line"),
    ("N {string}", "leave out N: texts are Unicode"),
    ("_UTF8 {string}", "leave it out: texts are Unicode"),
    ("B {string}", "CONV('101', 2, 10) reads bits"),
    ("{string} PRECEDING", "INTERVAL '1' HOUR PRECEDING"),
    ("{string} :: INTERVAL", "INTERVAL '1' HOUR PRECEDING"),
    *(
        (f"INTERVAL {{string}} {unit} (", "leave out the number of digits: INTERVAL '10' DAY")
        for unit in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
    ),
    ("[ :", _SLICE),
    ("{number} : {number}", _SLICE),
    ("{number} : ]", _SLICE),
    ("EXCLUDE", "leave it out: a frame takes the current row"),
    ("AS MATERIALIZED (", "leave out MATERIALIZED: a query is planned where it is read"),
    ("AS NOT MATERIALIZED", "leave it out: a query is planned where it is read"),
    ("DISTRIBUTE BY", "PARTITION BY divides the rows of a stream by a key; leave it out in a read"),
    ("CLUSTER BY", "PARTITION BY divides the rows of a stream by a key; leave it out in a read"),
    ("SORT BY", "leave it out: rows of a stream come in no order; a read has ORDER BY"),
    ("VERSION AS OF", _NOW),
    ("TIMESTAMP AS OF", _NOW),
    ("SYSTEM_VERSION AS OF", _NOW),
    ("EXCEPT ALL", "EXCEPT gives each row once; GROUP BY and COUNT(*) tell how often a row is there"),
    ("MINUS ALL", "EXCEPT gives each row once; GROUP BY and COUNT(*) tell how often a row is there"),
    ("UNION ALL BY", "leave out BY NAME, and name the columns of both queries in the same order"),
    ("UNION BY", "leave out BY NAME, and name the columns of both queries in the same order"),
    ("STREAM ( {name} )", "leave out STREAM here; it stands behind SELECT: SELECT STREAM * FROM {name}"),
    ("INTERSECT ALL", "INTERSECT gives each row once; GROUP BY and COUNT(*) tell how often a row is there"),
    ("FROM RANGE (", "GENERATE_SERIES(0, 9) has the whole numbers from its first argument to its last one"),
    ("IDENTIFIER ( {string}", "write the name as it is, without quotes"),
    ("{string} {string}", "'a' || 'b' makes one text of two"),
    ("TIMESTAMP_NTZ {string}", "TIMESTAMP '2026-01-31 12:00:00', which is in UTC"),
    ("TIMESTAMP_LTZ {string}", "TIMESTAMP '2026-01-31 12:00:00', which is in UTC"),
    (") DAY TO", "TIMESTAMPDIFF(SECOND, a, b) is the time from a to b; a difference of times needs no unit"),
    (") HOUR TO", "TIMESTAMPDIFF(SECOND, a, b) is the time from a to b; a difference of times needs no unit"),
    (") MINUTE TO", "TIMESTAMPDIFF(SECOND, a, b) is the time from a to b; a difference of times needs no unit"),
    *((f") {unit} AS", f"TIMESTAMPDIFF({unit}, a, b) is the time from a to b") for unit in ("DAY", "HOUR", "MINUTE")),
    ("WITH TIES", "QUALIFY RANK() OVER (ORDER BY a) <= 5 keeps rows of the same place"),
    ("~", "text RLIKE 'pattern' matches a regular expression"),
    ("< <", "SHIFTLEFT(value, bits)"),
    ("> >", "SHIFTRIGHT(value, bits)"),
    ("AS FROM", "a query begins with SELECT: SELECT STREAM * FROM {name}"),
    (
        "FROM {name} .",
        NO_QUALIFIED,
    ),
    (
        "JOIN {name} .",
        NO_QUALIFIED,
    ),
    ("REPLACE (", "name the column anew: SELECT * EXCEPT (a), UPPER(a) AS a"),
    *(
        (f"{before} : {{name}}", _NO_PARAMETERS)
        for before in ("SELECT", "=", "<", ">", "(", ",", "AND", "BETWEEN", "LIMIT")
    ),
    (": {name}", "GET_JSON_OBJECT(json, '$.a.b') reads a field of JSON"),
    ("USING DELTA", _DELTA),
    ("USING {name}", _FILES),
    ("STORED AS", _FILES),
    ("STORED BY", _FILES),
    ("ROW FORMAT", _FILES),
    ("LOCATION {string}", _FILES),
    ("TBLPROPERTIES (", "leave it out: WITH has the options of the connector"),
    ("OPTIONS (", "WITH has the options of the connector: WITH (connector = 'files', path = 'folder', format = 'csv')"),
    ("| >", "write the steps as clauses of one SELECT, or as queries of WITH"),
)

# Words that a statement of a kind does not take.
_WITHIN: dict[tuple[str, str], str] = {
    ("UPDATE", "WHERE"): "UPDATE {name} SET a = s.a FROM s WHERE {name}.k = s.k changes rows by rows of a stream s",
    ("DELETE", "WHERE"): "DELETE FROM {name} USING s WHERE {name}.k = s.k deletes rows by rows of a stream s",
}

# Calls with words of their own between the arguments.
CALLS: dict[str, str] = {
    "JSON_VALUE": _JSON_PATH,
    "JSON_QUERY": _JSON_PATH,
    "JSON_EXISTS": "GET_JSON_OBJECT(json, '$.path') IS NOT NULL",
    "JSON_OBJECT": "TO_JSON(NAMED_STRUCT('name', value)) writes an object; it leaves out fields that are NULL",
    "JSON_OBJECTAGG": "TO_JSON(MAP_FROM_ENTRIES(COLLECT_LIST(STRUCT(name, value)))) writes an object",
    "JSON_ARRAYAGG": "TO_JSON(COLLECT_LIST(value)) writes an array of the values of a window",
    "JSON_TUPLE": "GET_JSON_OBJECT(json, '$.a') AS a in the SELECT list, for each field",
    "STACK": "CROSS JOIN UNNEST(ARRAY[STRUCT('a' AS name, a AS value), STRUCT('b' AS name, b AS value)]) AS u",
    "GENERATE_SERIES": "UNNEST(SEQUENCE(1, 10, 2)) AS u counts in steps",
    "ML_PREDICT": "queries call no models: compute the value outside, and join it",
    "READ_FILES": "CREATE STREAM with connector = 'files' declares what is read from a folder",
    "READ_KAFKA": "CREATE STREAM with connector = 'kafka' declares what is read from a topic",
}

# What the language has a place for, but does not run.
_UNBUILT: tuple[tuple[str, str, str], ...] = (
    ("ASOF JOIN", "ASOF JOIN", "JOIN t FOR SYSTEM_TIME AS OF o.time ON the key looks up the row of that time"),
    (
        "ASOF LEFT JOIN",
        "ASOF JOIN",
        "LEFT JOIN t FOR SYSTEM_TIME AS OF o.time ON the key looks up the row of that time",
    ),
    (
        "MATCH_RECOGNIZE (",
        "MATCH_RECOGNIZE",
        "LAG(value) OVER (PARTITION BY key ORDER BY time RANGE INTERVAL '10' MINUTE PRECEDING) is the row before",
    ),
    (
        "WATERMARK {name} DELAY",
        "WATERMARK in a query",
        "the declaration of the stream has it: WATERMARK FOR {name} AS {name} - INTERVAL '10' SECOND",
    ),
)
# Signs that begin no token, with what stands around them; the longest that fits is taken.
_SIGNS: tuple[tuple[str, str], ...] = (
    (r"\?\?[|&]|\?\s*'", "GET_JSON_OBJECT(json, '$.a') IS NOT NULL tells whether a field is there"),
    (r"\?", _NO_PARAMETERS),
    (r"\\", "leave it out: it is for the shell of another system"),
    (r"\$\d|\$\{", _NO_PARAMETERS),
    (r"\$", "texts stand in single quotes: 'it''s'; a script has no variables of its own"),
    (r"#>>?", "GET_JSON_OBJECT(json, '$.a.b') reads a field of JSON"),
    (r"#", "a ^ b is the exclusive OR of bits, and -- begins a comment"),
    (r"@>\s*'", "GET_JSON_OBJECT(json, '$.a') = 'value' compares a field of JSON"),
    (r"@>|<@", "ARRAY_CONTAINS(array, value); FORALL(b, e -> ARRAY_CONTAINS(a, e)) for several values"),
    (r"\^@", "STARTSWITH(text, 'prefix')"),
    (r"@@", "text RLIKE 'pattern' looks for a word"),
    (r"@", "ABS(value)"),
)
_MODIFIERS = frozenset({"OR", "REPLACE", "REFRESH", "TEMPORARY", "TEMP", "PRIVATE", "GLOBAL"})
_NO_NAMES = frozenset(
    {"TABLE", "STREAM", "STREAMING", "LIVE", "VIEW", "INTO", "FROM", "IN", "IF", "NOT", "EXISTS", "QUERY", "TO"}
)
_REACH = 4
_TYPES = {"{name}": NAME, "{string}": STRING, "{number}": NUMBER}

Show = Callable[[Token], str]


def propose_sign(text: str, place: int) -> str | None:
    """What to write instead of a sign at a place of a text that begins no token."""
    for pattern, hint in _SIGNS:
        sign = re.compile(pattern)
        if sign.match(text, place) or sign.fullmatch(text, max(place - 1, 0), place + 1):
            return hint
    return None


def find_unbuilt(tokens: Sequence[Token], index: int, show: Show) -> tuple[str, str] | None:
    """A construct that is not run, and what to write instead. `index`: the token at which the grammar stops."""
    for pattern, construct, hint in _UNBUILT:
        place = _find_clause(_split(pattern), tokens, index)
        if place is not None:
            return construct, _fill(hint, tokens, place + 1, show)
    return None


def propose_form(tokens: Sequence[Token], index: int, show: Show) -> str | None:
    """What to write for the words of another system at which the grammar stops; None if they are not known."""
    name = _find_call(tokens, index)
    if name in CALLS:
        return CALLS[name]
    for pattern, hint in CLAUSES:
        place = _find_clause(_split(pattern), tokens, index)
        if place is not None:
            return _fill(hint, tokens, place + 1, show)
    within = _WITHIN.get((tokens[0].word or "", tokens[index].word or "")) if index < len(tokens) else None
    unfinished = _find_statement(UNFINISHED, tokens, 0, show) if index == len(tokens) else None
    if within or unfinished:
        return _fill(within, tokens, 1, show) if within else unfinished
    return _find_statement(STATEMENTS, tokens, index, show)


def propose_statement(tokens: Sequence[Token], show: Show) -> str | None:
    """What to write for a statement that begins as in another system, wherever the grammar stops."""
    return _find_statement(STATEMENTS, tokens, 0, show)


def propose_otherwise(tokens: Sequence[Token], index: int, show: Show) -> str | None:
    """What may be written after the first word of the statement, in general."""
    return _find_statement(OTHERWISE, tokens, index, show)


def _find_statement(entries: Sequence[tuple[str, str]], tokens: Sequence[Token], index: int, show: Show) -> str | None:
    first = next((i for i in range(1, len(tokens)) if tokens[i].word not in _MODIFIERS), 1)
    begin = [tokens[0], *tokens[first:]]
    for pattern, hint in entries:
        words = _split(pattern)
        if _fits(words, begin, 0) and index <= first + len(words):
            place = first + words.index("{name}") - 1 if entries is UNFINISHED else first + len(words) - 1
            return _fill(hint, tokens, place, show)
    return None


def _find_clause(words: Sequence[str], tokens: Sequence[Token], index: int) -> int | None:
    """Where words stand that the grammar does not take, or takes for names."""
    reach = _REACH if words[-1] == "(" else 0
    for place in range(max(index - len(words) + 1 - reach, 0), index + 1):
        if _fits(words, tokens, place):
            return place
    return None


def _fits(words: Sequence[str], tokens: Sequence[Token], place: int) -> bool:
    """Whether the words stand at a place."""
    if len(words) > len(tokens) - place:
        return False
    for offset, word in enumerate(words):
        token = tokens[place + offset]
        if token.type != _TYPES[word] if word in _TYPES else word != (token.word or token.value):
            return False
    return True


@cache
def _split(pattern: str) -> tuple[str, ...]:
    """The words of a pattern. Each statement that is refused is compared with hundreds of them."""
    return tuple(pattern.split())


def _find_call(tokens: Sequence[Token], index: int) -> str | None:
    """The function whose arguments the token is among."""
    closed = 0
    for place in range(index - 1, 0, -1):
        closed += (tokens[place].value == ")") - (tokens[place].value == "(")
        if closed < 0:
            return tokens[place - 1].word
    return None


def _fill(hint: str, tokens: Sequence[Token], place: int, show: Show) -> str:
    """The hint with the first name from `place` on."""
    named = (token for token in tokens[place:] if token.type == NAME and token.word not in _NO_NAMES)
    token = next(named, None)
    return hint.replace("{name}", "name" if token is None else show(token))
