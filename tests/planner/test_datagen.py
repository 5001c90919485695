"""Options of generated columns: what they mean, and what is refused."""

from __future__ import annotations

import pytest

from penstock.compilation import compile
from penstock.diagnostics import CompileError
from penstock.planner.plan.generated_columns import GeneratedColumn, count_rows, read_generated

MOST = 2**63 - 1
STREAM = """CREATE STREAM o (id BIGINT, price DECIMAL(10, 2), x FLOAT, name STRING, ok BOOLEAN, t TIMESTAMP, day DATE,
  must INT NOT NULL) WITH (connector = 'datagen', {options});
CREATE STREAM seen WITH (connector = 'blackhole') AS SELECT STREAM id FROM o;"""


def test_options_of_columns_are_checked_as_others_and_kept() -> None:
    options = "FIELDS.price.Min = -1.50, fields.Id.kind = 'Sequence', fields.t.max_past = '2 minutes', seed = 3"
    (query,) = compile(STREAM.format(options=options)).program.queries
    (read,) = query.inputs
    written = {"fields.price.min": "-1.50", "fields.id.kind": "sequence", "fields.t.max_past": 120_000, "seed": 3}
    assert dict(read.options) == written
    assert dict(read.identity) == written


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            "fields.pirce.min = 1",
            r"C002: connector datagen has no option fields\.pirce\.min(.|\n)*fields\.price\.min\?",
        ),
        ("fields.price.mni = 1", r"C002: (.|\n)*did you mean fields\.price\.min\?"),
        ("fields.min = 1", "C002: connector datagen has no option fields.min"),
        ("fields.id.length = 3", "take kind, max, min, null_rate"),
        ("fields.id.start = 3", "C002: connector datagen has no option fields.id.start"),
        ("fields.id.kind = 'sequence', fields.id.min = 3", "a sequence of type BIGINT, which take end, kind"),
        ("fields.name.min = 3", "C002"),
        ("fields.t.null_rate = 0.5", "C002"),
        ("fields.t.kind = 'sequence'", "C003: fields.t.kind takes 'random'"),
        ("fields.ok.kind = 'sequence'", "C003"),
        ("fields.day.kind = 'sequence'", "C003"),
        ("fields.id.kind = 'squence'", "C003: fields.id.kind takes one of 'random', 'sequence'"),
        ("fields.id.min = 'few'", "C003: fields.id.min takes a number such as"),
        ("fields.id.min = 1e999", "C003"),
        ("fields.id.min = NaN", "S001"),
        ("fields.id.min = 'NaN'", "C003"),
        ("fields.id.min = 0.5", "takes a whole number from -9223372036854775808 to 9223372036854775807"),
        ("fields.id.max = 9223372036854775808", "takes a whole number"),
        ("fields.id.min = 2, fields.id.max = 1", "C003: fields.id.max takes a number that is not below min"),
        ("fields.id.min = '1_000'", "C003: fields.id.min takes a number such as"),
        ("fields.id.min = ' 5 '", "C003: fields.id.min takes a number such as"),
        ("fields.id.min = '٣'", "C003: fields.id.min takes a number such as"),
        ("fields.id.min = '1e9999'", "C003: fields.id.min takes a number such as"),
        ("fields.name.length = 1000001", "C003: fields.name.length takes a number from 1 to 1000000"),
        ("fields.t.max_past = 365001 DAYS", "C003: fields.t.max_past takes a time of at most 365000 DAYS"),
        ("fields.day.max_past = 3000000 DAYS", "C003: fields.day.max_past takes a time of at most 365000 DAYS"),
        (
            "fields.id.kind = 'sequence', fields.id.end = 9223372036854775807",
            r"C003: fields\.id\.end takes a number that (.|\n)* 365000 days(.|\n)*leave fields\.id\.end out",
        ),
        ("fields.price.min = 0.001", "at most 8 digits before the point and 2 behind it"),
        ("fields.price.max = 100000000", "at most 8 digits"),
        ("fields.price.min = 2, fields.price.max = 1", "not below min"),
        ("fields.x.max = 1e39", "C003: fields.x.max takes a number that a FLOAT can hold"),
        ("fields.x.max = -1", "Unless set, min is 0 and max is 1"),
        ("fields.name.length = 0", "C003"),
        ("fields.name.null_rate = 1.5", "C003: fields.name.null_rate takes a number from 0 to 1"),
        ("fields.must.null_rate = 0.5", "must is NOT NULL"),
        ("fields.must.kind = 'sequence', fields.must.end = 0", "not below start"),
        ("fields.must.kind = 'sequence', fields.must.end = 3e9", "a whole number from -2147483648 to 2147483647"),
        ("seed = 0", "C003"),
        ("start_time = 'yesterday'", "C003: start_time takes a time"),
        ("start_time = '1969-12-31'", "C003"),
        ("start_time = '9999-01-01'", "C003"),
    ],
)
def test_what_does_not_fit_a_column_is_refused(options: str, told: str) -> None:
    with pytest.raises(CompileError, match=told):
        compile(STREAM.format(options=options))


