"""What is said about a text that is no statement."""

from __future__ import annotations

import pytest

from penstock.diagnostics import CompileError, Source
from penstock.parser import parse
from tests.parser.texts import finding, findings, statement

# The text, with the place of the error marked; the code; what the hint contains.
REFUSED = [
    ("«SELCT» a FROM t", "S001", "SELECT"),
    ("SELECT a FORM «t»", "S001", "FROM"),
    ("SELECT a, «FROM» t", "S001", None),
    ("SELECT a FROM t, u «,»", "S002", None),
    ("SELECT a FROM t GRUOP «BY» a", "S001", "GROUP"),
    ("SELECT a FROM t EMIT «CHANGS»", "S001", "CHANGES"),
    ("CREATE «STREM» s (a INT)", "S001", "STREAM"),
    ("SELECT a = b «=» c FROM t", "S001", None),
    ("SELECT a FROM t WHERE b = 'x' «'y'»", "S001", None),
    ("SELECT a FROM t «)»", "S001", None),
    ("SELECT a «FROM»", "S002", None),
    ("SELECT (a + «b»", "S002", None),
    ("SELECT a FROM t WHERE b = «'»x", "S003", "''"),
    ("SELECT a FROM t «/*» b", "S004", None),
    ("SELECT a FROM «`»t", "S005", None),
    ("SELECT a FROM t WHERE b = «?»", "S006", None),
    ("SELECT a «#» b FROM t", "S006", None),
    ("SELECT «1x» FROM t", "S007", None),
    ("SELECT «1.2.3» FROM t", "S007", None),
    ("SELECT «DISTINCT ON (a)» a FROM t", "B002", "QUALIFY"),
    ("SELECT «a» EXCEPT (b) FROM t", "S020", None),
    ("SELECT a.*«.*» FROM t", "S020", None),
    ("SELECT a FROM t OFFSET «b»", "S025", None),
    ("CREATE STREAM s (a «INTT»)", "S011", "INT"),
    ("CREATE STREAM s (a MAP<STRING, «STRNG»>)", "S011", "STRING"),
    ("SELECT a FROM t WHERE b «WHERE c»", "S012", None),
    ("SELECT a FROM t GROUP BY b HAVING c «GROUP BY d»", "S012", None),
    ("SELECT a FROM t GROUP BY a «WHERE b»", "S013", "WHERE, DEDUPLICATE, GROUP BY"),
    ("SELECT a FROM t RETENTION 1 DAY «EMIT FINAL»", "S013", None),
    ("SELECT a FROM t LIMIT 5 «ORDER BY a DESC, b»", "S013", "ORDER BY, LIMIT"),
    ("SELECT a FROM TUMBLE(t, time, «60»)", "S014", "INTERVAL"),
    ("SELECT INTERVAL «'ten'» MINUTE FROM t", "S014", None),
    ("SELECT a FROM «SLIDING»(t, time, 1 HOUR)", "S015", "TUMBLE"),
    ("SELECT a FROM «HOP(t, time, 1 HOUR)»", "S016", "slide"),
    ("SELECT f((«a.b», c) -> c) FROM t", "S017", None),
    ("SELECT f((a, «1») -> c) FROM t", "S017", None),
    ("SELECT ABS(«SELECT a FROM t») FROM t", "S018", None),
    ("SELECT «a AT TIME ZONE 'Asia/Seoul'» FROM t", "S026", "FROM_UTC_TIMESTAMP(a, 'Asia/Seoul')"),
    ("SELECT «EXTRACT(EPOCH FROM a)» FROM t", "S026", "UNIX_SECONDS(a)"),
    ("SELECT EXTRACT(«1» FROM a) FROM t", "S026", None),
    ("SELECT «ABS(a FROM b)» FROM t", "S026", None),
    ("SELECT «ABS(BOTH FROM b)» FROM t", "S026", "TRIM(BOTH FROM text)"),
    ("SELECT «ABS(a IN b)» FROM t", "S026", "POSITION(a IN text)"),
    ("SELECT «ABS(a PLACING b FROM c)» FROM t", "S026", None),
    ("SELECT «ABS(a TO HOUR)» FROM t", "S026", "FLOOR(a TO HOUR)"),
    ("SELECT FLOOR(a TO «WEEK») FROM t", "S026", "DATE_TRUNC('WEEK', a)"),
    ("SELECT FLOOR(a TO «EON») FROM t", "S026", "FLOOR(a TO HOUR)"),
    ("SELECT a LIKE b ESCAPE «'!'» FROM t", "S026", None),
    ("SELECT a LIKE 'b' ESCAPE «'!!'» FROM t", "S026", "ESCAPE '!'"),
    ("SELECT a LIKE «'!b'» ESCAPE '!' FROM t", "S026", None),
    ("SELECT «a SIMILAR TO b» FROM t", "S026", "a RLIKE b"),
    ("SELECT a SIMILAR TO «'(b'» FROM t", "S026", None),
    ("SELECT a SIMILAR TO 'b' ESCAPE «''» FROM t", "S026", "ESCAPE '!'"),
    ("SELECT f(«a := 1») FROM t", "S026", "STRUCT(a := 1)"),
    ("SELECT STRUCT(«a + 1» := 1) FROM t", "S026", "STRUCT(a := 1)"),
    ("SELECT TIMESTAMPADD(«eon», 1, a) FROM t", "S026", None),
    ("SELECT TIMESTAMPADD(«1», 1, a) FROM t", "S026", None),
    ("SELECT «TIMESTAMPADD(MONTH, a, b)» FROM t", "S026", "ADD_MONTHS(CAST(b AS DATE), a)"),
    ("SELECT «TIMESTAMPDIFF(YEAR, a, b)» FROM t", "S026", "MONTHS_BETWEEN(b, a)"),
    ("SELECT DATE_BIN(«INTERVAL '1' MONTH», a, b) FROM t", "S026", "DATE_BIN(INTERVAL '15' MINUTE, a, b)"),
    ("SELECT DATE_BIN(«a», a, b) FROM t", "S026", "DATE_BIN(INTERVAL '15' MINUTE, a, b)"),
    (
        "SELECT «TIME_BUCKET(INTERVAL '1' WEEK, a)» FROM t",
        "S026",
        "INTERVAL '1' WEEK, a, TIMESTAMP '2000-01-03 00:00:00')",
    ),
    ("SELECT SUBSTRING(a FROM «'[0-9]+'») FROM t", "S026", "REGEXP_SUBSTR(a, '[0-9]+')"),
    ("SELECT a SIMILAR TO «'a*+'» FROM t", "S026", None),
    ("SELECT CAST(a AS «TIMESTAMP(0)») FROM t", "S026", "DATE_TRUNC('SECOND', CAST(a AS TIMESTAMP))"),
    ("SELECT a«::TIMESTAMP(0)» FROM t", "S026", "DATE_TRUNC('SECOND', CAST(a AS TIMESTAMP))"),
    ("SELECT TRY_CAST(a AS ARRAY<«BINARY(3)»>) FROM t", "S026", "BINARY"),
    ("SELECT SPLIT_INDEX(a, «b», 1) FROM t", "S026", "SPLIT_PART(a, b, 1 + 1)"),
    ("SELECT «(a, b) = (1, 2, 3)» FROM t", "S027", None),
    ("SELECT «INTERVAL '1' DAY TO MONTH» FROM t", "S014", "DAY TO HOUR"),
    ("SELECT «INTERVAL '1:60' MINUTE TO SECOND» FROM t", "S014", "INTERVAL '1:02' MINUTE TO SECOND"),
    ("SELECT «INTERVAL '1' MINUTE TO SECOND» FROM t", "S014", "INTERVAL '1:02' MINUTE TO SECOND"),
    ("SELECT «INTERVAL '5'» FROM t", "S014", "INTERVAL '5 minutes'"),
    ("SELECT «INTERVAL '5 eons'» FROM t", "S014", "MINUTE"),
    ("SELECT «INTERVAL '1 month 2 days'» FROM t", "S014", "INTERVAL '1' MONTH"),
    ("SELECT «INTERVAL '999999999999999999 days 1 ms'» FROM t", "S014", "18 digits"),
    ("SELECT «f(a AS INT)» FROM t", "S019", "CAST(a AS INT)"),
    ("CREATE STREAM s (a «ARRAY»)", "S021", "ARRAY<"),
    ("CREATE STREAM s (a «MAP<INT>»)", "S021", "MAP<"),
    ("CREATE STREAM s (a «STRUCT<INT>»)", "S021", "STRUCT<"),
    ("CREATE STREAM s (a «DECIMAL(1.5)»)", "S021", "DECIMAL("),
    ("CREATE STREAM s (a «INT(5)»)", "S021", "no parameters"),
    ("CREATE STREAM s (a «INT<INT>»)", "S021", "no parameters"),
    ("SELECT a AS «``» FROM t", "S022", None),
    ("CREATE STREAM s (a INT, WATERMARK FOR a AS a, «WATERMARK FOR b AS b»)", "S023", None),
    ("CREATE STREAM s (a TIMESTAMP, «WATERMARK AS a - INTERVAL '1' SECOND»)", "B002", "WATERMARK FOR time AS time"),
    ("CREATE STREAM s (a ARRAY(STRING«)»)", "S001", "ARRAY<STRING>"),
    ("CREATE STREAM s (a MAP(STRING«,» INT))", "S001", "MAP<STRING, INT>"),
    ("CREATE STREAM s (a ARRAY<MAP(STRING«,» INT)>)", "S001", "MAP<STRING, INT>"),
    ("SELECT a FROM t PARTITION BY b INTO «0» PARTITIONS", "S024", None),
    ("SELECT a FROM t PARTITION BY b INTO «1e9» PARTITIONS", "S024", None),
    ("SELECT a FROM t LIMIT «b»", "S025", None),
    ("SELECT a FROM t LIMIT «1.5»", "S025", None),
    ("SELECT a FROM t LIMIT «'1'»", "S025", None),
]


