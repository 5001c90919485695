"""Each part of a printed text is known to come from its part of the script."""

from __future__ import annotations

import re

import penstock
from penstock.codegen.program import SparkQuery

ORDERS = """CREATE STREAM o (
  id INT, v INT, s STRING, a ARRAY<INT>, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE
) WITH (connector = 'files', path = 'in', format = 'json');
"""


def queries(text: str) -> tuple[SparkQuery, ...]:
    return penstock.compile(ORDERS + text).program.queries


def found(query: SparkQuery) -> set[tuple[str, str, str]]:
    """Of each place its name, its text in Spark SQL without blanks, and its text in the script."""
    return {
        (place.name, re.sub(r"\s", "", text.sql)[place.start : place.end], place.span.text)
        for text in query.printed
        for place in text.places
    }


def test_expressions_are_found_in_what_is_printed() -> None:
    (query,) = queries(
        "SELECT STREAM 'a  b' || s AS x, TRANSFORM(a, e -> e + id)[v] AS y, -(v) AS w, ts + INTERVAL '1' DAY AS z\n"
        "FROM o WHERE CASE WHEN v > 0 THEN CAST(s AS INT) % v > 1 END AND NOT s LIKE 'a\\_%';"
    )
    assert found(query) >= {
        ("[]", "TRANSFORM(`a`,`e`->`e`+`id`)[`v`]", "TRANSFORM(a, e -> e + id)[v]"),
        ("+", "`e`+`id`", "e + id"),
        ("-x", "-(`v`)", "-(v)"),
        ("+", "`ts`+INTERVAL'1'DAY", "ts + INTERVAL '1' DAY"),
        ("%", "CAST(`s`ASINT)%`v`", "CAST(s AS INT) % v"),
        ("CAST AS INT", "CAST(`s`ASINT)", "CAST(s AS INT)"),
        ("LIKE", "`s`LIKE'a\\\\_%'", "s LIKE 'a\\_%'"),
    }


def test_every_text_that_has_expressions_has_places() -> None:
    """The text with marks is that without, so that no place is shifted."""
    (query,) = queries("CREATE TABLE t AS SELECT s, SUM(v / id) AS x FROM TUMBLE(o, ts, INTERVAL '1' HOUR) GROUP BY s;")
    for _, printed, written in found(query):
        names = set(re.findall(r"`(\w+)`", printed)) - {"x"}
        assert names <= set(re.findall(r"\w+", written)), (printed, written)
    assert ("SUM", "SUM(CAST(`v`ASDOUBLE)/CAST(`id`ASDOUBLE))", "SUM(v / id)") in found(query)


def test_a_long_chain_has_places_as_far_as_it_is_not_too_deep() -> None:
    (query,) = queries(f"SELECT STREAM {' + '.join(['v'] * 190)} AS x FROM o;")
    assert 20 < sum(place.name == "+" for text in query.printed for place in text.places) < 189


def test_places_decide_nothing() -> None:
    one, other = (queries(text)[0] for text in ("SELECT STREAM v + 1 AS x FROM o;", "SELECT  STREAM  v+1 AS x FROM o;"))
    assert one == other
    assert one.fingerprint == other.fingerprint
    assert one.printed != other.printed
