"""Rows: a sequence of dicts over Arrow, as text and as HTML."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from penstock import PackageNeededError
from penstock.arrow import arrow_type, make_table, read_table
from penstock.rows import Rows

TABLE = pa.table({"name": ["a", "<b onload='x'>"], "n": pa.array([1, None], pa.int64())})


def test_rows_are_a_sequence_of_dicts() -> None:
    rows = Rows(TABLE)
    expected = [{"name": "a", "n": 1}, {"name": "<b onload='x'>", "n": None}]
    assert rows == expected
    assert rows == Rows(TABLE)
    assert rows != expected[:1]
    assert rows != 5
    assert (rows[0], rows[-1], rows[1:]) == (expected[0], expected[1], expected[1:])
    assert ([*rows], len(rows), rows.columns) == (expected, 2, ["name", "n"])
    assert expected[0] in rows


def test_rows_are_arrow_inside() -> None:
    rows = Rows(TABLE)
    assert rows.to_arrow() is TABLE
    frame = rows.to_pandas()
    assert (list(frame.columns), len(frame)) == (["name", "n"], 2)


def test_rows_are_shown_as_text() -> None:
    assert repr(Rows(TABLE)) == "name            n\na               1\n<b onload='x'>  NULL\n2 rows"
    many = Rows(pa.table({"n": list(range(1000))}))
    assert repr(many).splitlines()[-2:] == ["19", "1,000 rows, the first 20 shown"]
    assert repr(Rows(pa.table({"n": pa.array([], pa.int64())}))) == "n\n0 rows"
    assert repr(Rows(pa.table({}))) == "\n0 rows"


def test_html_has_texts_only() -> None:
    html = Rows(pa.table({"<i>": ["<script>alert('x')</script>&"]}))._repr_html_()
    assert '<th scope="col">&lt;i&gt;</th>' in html
    assert "<td>&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;&amp;</td>" in html
    assert "<caption>1 row</caption>" in html
    assert "<script" not in html


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("bigint", "-9223372036854775808", -(2**63)),
        ("integer", "7", 7),
        ("boolean", "true", True),
        ("boolean", "t", True),
        ("boolean", "perhaps", "perhaps"),
        ("timestamp with time zone", "infinity", "infinity"),
        ("numeric(10,2)", "NaN", "NaN"),
        ("double precision", "1.5", 1.5),
        ("numeric(10,2)", "12.30", Decimal("12.30")),
        ("numeric", "12.3", "12.3"),
        ("numeric(50,2)", "12.30", "12.30"),
        ("text", "ü", "ü"),
        ("character varying(3)", "abc", "abc"),
        ("timestamp with time zone", "2025-01-02T03:04:05Z", datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("timestamp with time zone", "2025-01-02 03:04:05.5+00", datetime(2025, 1, 2, 3, 4, 5, 500000, tzinfo=UTC)),
        ("timestamp with time zone", "2025-01-02 03:04:05+01", datetime(2025, 1, 2, 2, 4, 5, tzinfo=UTC)),
        ("bytea", "\\x00ff", "\\x00ff"),
        ("integer[]", "{1,2}", "{1,2}"),
        ("jsonb", "{}", "{}"),
    ],
)
def test_texts_are_read_by_their_type(name: str, text: str, value: object) -> None:
    table = read_table(["v", "none"], [name, name], [[text, None]])
    assert table.to_pylist() == [{"v": value, "none": None}]


def test_answers_without_types_or_rows_are_read() -> None:
    assert read_table(["a"], [], [["1"]]).to_pylist() == [{"a": "1"}]
    assert read_table(["a"], ["bigint"], []).schema == pa.schema([("a", pa.int64())])
    assert read_table([], [], []).num_columns == 0


def test_types_without_a_counterpart_are_texts() -> None:
    columns = [("m", "hstore"), ("l", "text[]")]
    table = make_table(columns, [({"a": 1}, ["x", None]), (None, None)])
    assert table.to_pylist() == [{"m": '{"a": 1}', "l": ["x", None]}, {"m": None, "l": None}]
    assert arrow_type("smallint[]") == pa.list_(pa.int16())


def test_rows_are_a_stream_of_arrow() -> None:
    table = pa.table({"n": [1, 2]})
    assert pa.table(Rows(table)) == table
    assert pa.RecordBatchReader.from_stream(Rows(table)).read_all() == table


def test_rows_are_a_data_frame_of_polars() -> None:
    polars = pytest.importorskip("polars", reason="make setup installs Polars")
    rows = Rows(pa.table({"n": [1, 2], "price": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2))}))
    assert rows.to_polars().rows() == [(1, Decimal("1.50")), (2, None)]
    assert polars.DataFrame(rows).equals(rows.to_polars())


def test_a_package_that_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(PackageNeededError) as missing:
        Rows(pa.table({"n": [1]})).to_polars()
    assert isinstance(missing.value, ModuleNotFoundError)
    assert str(missing.value) == (
        "R087: to_polars needs the package polars, which is not installed\n  = hint: pip install 'penstock[polars]'"
    )
