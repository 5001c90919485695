"""Random scripts of other systems: each statement, comment and cell has a mark that nothing else has."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from penstock.translate import System

# Statements by system. {m} is a mark; {m} in a name makes the statement unlike all others.
_SHARED = (
    "SELECT a, '{m}; x' AS text FROM s",
    "SELECT a AS {m} FROM s WHERE a > 1",
    "CREATE VIEW {m} AS SELECT a, b FROM s",
    "CREATE VIEW {m} AS SELECT a, COUNT(*) AS n FROM s GROUP BY a",
    "INSERT INTO sink SELECT a AS {m} FROM s",
    "DROP VIEW {m}",
    "ALTER TABLE s ADD COLUMN {m} INT",
    "DESCRIBE {m}",
    "EXPLAIN SELECT a AS {m} FROM s",
    "SELECT 'it''s {m}' AS q, \"b\" FROM s -- why; {c}",
    "SELECT a /* one; two {c} */ AS {m} FROM s",
    "SELECT (a FROM {m}",
    "WITH w AS (SELECT a FROM s) SELECT a AS {m} FROM w",
    "UPDATE s SET a = 1 WHERE b = '{m}'",
    "MERGE INTO s USING t ON s.a = t.a WHEN MATCHED THEN DELETE /* {c} */ -- {m}",
)
# No statements of any system.
_GARBAGE = ("SELEC a FROM {m}", "{m}", "'{m};")
_STATEMENTS = {
    System.FLINK: (
        "CREATE TABLE {m} (a INT, b STRING) WITH ('connector' = 'print')",
        "CREATE TABLE {m} (a INT, -- of; {c}\n b STRING COMMENT 'x;y', PRIMARY KEY (a) NOT ENFORCED)"
        " WITH ('connector' = 'filesystem', 'path' = '{m}', 'format' = 'json')",
        "EXECUTE STATEMENT SET BEGIN INSERT INTO sink SELECT a AS {m} FROM s; INSERT INTO sink SELECT b FROM s; END",
        "BEGIN STATEMENT SET; INSERT INTO sink SELECT a AS {m} FROM s; END",
        "CREATE FUNCTION {m} AS 'com.example.F'",
        "SELECT a FROM s FOR SYSTEM_TIME AS OF {m}.t AS x",
    ),
    System.KSQLDB: (
        "CREATE STREAM {m} (a INT KEY, b VARCHAR) WITH (KAFKA_TOPIC = 't;u', VALUE_FORMAT = 'JSON')",
        "CREATE TABLE {m} AS SELECT a, COUNT(*) AS n FROM s GROUP BY a EMIT CHANGES",
        "CREATE SOURCE CONNECTOR {m} WITH ('connector.class' = 'x')",
        "PRINT '{m}' FROM BEGINNING",
        "TERMINATE {m}",
        "DEFINE {m} = 'x;y'",
        "INSERT INTO s (a, b) VALUES (1, '{m}')",
        "ASSERT TOPIC {m} TIMEOUT 10 SECONDS",
    ),
    System.SPARK: (
        "CREATE TABLE {m} (a INT, b STRING) USING json LOCATION '/data/x;y'",
        "CREATE OR REFRESH STREAMING TABLE {m} AS SELECT a FROM STREAM(s)",
        "SELECT \"it\\\"s; {m}\" AS x, 'a\\';b' FROM s",
        "APPLY CHANGES INTO {m} FROM STREAM(s) KEYS (a) SEQUENCE BY b",
        "CREATE FLOW {m} AS INSERT INTO t BY NAME SELECT a FROM STREAM(s)",
        "BEGIN DECLARE x INT; SET x = 1; SELECT a AS {m} FROM s; END",
        "CACHE TABLE {m} AS SELECT a FROM s",
        "OPTIMIZE {m}",
    ),
}
_SESSION = {
    System.FLINK: ("SET 'k.{m}' = 'v;w'", "RESET 'k.{m}'", "USE CATALOG {m}", "ADD JAR '/lib/{m}.jar'",
                   "CREATE DATABASE {m}", "USE MODULES {m}"),
    System.KSQLDB: ("SET 'auto.{m}' = 'earliest'", "UNSET 'auto.{m}'"),
    System.SPARK: ("SET spark.{m} = 8", "SET spark.{m}=a b", "USE {m}", "ADD JAR /lib/{m}.jar", "REFRESH TABLE {m}",
                   "CACHE TABLE {m}", "CREATE SCHEMA {m}", "CLEAR CACHE -- {m}"),
}  # fmt: skip
_DECLARED = {
    System.FLINK: "CREATE TABLE {} (a INT, b STRING)"
    " WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'json')",
    System.KSQLDB: "CREATE STREAM {} (a INT, b VARCHAR) WITH (KAFKA_TOPIC = '{}', VALUE_FORMAT = 'JSON')",
    System.SPARK: "CREATE TABLE {} (a INT, b STRING) USING json LOCATION '{}'",
}
_CELLS = ("-- COMMAND ----------", "%sql", "%%sql", "%python", "%md", "-- COMMAND ----------\n%scala")


@dataclass
class DrawnScript:
    """`marks` are those of statements and cells, `comments` those of comments.

    `dispensable` are those of settings, and of what is no statement.
    """

    text: str = ""
    marks: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    dispensable: set[str] = field(default_factory=set)


def draw_script(system: System, random_: random.Random) -> DrawnScript:
    """A script of the system, with missing semicolons, cells, comments and empty statements here and there."""
    drawn = DrawnScript()
    pieces = [f"{_DECLARED[system].format(name, name)};\n" for name in ("s", "sink")]
    for number in range(random_.randint(1, 12)):
        mark, comment = f"mark{number}x", f"note{number}x"
        kind = random_.random()
        if kind < 0.1:
            pieces.append(f"\n{random_.choice(_CELLS)}\n{_draw_foreign(pieces, random_, mark, drawn)}")
            continue
        dispensable = _SESSION[system] if kind < 0.3 else _GARBAGE
        pattern = random_.choice(dispensable if kind < 0.4 else (*_SHARED, *_STATEMENTS[system] * 2))
        statement = pattern.replace("{m}", mark).replace("{c}", comment)
        if "{c}" in pattern:
            drawn.comments.append(comment)
        drawn.marks.append(mark)
        if kind < 0.4:
            drawn.dispensable.add(mark)
        pieces.append(_draw_gap(random_) + statement + _draw_end(random_))
    drawn.text = "".join(pieces)
    return drawn


def _draw_foreign(pieces: list[str], random_: random.Random, mark: str, drawn: DrawnScript) -> str:
    """A line of a cell, in whatever language it is."""
    drawn.marks.append(mark)
    return random_.choice((f"SELECT a AS {mark} FROM s;\n", f"print('it; {mark}')\n", f"# It's {mark}\n", f"{mark}\n"))


def _draw_gap(random_: random.Random) -> str:
    return random_.choice(("", "", "\n", " ;;\n", "\n\n-- a; b\n", "/* c; d */ ", "-" * 70 + "\n", "\t\r\n"))


def _draw_end(random_: random.Random) -> str:
    return random_.choice((";", ";", ";", ";\n", " ;", "\n", "\n\n", " -- end\n;", "; -- behind\n", " "))
