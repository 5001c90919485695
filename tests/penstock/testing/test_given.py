"""GIVEN: what it takes, and what it refuses with its place and a hint."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.diagnostics import CompileError, render
from tests.penstock.testing.shop import HEAD, explain_one, run_one, run_tests

TYPES = """
CREATE STREAM s (i INT, d DECIMAL(5, 2), f DOUBLE, t STRING, b BOOLEAN, day DATE, clock TIME, moment TIMESTAMP,
  list ARRAY<INT>, map MAP<STRING, INT>, pair STRUCT<a: INT, b: STRING>)
WITH (connector = 'files', path = 's', format = 'json');
CREATE STREAM r AS SELECT STREAM * FROM s;
"""
VALUES = [
    ("i", "-3"), ("d", "1.5"), ("d", "7"), ("f", "2"), ("f", "1e3"), ("t", "'it''s'"), ("b", "TRUE"), ("i", "NULL"),
    ("day", "'2025-02-01'"), ("day", "DATE '2025-02-01'"), ("clock", "'09:30:00'"), ("moment", "'9:30'"),
    ("moment", "'-0:10'"), ("moment", "'26:00:00'"), ("moment", "'2025-01-01 12:00:00+02:00'"),
    ("moment", "TIMESTAMP '2025-01-01 10:00:00'"), ("list", "ARRAY[1, 2]"), ("map", "MAP['a', 1]"),
    ("pair", "STRUCT(1 AS a, 'x' AS b)"), ("i", "2 + 3"), ("d", "'1.50'"), ("d", "1.500"), ("f", "'1e3'"),
    ("i", "'-3'"), ("b", "'TRUE'"), ("day", "TIMESTAMP '2025-02-01 00:00:00'"), ("moment", "DATE '2025-02-01'"),
    ("moment", "'75:00'"),
    ("moment", "'2025-02-01T10:00'"), ("moment", "'0:00.500000000'"), ("f", "'NaN'"),
]  # fmt: skip
WRONG = [
    ("i", "'one'"), ("i", "1.5"), ("i", "3000000000"), ("d", "1.234"), ("d", "12345"), ("day", "'2025-02-30'"),
    ("moment", "'soon'"), ("list", "1"), ("pair", "STRUCT(1 AS c)"), ("i", "lamp"), ("i", "1 / 0"), ("i", "ARRAY[1]"),
    ("d", "'1.005'"), ("d", "1.005"), ("i", "'1_0'"), ("i", "'1.5'"), ("i", "TRUE"), ("f", "'1_0'"), ("f", "TRUE"),
    ("b", "7"), ("b", "'yes'"), ("day", "TIMESTAMP '2025-02-01 23:00:00'"), ("day", "'2025-02-01 23:00:00'"),
    ("day", "'2026-W01-1'"), ("day", "7"), ("clock", "'9:30:00.0000009'"), ("clock", "TIMESTAMP '2025-02-01 09:30:00'"),
    ("moment", "'2026-W01-1'"), ("moment", "'2025-02-01 10:00:00.0000009'"), ("moment", "'0:00.0000009'"),
    ("moment", "'0:75'"), ("moment", "'9:99'"), ("moment", "'1:75:00'"), ("moment", "5"), ("moment", "'9999-12-32'"),
    ("i", "(SELECT 1)"), ("list", "ARRAY[1.5]"), ("list", "'[1.5]'"), ("d", "'NaN'"), ("i", "'Infinity'"),
]  # fmt: skip


@pytest.mark.parametrize(("column", "value"), VALUES)
def test_values_are_of_the_type_of_their_column(column: str, value: str, tmp_path: Path) -> None:
    assert run_one(tmp_path, f"GIVEN s ({column}) VALUES ({value}); THEN r ({column}) VALUES ({value});", TYPES) == []
    if value != "NULL":
        text = f"GIVEN s ({column}) VALUES ({value}); THEN r ({column}) VALUES (NULL);"
        assert run_one(tmp_path, text, TYPES) == ["T110"]


@pytest.mark.parametrize(("column", "value"), WRONG)
def test_other_values_are_refused(column: str, value: str, tmp_path: Path) -> None:
    assert run_one(tmp_path, f"GIVEN s ({column}) VALUES ({value}); THEN r NOTHING;", TYPES) == ["T102"]
    assert run_one(tmp_path, f"GIVEN s (t) VALUES ('a'); THEN r ({column}) VALUES ({value});", TYPES) == ["T102"]


def test_what_differs_is_shown_as_it_is_written(tmp_path: Path) -> None:
    names = ("moment", "list", "map", "pair", "b", "day")
    values = ("'9:30'", "ARRAY[1, 2]", "MAP['a', 1]", "STRUCT(1 AS a, 'x' AS b)", "TRUE", "'2025-02-01'")
    given = f"GIVEN s ({', '.join(names)}) VALUES ({', '.join(values)});"
    text = explain_one(tmp_path, f"{given} THEN r ({', '.join(names)}) NOTHING;", TYPES)
    assert all(value in text for value in values)


def test_why_a_value_is_refused(tmp_path: Path) -> None:
    for column, value in [("d", "'1.005'"), ("moment", "'0:00.0000009'"), ("day", "TIMESTAMP '2025-02-01 23:00:00'")]:
        assert "digits would be lost" in explain_one(tmp_path, f"GIVEN s ({column}) VALUES ({value}); THEN r NOTHING;",
                                                     TYPES)  # fmt: skip
    assert "without queries" in explain_one(tmp_path, "GIVEN s (i) VALUES ((SELECT 1)); THEN r NOTHING;", TYPES)


@pytest.mark.parametrize(
    ("at", "text", "code"),
    [
        ("9999-12-31 23:59:59", "GIVEN orders (id, time) VALUES (1, '9:30');", "T102"),
        ("0001-01-01 00:00:00", "GIVEN orders (id, time) VALUES (1, '-9:30');", "T102"),
        ("9999-12-31 23:59:59", "GIVEN WATERMARK OF orders '0:00';", "T108"),
        ("9999-12-31 23:59:59", "GIVEN WATERMARK OF orders '9:00';", "T108"),
        ("2026-W01-1", "GIVEN END;", "T108"),
        (
            "2025-01-01",
            "GIVEN orders (id, time) VALUES (1, TIMESTAMP '9999-12-31 00:00:00' + INTERVAL '10' DAY);",
            "T102",
        ),
    ],
)
def test_times_beyond_the_calendar(at: str, text: str, code: str, tmp_path: Path) -> None:
    head = f"TEST 'one' OF 'shop.sql' AT '{at}'; "
    (result,) = run_tests(tmp_path, f"{head}{text} THEN paid NOTHING;")
    assert [each.code for each in result.findings] == [code]


# The text behind TEST, the code, the text at its place, the hint.
MISTAKES = [
    ("GIVEN ordrs (id) VALUES (1); THEN paid NOTHING", "K012", "ordrs", "did you mean orders?"),
    ("GIVEN orders (idd) VALUES (1); THEN paid NOTHING", "N001", "idd", "did you mean id?"),
    ("GIVEN orders (id) VALUES (1, 2); THEN paid NOTHING", "T103", "(1, 2)", None),
    ("GIVEN orders (id, ID) VALUES (1, 2); THEN paid NOTHING", "T103", "ID", None),
    ("GIVEN paid VALUES (1); THEN paid NOTHING", "T104", "paid", "give the rows that it reads"),
    ("GIVEN TABLE orders (id) VALUES (1); THEN paid NOTHING", "T104", "orders", "GIVEN orders"),
    ("GIVEN orders FROM 'a.csv'; THEN paid NOTHING", "T107", "'a.csv'", None),
    ("GIVEN orders FROM 'a.txt'; THEN paid NOTHING", "T107", "'a.txt'", None),
    ("GIVEN WATERMARK OF orders 'x'; THEN paid NOTHING", "T108", "'x'", None),
    ("GIVEN WATERMARK OF products '1:00'; THEN paid NOTHING", "T109", "products", None),
    ("GIVEN SILENCE OF orders FOR INTERVAL '1' MINUTE; THEN paid NOTHING", "T109", "orders", None),
    ("THEN pad NOTHING", "K012", "pad", "did you mean paid?"),
    ("THEN orders NOTHING", "T105", "orders", "GIVEN orders gives rows of an input"),
    ("THEN LATE OF paid NOTHING", "T105", "paid", None),
    ("THEN paid (amont) NOTHING", "N001", "amont", "did you mean amount?"),
    ("THEN paid CHANGES + (1)", "T106", "THEN paid CHANGES + (1)", None),
    ("GIVEN WATERMARK OF orders '9:00'; THEN paid NOTHING; GIVEN WATERMARK OF orders '8:00'; THEN paid NOTHING",
     "T106", "orders '8:00'", None),
    ("THEN STATE OF totals AT MOST 3 ROWS", "T101", "totals", None),
    ("THEN LATE OF products NOTHING", "T105", "products", None),
    ("THEN FAILS ZZZ9", "T112", "ZZZ9", "docs/errors has the codes of failures"),
    ("THEN FAILS R20", "T112", "R20", "did you mean R020?"),
    ("GIVEN orders (time) VALUES ('10 minutes'); THEN paid NOTHING", "T102", "'10 minutes'",
     "write '9:30' for 9 minutes and 30 seconds after the start, or '2025-01-01 10:00:00'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "place", "hint"), MISTAKES)
def test_mistakes_have_a_place_and_a_hint(text: str, code: str, place: str, hint: str | None, tmp_path: Path) -> None:
    (result,) = run_tests(tmp_path, f"{HEAD}{text};")
    (finding,) = result.findings
    assert (finding.code, finding.labels[0].span.text) == (code, place)
    assert hint is None or finding.hint == hint
    assert "shop_test.sql:2:" in render(finding)


def test_each_row_that_is_wrong_is_told(tmp_path: Path) -> None:
    text = "GIVEN orders (id) VALUES ('a'), (1), (1, 2); GIVEN ordrs VALUES (1); THEN paid NOTHING;"
    assert run_one(tmp_path, text) == ["T102", "T103", "K012"]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("GIVEN orders (id) VALUES (1);", "a file of tests begins"),
        (HEAD + "GIVEN END;", "a test has THEN"),
        (
            HEAD + "GIVEN END; THEN paid NOTHING; GIVEN orders (id) VALUES (1); THEN paid NOTHING;",
            "nothing comes after",
        ),
        (HEAD + "GIVEN END; THEN REFUSED J001;", "stands alone"),
        (HEAD + "THEN paid NOTHING; GIVEN orders (id) VALUES (1);", "nothing is expected behind it"),
    ],
)
def test_statements_have_their_places(text: str, hint: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError) as refusal:
        run_tests(tmp_path, text)
    assert [each.code for each in refusal.value.diagnostics] == ["T106"]
    assert hint in str(refusal.value.diagnostics[0].hint)


def test_rows_of_files(tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("ID,product,time\n1,lamp,0:00\n2,,0:30\n", encoding="utf-8")
    (tmp_path / "orders.json").write_text(
        '{"id": 1, "product": "lamp", "time": "0:00"}\n\n{"id": 2, "time": "0:01"}\n', encoding="utf-8"
    )
    expected = "THEN coloured (id) VALUES (1), (2);"
    assert run_one(tmp_path, f"GIVEN orders FROM 'orders.csv'; {expected}") == []
    assert run_one(tmp_path, f"GIVEN orders FROM 'orders.json'; {expected}") == []
    assert run_one(tmp_path, f"GIVEN orders (product, time) FROM 'orders.csv'; {expected}") == ["T110"]
    assert run_one(tmp_path, "GIVEN orders FROM 'orders.csv'; THEN coloured (id) FROM 'orders.json';") == ["N001"] * 2


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("a.csv", "", "T107"),
        ("a.csv", "id,product\n1\n", "T107"),
        ("a.csv", "id,colour\n1,red\n", "N001"),
        ("a.csv", "id\none\n", "T102"),
        ("a.csv", "id,ID\n1,2\n", "T107"),
        ("a.csv", "id,price\n1,40.009\n", "T102"),
        ("a.csv", 'id,product\n1,"lamp\n', "T107"),
        ("a.csv", 'id,product\n1,"lamp"s\n', "T107"),
        ("a.json", '{"id": 1, "price": 12345678.12345678901234567}', "T102"),
        ("a.json", '{"Id": 1, "ID": 2}', "T107"),
        ("a.json", "{", "T107"),
        ("a.json", "[1]", "T107"),
        ("a.json", '{"id": "one"}', "T102"),
        ("a.json", '{"id": [1]}', "T102"),
    ],
)
def test_files_that_are_wrong(name: str, text: str, code: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert run_one(tmp_path, f"GIVEN orders FROM '{name}'; THEN coloured NOTHING;") == [code]


def test_fields_of_csv(tmp_path: Path) -> None:
    text = 'id,product,time\r\n1,"",0:00\r\n2,,0:00\n\n"3","a ""b"",\nc",0:00\n4,d"e,0:00\n5,,'
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    rows = """(1, ''), (2, NULL), (3, 'a "b",\nc'), (4, 'd"e')"""
    given = "GIVEN orders FROM 'a.csv'; GIVEN END;"
    assert run_one(tmp_path, f"{given} THEN paid (id, product) VALUES {rows};") == []
    assert run_one(tmp_path, f"{given} THEN REJECTED OF orders (id) VALUES (5);") == []


def test_names_and_numbers_of_json_are_taken_as_they_are(tmp_path: Path) -> None:
    script = """CREATE STREAM s (id INT, d DECIMAL(30, 17), f DOUBLE)
    WITH (connector = 'files', path = 's', format = 'json');
    CREATE STREAM r AS SELECT STREAM * FROM s;"""
    lines = ['{"ID": 1, "d": 12345678.12345678901234567, "F": 0.1}', '{"id": 2, "ID": 9, "D": 1.5e1, "f": 1}']
    (tmp_path / "s.json").write_text("\n".join(lines), encoding="utf-8")
    then = "THEN r VALUES (1, '12345678.12345678901234567', 0.1), (2, 15, 1);"
    assert run_one(tmp_path, f"GIVEN s FROM 's.json'; {then}", script) == []
    wrong = then.replace("567'", "566'")
    assert run_one(tmp_path, f"GIVEN s FROM 's.json'; {wrong}", script) == ["T110"]


def test_a_script_that_is_not_there(tmp_path: Path) -> None:
    (result,) = run_tests(tmp_path, "TEST 'a' OF 'nowhere.sql'; THEN paid NOTHING;")
    assert [each.code for each in result.findings] == ["T107"]


def test_tables_of_databases_are_given_as_they_are(tmp_path: Path) -> None:
    script = """
    CREATE STREAM orders (id BIGINT, product STRING) WITH (connector = 'files', path = 'o', format = 'json');
    CREATE TABLE products (product STRING PRIMARY KEY, colour STRING)
    WITH (connector = 'sqlite', path = 'shop.db', table = 'products');
    CREATE STREAM coloured AS
    SELECT STREAM o.id AS id, p.colour AS colour FROM orders o JOIN products p ON o.product = p.product;
    """
    rows = "GIVEN orders VALUES (1, 'lamp');"
    assert run_one(tmp_path, f"GIVEN TABLE products VALUES ('lamp', 'red'); {rows} THEN coloured VALUES (1, 'red');",
                   script) == []  # fmt: skip
    assert run_one(tmp_path, f"{rows} THEN coloured VALUES (1, 'red');", script) == ["T110"]
    twice = "GIVEN TABLE products VALUES ('lamp', 'red'), ('lamp', 'blue');"
    assert run_one(tmp_path, f"{twice} {rows} THEN coloured VALUES (1, 'red');", script) == ["T106"]
    found = explain_one(tmp_path, f"{twice} {rows} THEN coloured NOTHING;", script)
    assert "Two of its rows have the same product: 'lamp'." in found
    nameless = "GIVEN TABLE products (colour) VALUES ('red');"
    found = explain_one(tmp_path, f"{nameless} {rows} THEN coloured NOTHING;", script)
    assert "The product of one of its rows is NULL." in found
    assert run_one(tmp_path, f"{nameless} {rows} THEN coloured NOTHING;", script) == ["T106"]
    records = "GIVEN products VALUES ('lamp', 'red');"
    assert run_one(tmp_path, f"{records} {rows} THEN coloured NOTHING;", script) == ["T104"]


def test_rows_that_are_deleted_from_a_table(tmp_path: Path) -> None:
    script = """
    CREATE TABLE products (product STRING PRIMARY KEY, colour STRING)
    WITH (connector = 'files', path = 'products', format = 'json', operation = 'op');
    CREATE TABLE colours AS SELECT colour, COUNT(*) AS n FROM products GROUP BY colour;
    """
    text = """GIVEN products VALUES ('lamp', 'red', NULL), ('desk', 'red', 'upsert');
    THEN colours VALUES ('red', 2);
    GIVEN products (product, op) VALUES ('desk', 'delete');
    THEN colours VALUES ('red', 1);
    GIVEN products (product, op) VALUES ('lamp', 'delete');
    THEN colours NOTHING;"""
    assert run_one(tmp_path, text, script) == []


def test_an_event_time_that_is_computed(tmp_path: Path) -> None:
    script = """
    CREATE STREAM s (id INT, millis BIGINT, time AS TIMESTAMP_MILLIS(millis), WATERMARK FOR time AS time)
    WITH (connector = 'files', path = 's', format = 'json');
    CREATE STREAM n AS SELECT STREAM window_start, COUNT(*) AS n FROM s GROUP BY TUMBLE(time, INTERVAL 1 SECOND);
    """
    text = "GIVEN s VALUES (1, 500), (2, 2500); THEN n (window_start, n) VALUES ('1970-01-01 00:00:00', 1);"
    assert run_one(tmp_path, text, script) == []
    told = explain_one(tmp_path, "GIVEN s (time) VALUES ('0:00'); THEN n NOTHING;", script)
    assert "time is computed" in told
    assert "give millis" in told


def test_inputs_whose_rows_are_never_late(tmp_path: Path) -> None:
    script = """CREATE STREAM s (id INT, time TIMESTAMP, WATERMARK FOR time AS time)
    WITH (connector = 'files', path = 's', format = 'json');
    CREATE STREAM unread (id INT) WITH (connector = 'files', path = 'u', format = 'json');
    CREATE STREAM r AS SELECT STREAM id FROM s;"""
    assert "none of its rows is late" in explain_one(tmp_path, "THEN LATE OF s NOTHING;", script)
    assert "No query of the script reads it." in explain_one(tmp_path, "THEN REJECTED OF unread NOTHING;", script)
    assert run_one(tmp_path, "THEN REJECTED OF s NOTHING;", script) == []


def test_rows_that_are_set_aside(tmp_path: Path) -> None:
    script = """SET on_row_error = 'reject';
    CREATE STREAM s (id INT, v INT) WITH (connector = 'files', path = 's', format = 'json');
    CREATE STREAM r AS SELECT STREAM id, 10 % v AS rest FROM s;"""
    text = "GIVEN s VALUES (1, 3), (2, 0); THEN r VALUES (1, 1); THEN REJECTED OF s (id) VALUES (2);"
    assert run_one(tmp_path, text, script) == []


def test_rows_that_no_source_takes_are_rejected(tmp_path: Path) -> None:
    script = """CREATE STREAM s (id INT NOT NULL, time TIMESTAMP, WATERMARK FOR time AS time)
    WITH (connector = 'files', path = 's', format = 'json');
    CREATE STREAM r AS SELECT STREAM id FROM s;"""
    given = "GIVEN s VALUES (1, '0:00'), (NULL, '0:00'), (2, NULL), (3, '1969-12-31');"
    assert (
        run_one(tmp_path, f"{given} THEN r VALUES (1); THEN REJECTED OF s (id) VALUES (NULL), (2), (3);", script) == []
    )
    assert "3 rows of s are rejected." in explain_one(tmp_path, f"{given} THEN r VALUES (1), (2);", script)


def test_elements_of_arrays_and_maps(tmp_path: Path) -> None:
    script = TYPES + "CREATE STREAM e AS SELECT STREAM s.list[1] AS second, s.map['a'] AS a FROM s;"
    given = "GIVEN s (list, map) VALUES (ARRAY[1, 2], MAP['a', 3]), (NULL, MAP['b', 3]);"
    assert run_one(tmp_path, f"{given} THEN e VALUES (2, 3), (NULL, NULL);", script) == []
    assert run_one(tmp_path, "GIVEN s (list) VALUES (ARRAY[1]); THEN FAILS R023;", script) == []
