"""What other systems write and the grammar does not have -> what to write instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock.grammar import NAME, STRING, Token

_SCRIPT = "change the declaration in the script; docs/semantics.md says which changes a checkpoint accepts"
_NO_CATALOG = "leave it out: names have no catalog, database or schema"
_NO_QUALIFIED = "names have no catalog, database or schema; CREATE STREAM and CREATE TABLE declare places"
_NO_SESSION = "leave it out: it sets what belongs to another system; docs/semantics.md has the settings of Penstock"
_NO_TRANSACTION = "leave it out: the statements of a script are planned together, and a micro-batch is one transaction"
_NO_CODE = "leave it out: queries run no code of their own; docs/functions.md lists the functions they have"
_NO_UPKEEP = "leave it out: nothing is maintained by hand"
_BY_KEY = "rows are written by key: UPDATE t SET a = s.a FROM s WHERE t.k = s.k ELSE INSERT (a) VALUES (s.a)"
_PLACES = "the options of a CREATE STREAM or TABLE say where its rows are; docs/connectors.md lists them"
_SINKS = "INSERT INTO with a SELECT writes rows to what CREATE STREAM or CREATE TABLE declares"
_RIGHTS = "rights are those of the server: docs/serve.md"
_NO_PARTITION = "leave out PARTITION: select the column as any other"
_LISTS = "SHOW STREAMS, SHOW TABLES, SHOW VIEWS, SHOW QUERIES and SHOW FUNCTIONS list what there is"
_STREAMING = "CREATE STREAM {name} AS SELECT STREAM makes a stream of a query, CREATE TABLE {name} AS SELECT a table"
_NO_PARAMETERS = "a script has no parameters: write the value, or let the shell that calls penstock put it in"
_NOW = "leave it out: a read sees the rows as they are now"
_JSON_PATH = "GET_JSON_OBJECT(json, '$.path') is the text at a path, or NULL; CAST gives it a type"

# How statements begin. A word in braces stands for a name. {name} in a hint is that name, or the word behind.
STATEMENTS: tuple[tuple[str, str], ...] = (
    ("ALTER", _SCRIPT),
    ("COMMENT ON", "CREATE TABLE and the columns in it take COMMENT 'text'"),
    ("RENAME", _SCRIPT),
    ("USE", _NO_CATALOG),
    ("CREATE CATALOG", _NO_CATALOG),
    ("CREATE DATABASE", _NO_CATALOG),
    ("CREATE SCHEMA", _NO_CATALOG),
    ("CREATE NAMESPACE", _NO_CATALOG),
    ("DROP CATALOG", _NO_CATALOG),
    ("DROP DATABASE", _NO_CATALOG),
    ("DROP SCHEMA", _NO_CATALOG),
    ("BEGIN", _NO_TRANSACTION),
    ("START", _NO_TRANSACTION),
    ("COMMIT", _NO_TRANSACTION),
    ("ROLLBACK", _NO_TRANSACTION),
    ("END", _NO_TRANSACTION),
    ("EXECUTE INSERT", "leave out EXECUTE: an INSERT is a query that runs by itself"),
    ("EXECUTE", _NO_TRANSACTION),
    ("RESET", _NO_SESSION),
    ("UNSET", _NO_SESSION),
    ("SET TIME", "leave it out: times are UTC; FROM_UTC_TIMESTAMP(time, 'Europe/Paris') is the time of a place"),
    ("SET VAR", "variables are those of the shell that calls penstock"),
    ("DECLARE", "variables are those of the shell that calls penstock"),
    ("DEFINE", "variables are those of the shell that calls penstock"),
    ("UNDEFINE", "variables are those of the shell that calls penstock"),
    ("ADD", _NO_CODE),
    ("REMOVE", _NO_CODE),
    ("LOAD", _NO_CODE),
    ("UNLOAD", _NO_CODE),
    ("CREATE FUNCTION", _NO_CODE),
    ("CREATE AGGREGATE", _NO_CODE),
    ("CREATE PROCEDURE", _NO_CODE),
    ("CREATE MACRO", _NO_CODE),
    ("CREATE MODEL", _NO_CODE),
    ("DROP FUNCTION", _NO_CODE),
    ("CALL", _NO_CODE),
    ("CREATE INDEX", _NO_UPKEEP),
    ("CREATE UNIQUE", _NO_UPKEEP),
    ("DROP INDEX", _NO_UPKEEP),
    ("ANALYZE", _NO_UPKEEP),
    ("VACUUM", _NO_UPKEEP),
    ("OPTIMIZE", _NO_UPKEEP),
    ("MSCK", _NO_UPKEEP),
    ("REFRESH", _NO_UPKEEP),
    ("CACHE", _NO_UPKEEP),
    ("UNCACHE", _NO_UPKEEP),
    ("CLEAR", _NO_UPKEEP),
    ("TRUNCATE", "rows of a table go by their keys: DELETE FROM {name} USING s WHERE {name}.k = s.k, for a stream s"),
    ("MERGE", _BY_KEY),
    ("UPSERT", _BY_KEY),
    ("REPLACE TABLE", "CREATE OR REPLACE TABLE {name}"),
    ("REPLACE", _BY_KEY),
    ("INSERT OVERWRITE", "INSERT INTO {name}: a table is replaced row by row, by its keys"),
    (
        "APPLY CHANGES",
        "CREATE TABLE with a key takes changes; its option `operation` names the column that tells deletes",
    ),
    ("CREATE FLOW", "INSERT INTO writes the rows of a query to what is declared"),
    ("CREATE STREAMING", _STREAMING),
    ("CREATE LIVE", _STREAMING),
    ("CREATE DYNAMIC", "CREATE TABLE {name} AS SELECT keeps the result of a query up to date"),
    ("CREATE MATERIALIZED", "CREATE TABLE {name} AS SELECT keeps the result of a query up to date"),
    ("CREATE SOURCE TABLE", "CREATE TABLE {name}: every declared table is read as it is"),
    ("CREATE SOURCE STREAM", "CREATE STREAM {name}: every declared stream is read as it is"),
    ("CREATE EXTERNAL", "CREATE TABLE {name} with a connector: what is declared is always outside"),
    ("CREATE CONNECTOR", _PLACES),
    ("CREATE CONNECTION", _PLACES),
    ("DROP CONNECTOR", "DROP STREAM, DROP TABLE, DROP VIEW and DROP QUERY take out what a script has made"),
    ("CREATE SOURCE", _PLACES),
    ("CREATE SINK", _SINKS),
    ("DROP SOURCE", "DROP STREAM {name}, or DROP TABLE {name}"),
    ("DROP SINK", "DROP QUERY ends what writes it"),
    ("DROP MATERIALIZED", "DROP TABLE {name}"),
    ("CREATE UNLOGGED", "CREATE TABLE {name}"),
    ("CREATE TRIGGER", "INSERT INTO with a SELECT runs for each row that comes"),
    ("CREATE EXTENSION", _NO_CODE),
    ("CREATE ROLE", _RIGHTS),
    ("CREATE USER", _RIGHTS),
    ("CREATE POLICY", _RIGHTS),
    ("SUBSCRIBE", "SELECT * FROM {name} shows the changes of a table as long as it runs"),
    ("LISTEN", "SELECT STREAM * FROM a stream shows its rows as they come"),
    ("NOTIFY", "INSERT INTO writes rows that others read"),
    ("PREPARE", "leave it out: a query is prepared once, when it starts"),
    ("DEALLOCATE", _NO_SESSION),
    ("DISCARD", _NO_SESSION),
    ("FETCH", "penstock query prints the rows of a SELECT"),
    ("SAVEPOINT", _NO_TRANSACTION),
    ("LOCK", _NO_TRANSACTION),
    ("REINDEX", _NO_UPKEEP),
    ("SET {name} . {name} . {name}", _NO_SESSION),
    ("SET {name} . {name} . {name} . {name}", _NO_SESSION),
    ("SET {name} TO", "SET {name} = value"),
    ("SET SESSION", _NO_SESSION),
    ("SET LOCAL", _NO_SESSION),
    ("INSERT INTO {name} DEFAULT", "INSERT INTO {name} SELECT gives the values"),
    ("CREATE SEQUENCE", "a number that counts up would differ after a restart; use a column of the data"),
    ("CREATE TYPE", "write the type where it is used: STRUCT<a: INT, b: STRING>"),
    ("CREATE DOMAIN", "write the type where it is used: STRUCT<a: INT, b: STRING>"),
    ("DROP TYPE", "types have no names of their own"),
    ("PRINT", "SELECT STREAM * FROM {name} shows the rows of a stream"),
    ("TERMINATE ALL", "DROP QUERY ends a query by its name; Ctrl-C ends all of them"),
    ("TERMINATE", "DROP QUERY {name}, or Ctrl-C, ends a query"),
    ("STOP", "DROP QUERY, or Ctrl-C, ends a query"),
    ("PAUSE ALL", "PAUSE QUERY takes the name of one query; SHOW QUERIES names them"),
    ("RESUME ALL", "RESUME QUERY takes the name of one query; SHOW QUERIES names them"),
    ("PAUSE", "PAUSE QUERY {name}"),
    ("RESUME", "RESUME QUERY {name}"),
    ("RUN", "penstock takes several files: penstock run a.sql b.sql"),
    ("SOURCE", "penstock takes several files: penstock run a.sql b.sql"),
    ("ASSERT", "`penstock check` judges a script, and `penstock query` prints the rows of a table"),
    ("COPY", "declare the files: CREATE STREAM with connector = 'files', and INSERT INTO reads or writes them"),
    ("EXPORT", "INSERT INTO a stream or table with a connector writes the rows of a query"),
    ("COMPILE", "`penstock compile` writes the program that a script becomes"),
    ("GRANT", _RIGHTS),
    ("REVOKE", _RIGHTS),
    ("HELP", "docs/sql.md has the whole language"),
    ("DESCRIBE FUNCTION", "docs/functions.md describes each function; SHOW FUNCTIONS names them"),
    ("DESC FUNCTION", "docs/functions.md describes each function; SHOW FUNCTIONS names them"),
    ("DESCRIBE QUERY", "EXPLAIN PLAN before the query shows its columns and their types"),
    ("DESC QUERY", "EXPLAIN PLAN before the query shows its columns and their types"),
    ("DESCRIBE HISTORY", "DESCRIBE {name} shows what there is"),
    ("DESCRIBE JOB", "SHOW QUERIES names the queries that run"),
    ("SHOW COLUMNS", "DESCRIBE {name}"),
    ("SHOW JOBS", "SHOW QUERIES"),
    ("SHOW DATABASES", _LISTS),
    ("SHOW VARIABLES", _LISTS),
    ("CREATE SOURCE CONNECTOR", _PLACES),
    ("CREATE SINK CONNECTOR", _PLACES),
    ("INSERT INTO {name} PARTITION", _NO_PARTITION),
    ("INSERT INTO TABLE {name} PARTITION", _NO_PARTITION),
    ("FROM", "a query begins with SELECT: SELECT STREAM * FROM {name}"),
)

# What a script may do in general, where nothing more is known and no keyword is near.
_OTHERWISE: tuple[tuple[str, str], ...] = (
    ("SHOW", _LISTS),
    ("LIST", _LISTS),
    ("SET", _NO_SESSION),
    ("EXPLAIN", "EXPLAIN PLAN, STATE, PARTITIONS, SPARK, CODE or AST before a statement; EXPLAIN WHY before a name"),
    ("FROM", "a query begins with SELECT: SELECT STREAM * FROM {name}"),
)

# Words within statements where the grammar stops. Behind a `(` it may have gone on for a few words.
CLAUSES: tuple[tuple[str, str], ...] = (
    ("PIVOT (", "an aggregate for each value: SUM(a) FILTER (WHERE b = 'x') AS x"),
    ("UNPIVOT (", "CROSS JOIN UNNEST(ARRAY[STRUCT('a' AS name, a AS value), STRUCT('b' AS name, b AS value)]) AS u"),
    ("TABLESAMPLE (", "take rows by their keys, which is the same after a restart: WHERE PMOD(HASH(key), 10) = 0"),
    ("OVERLAPS (", "two spans overlap where start1 < end2 AND start2 < end1"),
    (
        "LATERAL TABLE (",
        "queries call no functions of their own; CROSS JOIN UNNEST(array) makes rows of an array, and JOIN t "
        "FOR SYSTEM_TIME AS OF time takes the rows of a table at a time",
    ),
    ("LATERAL {name} (", "CROSS JOIN UNNEST(array) WITH ORDINALITY AS u(value, position)"),
    ("LATERAL ( SELECT", "compute the columns in the SELECT list, or in a subquery around the relation"),
    ("TABLE ( SELECT", "give the query a name before it: WITH q AS (the query), and then TABLE q"),
    ("IS JSON", "JSON_OBJECT_KEYS(text) IS NOT NULL tells objects, JSON_ARRAY_LENGTH(text) IS NOT NULL arrays"),
    ("IS NOT JSON", "JSON_OBJECT_KEYS(text) IS NULL AND JSON_ARRAY_LENGTH(text) IS NULL tells other texts"),
    ("IGNORE NULLS", "MAX_BY(value, time) FILTER (WHERE value IS NOT NULL) passes NULLs over"),
    ("RESPECT NULLS", "leave it out: NULLs count"),
    ("ON CONFLICT", "leave it out: an INSERT into a table with a key replaces rows by that key"),
    ("RETURNING", "leave it out: a SELECT from the table shows its rows"),
    ("DISTRIBUTED", "leave it out: PARTITION BY in the query that writes rows decides how they are divided"),
    ("CLUSTERED", "leave it out: PARTITION BY in the query that writes rows decides how they are divided"),
    ("FRESHNESS", "leave it out: every micro-batch brings a table up to date"),
    ("AT LOCAL", "times are UTC; AT TIME ZONE 'Europe/Paris' names a zone"),
    ("DELETE TOPIC", "leave it out: DROP forgets the declaration, and the rows stay"),
    ("FOR UPDATE", "leave it out: a read takes no locks"),
    ("RECURSIVE", "a recursive query has no bound; join as many times as there are levels"),
    ("WITH RECURSIVE {name}", "a recursive query has no bound; join as many times as there are levels"),
    ("GROUPS", "frames are RANGE of a time or ROWS of a number"),
    ("INCLUDING", "leave it out: LIKE takes all columns; list them to take some"),
    ("EXCLUDING", "leave it out: LIKE takes all columns; list them to take some"),
    ("EXTENDED", "leave it out: SHOW prints all it knows"),
    ("-> {string}", "GET_JSON_OBJECT(json, '$.a.b') reads a field of JSON"),
    ("-> >", "GET_JSON_OBJECT(json, '$.a.b') reads a field of JSON"),
    ("& &", "ARRAYS_OVERLAP(a, b)"),
    ("! ~", "text NOT RLIKE 'pattern' matches no regular expression"),
    ("E {string}", "leave out E: a backslash is a backslash, and CHR(10) the end of a line"),
    ("N {string}", "leave out N: texts are Unicode"),
    ("_UTF8 {string}", "leave it out: texts are Unicode"),
    ("B {string}", "CONV('101', 2, 10) reads bits"),
    ("{string} PRECEDING", "INTERVAL '1' HOUR PRECEDING"),
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
    ("INTERSECT ALL", "INTERSECT gives each row once; GROUP BY and COUNT(*) tell how often a row is there"),
    ("FROM RANGE (", "GENERATE_SERIES(0, 9) has the whole numbers from its first argument to its last one"),
    ("IDENTIFIER ( {string}", "write the name as it is, without quotes"),
    ("{string} {string}", "'a' || 'b' makes one text of two"),
    ("TIMESTAMP_NTZ {string}", "TIMESTAMP '2026-01-31 12:00:00', which is in UTC"),
    ("TIMESTAMP_LTZ {string}", "TIMESTAMP '2026-01-31 12:00:00', which is in UTC"),
    (") DAY TO", "TIMESTAMPDIFF(SECOND, a, b) is the time from a to b; a difference of times needs no unit"),
    (") HOUR TO", "TIMESTAMPDIFF(SECOND, a, b) is the time from a to b; a difference of times needs no unit"),
    (") MINUTE TO", "TIMESTAMPDIFF(SECOND, a, b) is the time from a to b; a difference of times needs no unit"),
    ("WITH TIES", "QUALIFY RANK() OVER (ORDER BY a) <= 5 keeps rows of the same place"),
    ("~", "text RLIKE 'pattern' matches a regular expression"),
    ("< <", "SHIFTLEFT(value, bits)"),
    ("> >", "SHIFTRIGHT(value, bits)"),
    ("AS FROM", "a query begins with SELECT: SELECT STREAM * FROM {name}"),
    (
        "FROM {name} .",
        _NO_QUALIFIED,
    ),
    (
        "JOIN {name} .",
        _NO_QUALIFIED,
    ),
    ("REPLACE (", "name the column anew: SELECT * EXCEPT (a), UPPER(a) AS a"),
    ("SELECT : {name}", _NO_PARAMETERS),
    ("= : {name}", _NO_PARAMETERS),
    ("< : {name}", _NO_PARAMETERS),
    ("> : {name}", _NO_PARAMETERS),
    ("( : {name}", _NO_PARAMETERS),
    (", : {name}", _NO_PARAMETERS),
    ("AND : {name}", _NO_PARAMETERS),
    ("BETWEEN : {name}", _NO_PARAMETERS),
    ("LIMIT : {name}", _NO_PARAMETERS),
    (": {name}", "GET_JSON_OBJECT(json, '$.a.b') reads a field of JSON"),
    ("USING {name} OPTIONS", "WITH (connector = 'files', path = 'folder', format = 'csv') says where rows are"),
    ("USING {name} LOCATION", "WITH (connector = 'files', path = 'folder', format = 'csv') says where rows are"),
    ("| >", "write the steps as clauses of one SELECT, or as queries of WITH"),
)

# Words that a statement of a kind does not take.
_WITHIN: dict[tuple[str, str], str] = {
    ("UPDATE", "WHERE"): "UPDATE {name} SET a = s.a FROM s WHERE {name}.k = s.k changes rows by those of a stream s",
    ("DELETE", "WHERE"): "DELETE FROM {name} USING s WHERE {name}.k = s.k deletes rows by those of a stream s",
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
    "READ_FILES": "CREATE STREAM with connector = 'files' declares what is read from a folder",
    "READ_KAFKA": "CREATE STREAM with connector = 'kafka' declares what is read from a topic",
}

# What the language has a place for, but does not run.
_UNBUILT: tuple[tuple[str, str, str], ...] = (
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
# Signs that begin no token.
SIGNS = {
    "$": "texts stand in single quotes: 'it''s'; a script has no variables of its own",
    "?": _NO_PARAMETERS,
    "#": "GET_JSON_OBJECT(json, '$.a.b') reads a field of JSON, and -- begins a comment",
    "@": "ARRAY_CONTAINS(array, value)",
}
_MODIFIERS = frozenset({"OR", "REPLACE", "REFRESH", "TEMPORARY", "TEMP", "PRIVATE", "GLOBAL"})
_NO_NAMES = frozenset({"TABLE", "STREAM", "STREAMING", "LIVE", "VIEW", "INTO", "FROM", "IF", "NOT", "EXISTS", "QUERY"})
_REACH = 4
_TYPES = {"{name}": NAME, "{string}": STRING}

Show = Callable[[Token], str]


def find_unbuilt(tokens: Sequence[Token], index: int, show: Show) -> tuple[str, str] | None:
    """A construct that is not run, and what to write instead. `index`: the token at which the grammar stops."""
    for pattern, construct, hint in _UNBUILT:
        place = _find_clause(pattern.split(), tokens, index)
        if place is not None:
            return construct, _fill(hint, tokens, place + 1, show)
    return None


def propose_form(tokens: Sequence[Token], index: int, show: Show) -> str | None:
    """What to write for the words of another system at which the grammar stops; None if they are not known."""
    name = _find_call(tokens, index)
    if name in CALLS:
        return CALLS[name]
    for pattern, hint in CLAUSES:
        place = _find_clause(pattern.split(), tokens, index)
        if place is not None:
            return _fill(hint, tokens, place + 1, show)
    within = _WITHIN.get((tokens[0].word or "", tokens[index].word or "")) if index < len(tokens) else None
    return _fill(within, tokens, 1, show) if within else _find_statement(STATEMENTS, tokens, index, show)


def propose_otherwise(tokens: Sequence[Token], index: int, show: Show) -> str | None:
    """What may be written after the first word of the statement, in general."""
    return _find_statement(_OTHERWISE, tokens, index, show)


def _find_statement(entries: Sequence[tuple[str, str]], tokens: Sequence[Token], index: int, show: Show) -> str | None:
    first = next((i for i in range(1, len(tokens)) if tokens[i].word not in _MODIFIERS), 1)
    begin = [tokens[0], *tokens[first:]]
    for pattern, hint in entries:
        words = pattern.split()
        if _fits(words, begin) and index <= first + len(words):
            return _fill(hint, tokens, first + len(words) - 1, show)
    return None


def _find_clause(words: Sequence[str], tokens: Sequence[Token], index: int) -> int | None:
    """Where words stand that the grammar does not take, or takes for names."""
    reach = _REACH if words[-1] == "(" else 0
    for place in range(max(index - len(words) + 1 - reach, 0), index + 1):
        if _fits(words, tokens[place:]):
            return place
    return None


def _fits(words: Sequence[str], tokens: Sequence[Token]) -> bool:
    return len(words) <= len(tokens) and all(
        token.type == _TYPES[word] if word in _TYPES else word == (token.word or token.value)
        for word, token in zip(words, tokens, strict=False)
    )


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