@pytest.mark.parametrize(
    "options",
    [
        "fields.name.length = 1000000, fields.t.max_past = 365000 DAYS",
        "fields.id.min = '+5', fields.x.min = '.5', fields.x.max = '5.', fields.price.min = '-1.5E1'",
        "fields.id.kind = 'sequence', fields.id.start = 9223372036854775807",
        "fields.id.kind = 'sequence', fields.id.end = 9223372036854775807, rows_per_second = 999999999",
        "fields.id.kind = 'sequence', fields.id.end = 9223372036854775807, number_of_rows = 5",
    ],
)
def test_what_fits_is_accepted(options: str) -> None:
    compile(STREAM.format(options=options))


@pytest.mark.parametrize("type_", ["ARRAY<INT>", "MAP<STRING, INT>", "STRUCT<a INT>", "BINARY", "TIME"])
def test_types_without_a_generator_are_refused(type_: str) -> None:
    with pytest.raises(CompileError, match="C028: datagen makes no values for the column v"):
        compile(f"CREATE STREAM o (v {type_}) WITH (connector = 'datagen')")


def test_a_generated_table_is_refused() -> None:
    table = "CREATE TABLE t (id BIGINT PRIMARY KEY) WITH (connector = 'datagen');"
    with pytest.raises(CompileError, match="B002"):
        compile(f"{table} CREATE TABLE u WITH (connector = 'memory') AS SELECT COUNT(*) AS n FROM t")


def test_rows_are_not_written_there_nor_read_from_a_blackhole() -> None:
    stream = "CREATE STREAM o (id BIGINT) WITH (connector = 'datagen');"
    with pytest.raises(CompileError, match="C005: connector datagen cannot be written"):
        compile(f"{stream} CREATE STREAM p WITH (connector = 'datagen') AS SELECT STREAM id FROM o")
    for connector in ("blackhole", "print"):
        written = f"CREATE STREAM gone (id BIGINT) WITH (connector = '{connector}');"
        with pytest.raises(CompileError, match=f"C005: connector {connector} cannot be read"):
            compile(f"{stream} {written} INSERT INTO gone SELECT id FROM o; SELECT STREAM id FROM gone")


@pytest.mark.parametrize(
    ("type_", "options", "low", "high", "scale"),
    [
        ("TINYINT", {}, -128, 127, 0),
        ("DECIMAL(4, 1)", {}, -9999, 9999, 1),
        ("DECIMAL(4, 1)", {"min": "0", "max": "2.5"}, 0, 25, 1),
        ("DECIMAL(38, 0)", {}, -(10**18) + 1, 10**18 - 1, 0),
        ("DECIMAL(38, 38)", {}, -(10**18) + 1, 10**18 - 1, 18),
        ("DECIMAL(38, 20)", {}, -(10**18) + 1, 10**18 - 1, 0),
        ("DECIMAL(38, 20)", {"min": "0", "max": "250"}, 0, 250 * 10**15, 15),
        ("DECIMAL(38, 20)", {"min": "0", "max": "0"}, 0, 0, 18),
        ("DOUBLE", {}, 0, 1, 0),
    ],
)
def test_numbers_are_drawn_from_a_range(type_: str, options: dict[str, str], low: int, high: int, scale: int) -> None:
    (found,) = read_generated([("V", type_)], {f"fields.v.{name}": value for name, value in options.items()})
    assert (found.low, found.high, found.scale) == (low, high, scale)


def test_the_shortest_sequence_ends_the_stream() -> None:
    short, drawn = GeneratedColumn("a", "INT", True, 5, 14), GeneratedColumn("b", "INT")
    long = GeneratedColumn("c", "STRING", True, 1, 99)
    assert count_rows([drawn], None) == (None, None)
    assert count_rows([drawn], 7) == (7, None)
    assert count_rows([long, short, drawn], None).rows == 10
    assert count_rows([long, short], 3).rows == 3


@pytest.mark.parametrize(
    ("type_", "start", "most"),
    [
        ("TINYINT", 1, 127),
        ("TINYINT", -128, 256),
        ("DECIMAL(2, 1)", 0, 10),
        ("FLOAT", 1, 2**24 - 1),
        ("STRING", 1, MOST),
    ],
)
def test_a_sequence_without_an_end_does_not_end_the_stream(type_: str, start: int, most: int) -> None:
    endless = read_generated([("v", type_)], {"fields.v.kind": "sequence", "fields.v.start": str(start)})
    assert count_rows(endless, None) == (None, most)
    assert count_rows(endless, most + 1) == (most, most)
    assert count_rows([*endless, GeneratedColumn("c", "STRING", True, 1, 5)], None) == (5, most)
