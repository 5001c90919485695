"""What is true passes, and what is false fails: each form of THEN."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.penstock.testing.shop import explain_one, run_one

ORDERS = """
GIVEN orders (id, product, price, time) VALUES (1, 'lamp', 40, '0:00'), (2, 'chair', 120, '0:30');
GIVEN payments (order_id, amount, time) VALUES (2, 120, '2:00');
"""
MORE = """
THEN paid NOTHING;
GIVEN orders (id, product, price, time) VALUES (3, 'desk', 0.5, '20:00'), (4, 'lamp', 7, '0:25');
GIVEN WATERMARK OF payments '20:00';
"""
# What is given, what is true then, and what is false.
FORMS = [
    (ORDERS, "THEN paid NOTHING", "THEN paid (id) VALUES (2)"),
    (ORDERS + "GIVEN END;", "THEN paid (id, amount) VALUES (1, NULL), (2, 120)", "THEN paid NOTHING"),
    (ORDERS + "GIVEN END;", "THEN paid (id) VALUES (2), (1)", "THEN paid (id) VALUES (2), (1), (1)"),
    (ORDERS + "GIVEN END;", "THEN paid VALUES (2, 'chair', 120, '0:30'), (1, 'lamp', NULL, '0:00')",
     "THEN paid VALUES (2, 'chair', 120, '0:31'), (1, 'lamp', NULL, '0:00')"),
    (ORDERS + MORE, "THEN paid (id) VALUES (1), (2), (4)", "THEN paid (id) VALUES (1), (2)"),
    (ORDERS + "GIVEN END;", "THEN totals (product, total) VALUES ('lamp', NULL), ('chair', 120)",
     "THEN totals (product, total) VALUES ('lamp', 0), ('chair', 120)"),
    (ORDERS + "GIVEN END;", "THEN totals (product, n) CHANGES + ('lamp', 1), + ('chair', 1)",
     "THEN totals (product, n) CHANGES - ('lamp', 1), + ('chair', 1)"),
    (ORDERS, "THEN totals (product, n) CHANGES NOTHING", "THEN totals (product, n) CHANGES + ('lamp', 1)"),
    (ORDERS, "THEN busy (product, n) VALUES ('lamp', 1), ('chair', 1)", "THEN busy (product, n) VALUES ('lamp', 1)"),
    (ORDERS + "THEN busy (n) VALUES (1), (1); GIVEN orders (product, time) VALUES ('lamp', '0:40');",
     "THEN busy (product, n) CHANGES - ('lamp', 1), + ('lamp', 2)", "THEN busy (product, n) CHANGES + ('lamp', 2)"),
    (ORDERS + "GIVEN WATERMARK OF orders '1:00';", "THEN per_minute VALUES ('0:00', 2)", "THEN per_minute NOTHING"),
    (ORDERS + "GIVEN WATERMARK OF orders '0:59';", "THEN per_minute NOTHING", "THEN per_minute VALUES ('0:00', 2)"),
    (ORDERS + "GIVEN WATERMARK OF orders '1:00'; THEN per_minute (n) VALUES (2);"
     "GIVEN orders (id, time) VALUES (5, '0:59.999'), (6, '1:00');",
     "THEN LATE OF orders (id) VALUES (5)", "THEN LATE OF orders NOTHING"),
    (ORDERS, "THEN LATE OF orders NOTHING", "THEN LATE OF orders (id) VALUES (1)"),
    ("GIVEN orders (id) VALUES (7), (8);", "THEN REJECTED OF orders (id, time) VALUES (7, NULL), (8, NULL)",
     "THEN REJECTED OF orders (id) VALUES (7)"),
    (ORDERS, "THEN REJECTED OF orders NOTHING", "THEN REJECTED OF orders (id) VALUES (1)"),
    (ORDERS, "THEN STATE OF paid AT MOST 3 ROWS", "THEN STATE OF paid AT MOST 2 ROWS"),
    (ORDERS + "GIVEN END;", "THEN STATE OF paid AT MOST 0 ROWS", "THEN paid NOTHING"),
    ("GIVEN orders (id, price, time) VALUES (1, 0, '0:00');", "THEN FAILS R020", "THEN FAILS R022"),
    ("GIVEN orders (id, price, time) VALUES (1, 0, '0:00');", "THEN FAILS R020", "THEN ratios NOTHING"),
    (ORDERS, "THEN coloured VALUES (1, NULL), (2, NULL)", "THEN FAILS R020"),
    ("GIVEN products VALUES ('lamp', 'red');" + ORDERS, "THEN coloured VALUES (1, 'red'), (2, NULL)",
     "THEN coloured VALUES (1, NULL), (2, NULL)"),
    (ORDERS, "THEN dear VALUES (2, 120.00)", "THEN dear VALUES (1, 40)"),
    (ORDERS + "GIVEN SILENCE OF payments FOR INTERVAL '1' MINUTE;", "THEN paid NOTHING", "THEN paid (id) VALUES (1)"),
    (ORDERS + "THEN paid NOTHING; GIVEN orders (id, time) VALUES (3, '20:00');"
     "GIVEN SILENCE OF payments FOR INTERVAL '1' MINUTE;", "THEN paid (id) VALUES (1), (2)", "THEN paid NOTHING"),
    (ORDERS + "THEN paid NOTHING; GIVEN orders (id, time) VALUES (3, '20:00');"
     "GIVEN SILENCE OF payments FOR INTERVAL '59' SECOND;", "THEN paid NOTHING", "THEN paid (id) VALUES (1), (2)"),
    (ORDERS + "THEN paid NOTHING; GIVEN orders (id, time) VALUES (3, '20:00');"
     "GIVEN SILENCE OF payments FOR INTERVAL '59' SECOND; THEN paid NOTHING;"
     "GIVEN SILENCE OF payments FOR INTERVAL '1' SECOND;", "THEN paid (id) VALUES (1), (2)", "THEN paid NOTHING"),
    (ORDERS + "THEN paid NOTHING; GIVEN orders (id, time) VALUES (3, '20:00');"
     "GIVEN SILENCE OF payments FOR INTERVAL '59' SECOND; THEN paid NOTHING;"
     "GIVEN payments (order_id, time) VALUES (9, '0:00'); GIVEN SILENCE OF payments FOR INTERVAL '1' SECOND;",
     "THEN paid NOTHING", "THEN paid (id) VALUES (1), (2)"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "true", "false"), FORMS)
def test_what_is_true_passes_and_what_is_false_fails(given: str, true: str, false: str, tmp_path: Path) -> None:
    assert run_one(tmp_path, f"{given} {true};") == []
    found = run_one(tmp_path, f"{given} {false};")
    assert found
    assert set(found) <= {"T110", "T111", "T112", "T113"}


def test_a_script_that_is_refused(tmp_path: Path) -> None:
    script = "CREATE STREAM a (b INT) WITH (connector = 'files', path = 'a', format = 'json'); SELECT STREAM c FROM a;"
    assert run_one(tmp_path, "THEN REFUSED N001;", script) == []
    assert run_one(tmp_path, "THEN REFUSED J001;", script) == ["T114"]
    assert run_one(tmp_path, "THEN REFUSED J001;") == ["T114"]
    assert run_one(tmp_path, "GIVEN END; THEN a NOTHING;", script) == ["N001"]


def test_a_difference_is_a_table_with_the_step(tmp_path: Path) -> None:
    text = explain_one(
        tmp_path, f"{ORDERS} THEN paid NOTHING; GIVEN END; THEN paid (id, amount) VALUES (1, 5), (2, 120);"
    )
    assert text.splitlines()[1:5] == [
        "            id  amount",
        "missing     1   5.00",
        "unexpected  1   NULL",
        "This is step 2 of 2.",
    ]


def test_many_rows_are_counted(tmp_path: Path) -> None:
    rows = ", ".join(f"({number}, 'x', 5, '0:00')" for number in range(50))
    text = explain_one(tmp_path, f"GIVEN orders (id, product, price, time) VALUES {rows}; THEN coloured NOTHING;")
    assert "… and 30 more unexpected" in text


def test_nothing_is_judged_behind_a_step_that_fails(tmp_path: Path) -> None:
    assert run_one(tmp_path, f"{ORDERS} THEN paid (id) VALUES (9); GIVEN END; THEN totals NOTHING;") == ["T110"]


def test_what_fails_is_told_although_nothing_asks_for_it(tmp_path: Path) -> None:
    text = "GIVEN orders (id, price, time) VALUES (1, 0, '0:00'); THEN per_minute NOTHING;"
    assert run_one(tmp_path, text) == ["T113"]
    assert "penstock run would stop with R020" in explain_one(tmp_path, text)


def test_floats_are_equal_up_to_twelve_digits(tmp_path: Path) -> None:
    script = """CREATE STREAM s (a DOUBLE) WITH (connector = 'files', path = 's', format = 'json');
    CREATE STREAM t AS SELECT STREAM a / 3 AS b FROM s;"""
    assert run_one(tmp_path, "GIVEN s VALUES (1); THEN t VALUES (0.3333333333333);", script) == []
    assert run_one(tmp_path, "GIVEN s VALUES (1); THEN t VALUES (0.333333);", script) == ["T110"]


def test_what_the_script_writes_and_reads_needs_spark(tmp_path: Path) -> None:
    script = """CREATE STREAM s (a INT) WITH (connector = 'files', path = 's', format = 'json');
    CREATE STREAM t (a INT) WITH (connector = 'files', path = 't', format = 'json');
    INSERT INTO t SELECT STREAM a + 1 AS a FROM s;
    CREATE STREAM u AS SELECT STREAM a FROM t;"""
    assert run_one(tmp_path, "GIVEN s VALUES (1); THEN t VALUES (2);", script) == []
    assert run_one(tmp_path, "GIVEN s VALUES (1); THEN u NOTHING;", script) == ["T101"]


def test_a_query_that_has_failed_gives_no_more_rows(tmp_path: Path) -> None:
    zero = "GIVEN orders (id, price, time) VALUES (1, 0, '0:00'); THEN FAILS R020; THEN ratios NOTHING;"
    assert run_one(tmp_path, zero) == []
    later = "GIVEN orders (id, price, time) VALUES (2, 0.5, '0:00'); THEN ratios NOTHING;"
    assert run_one(tmp_path, zero + later) == ["T113"]
    assert "It has ended in an earlier step." in explain_one(tmp_path, zero + later)