@pytest.mark.parametrize(("marked", "code", "hint"), REFUSED, ids=[marked for marked, _, _ in REFUSED])
def test_place_code_and_hint(marked: str, code: str, hint: str | None) -> None:
    found = finding(marked.replace("«", "").replace("»", ""))
    span = found.labels[0].span
    assert found.code == code
    assert (span.start, span.end) == (marked.index("«"), marked.index("»") - 1)
    if hint is not None:
        assert hint in (found.hint or "")


def test_one_finding_per_broken_statement() -> None:
    text = "SELCT a FROM t; SELECT a FROM t;; SELECT ';' FROM /* ; */ t; SELECT a FROM; DROP `;`; -- ;\nSHOW NOTHING"
    assert [found.labels[0].span.text for found in findings(text)] == ["SELCT", "FROM", "`;`", "NOTHING"]


def test_the_alternatives_are_a_handful() -> None:
    texts = [marked.replace("«", "").replace("»", "") for marked, code, _ in REFUSED if code in ("S001", "S002")]
    for text in texts:
        detail = finding(text).detail or ""
        assert detail.startswith("expected ")
        assert detail.count(",") <= 7


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("SELECT", "expected an expression, `*`, ALL, DISTINCT or STREAM"),
        ("SELECT a AS", "expected a name or `(`"),
        ("SELECT a FROM t EMIT EARLY EVERY 5 x", "expected a unit of time"),
        ("SHOW x", "expected CREATE, FUNCTIONS, QUERIES, STREAMS, TABLES or VIEWS"),
    ],
)
def test_what_may_stand_there(text: str, detail: str) -> None:
    assert finding(text).detail == detail


@pytest.mark.parametrize("text", ["", ";", " ;; ; ", "-- nothing", "/* nothing */;"])
def test_no_statements(text: str) -> None:
    assert parse(Source("<test>", text)) == ()


def test_the_last_semicolon_may_be_left_out() -> None:
    assert parse(Source("<test>", "SHOW TABLES; SHOW VIEWS")) == parse(Source("<test>", "SHOW TABLES;; SHOW VIEWS;"))


@pytest.mark.parametrize(("one", "other"), [("a != b", "a <> b"), ("a == b", "a = b"), ("a REGEXP b", "a RLIKE b")])
def test_other_spellings(one: str, other: str) -> None:
    assert statement(f"SELECT {one} FROM t") == statement(f"SELECT {other} FROM t")


def test_all_findings_are_raised_together() -> None:
    with pytest.raises(CompileError) as raised:
        parse(Source("<test>", "SELCT; SELECT"))
    assert [found.code for found in raised.value.diagnostics] == ["S001", "S002"]
