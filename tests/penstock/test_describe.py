"""`penstock describe`: its script is accepted, says what the records have, and rejects none of them."""

from __future__ import annotations

import gzip
import json
import random
import re
import sqlite3
import subprocess
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from penstock import compile
from penstock.codegen import lower_sampling
from penstock.commands.cli import main
from penstock.diagnostics.terminal import IN_PROGRAMS
from penstock.planner.catalog import Declared
from penstock.runtime import RunError
from penstock.runtime.samples.look import look
from tests.odd_names import draw_names
from tests.penstock.file_writers import ALL_WRITERS
from tests.penstock.writers import lines, parquet, records


def describe(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["describe", *map(str, arguments)])


def declared(script: str) -> Declared:
    (entry,) = compile(script).catalog.entries.values()
    assert isinstance(entry, Declared)
    return entry


def read_columns(script: str) -> dict[str, str]:
    """The columns of a script as it writes them, by name."""
    body = script[script.index("(\n") + 2 : script.index("\n) WITH")]
    found = {}
    for line in body.split("\n"):
        text = re.sub(r",?(?:  -- .*)?$", "", line.strip())
        name = re.match(r"`(?:[^`]|``)*`|\S+", text)
        if name and not text.startswith("--"):
            found[name[0]] = text[name.end() :].strip()
    return found


@pytest.mark.parametrize("name", ALL_WRITERS)
def test_the_script_fits_the_files(name: str, tmp_path: Path) -> None:
    writer = ALL_WRITERS[name]
    writer.write(tmp_path)
    result = describe("--name", "found", tmp_path)
    assert result.exit_code == 0, result.output
    script = result.stdout
    columns = read_columns(script)
    assert {name: columns.get(name) for name in writer.types} == writer.types, script
    watermark = re.search(r"WATERMARK FOR (\S+) AS \S+ - (INTERVAL '\d+' [A-Z]+)", script)
    assert (None if watermark is None else watermark.groups()) == writer.time
    assert [each for each in writer.says if each not in script] == []
    for option, value in writer.options.items():
        assert f"{option} = {value}" in script
    sample = look(lower_sampling(declared(script)), 1000)
    assert (sample.rejected, len(sample.rows)) == ([], writer.records)


def test_the_script_is_as_fmt_accepts_it(tmp_path: Path) -> None:
    ALL_WRITERS["github"].write(tmp_path)
    script = tmp_path / "github.sql"
    script.write_text(describe(tmp_path).stdout)
    assert CliRunner().invoke(main, ["check", str(script)]).exit_code == 0
    assert CliRunner().invoke(main, ["fmt", str(script)]).exit_code == 0


def test_json_has_all_of_it(tmp_path: Path) -> None:
    ALL_WRITERS["github"].write(tmp_path)
    told = json.loads(describe("--format", "json", tmp_path).stdout)
    assert told["event_time"] == {
        "column": "created_at",
        "computed": None,
        "delay_seconds": 10.0,
        "disorder_seconds": 0.0,
        "disorder_in_file_seconds": 0.0,
    }
    assert [each["name"] for each in told["columns"]][:3] == ["id", "type", "actor"]
    assert told["differences"][-1] == "org is missing in 1 of 2 files: 1.json"
    assert (told["rejected"], len(told["rows"]), told["kind"]) == ([], 4, "stream")
    assert declared(told["script"]).name == told["name"]


def test_a_table_is_for_people(tmp_path: Path) -> None:
    ALL_WRITERS["flights"].write(tmp_path)
    output = describe("--format", "table", tmp_path).stdout
    assert "event time: time_hour, delay INTERVAL '1' HOUR: records are up to 1 h behind earlier ones" in output
    assert "2013-01-01T09:00:00" in output
    assert "\x1b" not in output


def test_malformed_records_are_told_and_decide_nothing(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_bytes(lines('{"id": 1}', '{"id": 2', "[]", '{"id": 3}'))
    script = describe(tmp_path).stdout
    assert read_columns(script) == {"id": "BIGINT"}
    assert "2 of the first 4 records are rejected: malformed record: it is not one JSON object" in script


def test_a_time_that_few_records_lack_is_no_event_time_and_told(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_bytes(records(*({"at": f"2024-01-01 10:0{n}:00"} for n in range(4)), {"n": 1}))
    script = describe(tmp_path).stdout
    told = "at is missing in 1 record, which WATERMARK FOR at AS at - INTERVAL '10' SECOND rejects"
    assert f"-- no event time: {told}" in script
    assert "\n  WATERMARK" not in script


def test_times_of_several_forms_are_texts(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_bytes(records({"at": "2024-01-01T10:00Z"}, {"at": "31.12.2023"}))
    assert (
        "at STRING  -- not read as times: describe knows no form that all its texts have" in describe(tmp_path).stdout
    )


def test_several_headers_are_told(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_bytes(lines("id,name", "1,Ana"))
    (tmp_path / "2.csv").write_bytes(lines("id,name,city", "2,Bo,Rome"))
    script = describe(tmp_path).stdout
    assert re.search(r"[12]\.csv has another header, [a-z, ]+, which ends a run \(R006\)", script)
    assert compile(script)


def test_kinds_behind_the_part_that_is_read_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.describe.files.MOST_CHARACTERS", 1000)
    monkeypatch.setattr("penstock.describe.files.LEAST_CHARACTERS", 1000)
    same = {"a": 1, "b": 1, "c": "x", "o": {"p": True}, "s": "2024-01-01"}
    other = {"a": 1.5, "b": "x", "c": [1], "o": {"p": True, "q": [{"r": 1}]}, "new": {"z": 1}}
    (tmp_path / "1.json").write_bytes(records(*[same] * 100, other))
    script = describe("--name", "found", tmp_path).stdout
    assert (
        read_columns(script).items()
        >= {
            "a": "DOUBLE",
            "b": "STRING",
            "c": "STRING",
            "o": "STRUCT<p: BOOLEAN, q: ARRAY<STRUCT<r: BIGINT>>>",
            "s": "DATE",
            "new": "STRUCT<z: BIGINT>",
        }.items()
    )
    assert "the first 16 records of 1 file, and the kinds of values in all" in script
    assert look(lower_sampling(declared(script)), 1000).rejected == []


@pytest.mark.parametrize(
    ("name", "content", "told", "hint"),
    [
        ("none.json", None, "nothing is there", None),
        ("*.json", None, "no file has a name of this pattern", None),
        ("a.json", b"", "the file is empty", None),
        ("a.json", b"\n \n", "there are blank lines alone", None),
        (
            "a.json",
            b"[\n{}\n]",
            "a.json is an array; a file has one object per line",
            "jq -c '.[]' {}/a.json > {}/a.ndjson",
        ),
        ("a.json", b'{\n"a": 1\n}\n', "a.json has objects of several lines", "jq -c . {}/a.json > {}/a.ndjson"),
        ("a.json", b"1\n2\n", "no line is a JSON object", None),
        ("a.json", b"{}\n", "no record has a field", None),
        ("a.bin", b"\x00\x01\x02", "a.bin is binary", "JSON, CSV and Parquet are read"),
        ("a.csv", "a,b\n1,2\n".encode("utf-16"), "a.csv is in UTF-16", "iconv -f UTF-16 -t UTF-8 {}/a.csv > "),
        (
            "a.csv",
            b"a;b\n1;2\n",
            "semicolons separate the fields of a.csv",
            "delimiter=';'))\" < {}/a.csv > {}/a.new.csv",
        ),
        ("a.tsv", b"a\tb\n1\t2\n", "tabs separate the fields of a.tsv", r"delimiter='\t'))"),
        ("a.json.zst", b"x", "a.json.zst is compressed in a way that is not read", ".gz or .bz2"),
        ("a.parquet", b"PAR2", "a.parquet is no file of Parquet", None),
        ("a.txt", b"one word\n", "a.txt is neither JSON, CSV nor Parquet", "--records csv"),
        (
            "a.csv",
            b'id,na"me\n1,x\n',
            "the header is malformed: a quote in it is not as RFC 4180 has it",
            "are doubled",
        ),
        (
            "a.csv",
            b"id,caf\xe9\n1,x\n",
            "the header is malformed: it has bytes",
            "iconv -f LATIN1 -t UTF-8 {}/a.csv > ",
        ),
        ("a.log", b'::1 "GET /, a"b\n', "a.log is neither JSON, CSV nor Parquet\n", None),
        ("a.csv", b"a,a\n1,2\n", "a is 2 times in the header, so that none of these fields can be a column", None),
        ("a.log", b"one word\none, two\n", "a.log is neither JSON, CSV nor Parquet\n", None),
        ("s3://bucket/a.json", None, "it is not on this machine", None),
    ],
)
def test_what_is_no_place_is_refused(
    name: str, content: bytes | None, told: str, hint: str | None, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    place = name if "://" in name else str(tmp_path / name)
    result = describe(place)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error[R096]" in result.stderr
    assert told in result.stderr
    assert hint is None or hint.replace("{}", str(tmp_path)) in result.stderr


def test_commands_have_the_path_as_it_is_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "my data"
    folder.mkdir()
    (folder / "it's.json.gz").write_bytes(gzip.compress(b'[{"a": 1}]'))
    for place in ("my data", "my data/*", "my data/it's.json.gz"):
        told = """gzip -dc 'my data/it'"'"'s.json.gz' | jq -c '.[]' > 'my data/it'"'"'s.ndjson'"""
        assert told in describe(place).stderr


def test_a_command_joins_fields_with_commas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_bytes(b'id;name\n1;"x;y, z"\n')
    (command,) = re.findall(r"python3 -c .*", describe("a.csv").stderr)
    subprocess.run(["sh", "-c", command], check=True)
    assert read_columns(describe("--rows", "0", "a.new.csv").stdout) == {"id": "BIGINT", "name": "STRING"}
    assert (tmp_path / "a.new.csv").read_bytes() == b'id,name\r\n1,"x;y, z"\r\n'


def test_records_that_are_not_utf8_are_told_once(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"id,name\n1,caf\xe9\n2,caf\xe9\n")
    script = describe(tmp_path / "a.csv").stdout
    assert script.count(f"iconv -f LATIN1 -t UTF-8 {tmp_path}/a.csv > {tmp_path}/a.utf8.csv") == 1


@pytest.mark.parametrize(
    ("content", "columns", "told"),
    [
        (
            [",id,price,time", "0,7,1.5,2024-01-01 10:00:00", "1,8,2.25,2024-01-01 10:00:01"],
            {"id": "BIGINT", "price": "DECIMAL(18, 2)", "time": "TIMESTAMP"},
            "1 field without a name is left out",
        ),
        ([",name,city", "0,Ana,Rome", "1,Bo,Oslo"], {"name": "STRING", "city": "STRING"}, "1 field without a name"),
        (["id,name,", "1,Ana,", "2,Bo,"], {"id": "BIGINT", "name": "STRING"}, "1 field without a name is left out"),
        (["id,time,Name,name", "1,2024-01-01,a,b"], {"id": "BIGINT", "time": "DATE"}, "name is 2 times in the header"),
        (
            ["region,2024,2025", "east,120,130", "west,7,2024"],
            {"region": "STRING", "`2024`": "BIGINT", "`2025`": "BIGINT"},
            "2 records",
        ),
        (
            ["east,2024,2025", "west,2023,2025"],
            {"column1": "STRING", "column2": "BIGINT", "column3": "BIGINT"},
            "2 rec",
        ),
        (["a,,b", "c,d,e"], {"column1": "STRING", "column2": "STRING", "column3": "STRING"}, "2 records"),
        (["a,a", "b,c"], {"column1": "STRING", "column2": "STRING"}, "2 records"),
        (["x,missing,3", "y,2,4"], {"column1": "STRING", "column2": "STRING", "column3": "BIGINT"}, "2 records"),
    ],
)
def test_headers_are_told_by_later_records(
    content: list[str], columns: dict[str, str], told: str, tmp_path: Path
) -> None:
    (tmp_path / "1.csv").write_bytes(lines(*content))
    script = describe("--name", "found", tmp_path).stdout
    found = {name: type_ for name, type_ in read_columns(script).items() if name not in ("event_time", "WATERMARK")}
    assert found == columns
    assert told.replace("2 records", "2 records") in script
    sample = look(lower_sampling(declared(script)), 100)
    assert (sample.rejected, len(sample.rows)) == ([], len(content) - ("header = FALSE" not in script))


def test_a_name_twice_in_a_header_is_no_column(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_bytes(lines("id,name,name", "1,a,b"))
    text = f"CREATE STREAM s (id BIGINT, name STRING) WITH (connector = 'files', path = '{tmp_path}', format = 'csv')"
    with pytest.raises(RunError, match="R005"):
        look(lower_sampling(declared(text)), 1)


def test_null_may_have_a_text_among_times_alone(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_bytes(lines("n,at", "1,2024-01-01 10:00:00", "2,NA", "3,2024-01-01 10:00:05"))
    script = describe("--name", "found", tmp_path).stdout
    assert read_columns(script) == {"n": "BIGINT", "at": "TIMESTAMP"}
    assert "null = 'NA'" in script
    assert look(lower_sampling(declared(script)), 100).rejected == []


def test_several_formats_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(records({"a": 1}))
    (tmp_path / "b.csv").write_bytes(lines("a,b", "1,2"))
    result = describe(tmp_path)
    assert result.exit_code == 1
    assert "its files have several formats: csv as b.csv, json as a.json" in result.stderr
    (tmp_path / "b.csv").unlink()
    (tmp_path / "README.md").write_bytes(b"words\n")
    refused = describe(tmp_path)
    assert "json as a.json; README.md is neither JSON, CSV nor Parquet" in refused.stderr
    assert f"penstock describe '{tmp_path}/*.json'" in refused.stderr


def test_a_damaged_file_ends_it(tmp_path: Path) -> None:
    (tmp_path / "a.json.gz").write_bytes(b"\x1f\x8b\x08damaged")
    (tmp_path / "b.parquet").write_bytes(parquet(a=pa.array([1]))[:-9])
    for name in ("a.json.gz", "b.parquet"):
        result = describe(tmp_path / name)
        assert (result.exit_code, "error[R004]" in result.stderr) == (3, True), result.stderr


def test_a_pattern_without_quotes_is_one_place(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_bytes(records({"a": 1}))
    (tmp_path / "c.csv").write_bytes(lines("a,b"))
    assert f"path = '{tmp_path}/*.json'" in describe(tmp_path / "a.json", tmp_path / "b.json").stdout
    assert describe(tmp_path / "a.json", tmp_path / "c.csv").exit_code == 2


HOSTILE = "x\n); DROP TABLE y; --\r\x1b]0;title\x07\u2028\u202e'\"`"


def test_names_and_values_are_no_sql_and_steer_no_terminal(tmp_path: Path) -> None:
    content = records(
        {HOSTILE: HOSTILE, "n": 1, "time": "x" + HOSTILE}, {HOSTILE: 5, "n": HOSTILE, HOSTILE + "2": None}
    )
    (tmp_path / f"{HOSTILE.replace('/', '')[:20]}.json").write_bytes(content)
    (tmp_path / "b.json").write_bytes(records({"n": {HOSTILE: 1}}))
    script = describe("--name", "hostile", tmp_path).stdout
    assert [entry.name for entry in compile(script).catalog.entries.values()] == ["hostile"]
    assert declared(script).origin.columns
    for line in script.split("\n"):
        comment = line.partition("-- ")
        if line.startswith("--"):
            assert IN_PROGRAMS.search(comment[2]) is None, line
    for form in ("json", "table"):
        shown = describe("--format", form, "--name", "hostile", tmp_path).stdout
        assert "\x1b" not in shown
        assert "\x07" not in shown
        assert "\u202e" not in shown


@pytest.mark.parametrize("seed", range(12))
def test_odd_names_are_columns(seed: int, tmp_path: Path) -> None:
    r = random.Random(seed)
    names = draw_names(r, 8)
    record = {name: r.choice([1, "x", {names[0]: 1}, [{names[1]: "y"}], None, 0.5]) for name in names}
    (tmp_path / "1.json").write_bytes(records(record))
    result = describe("--name", "odd", tmp_path)
    assert result.exit_code == 0, result.stderr
    entry = declared(result.stdout)
    left_out = result.stdout.count("is left out")
    assert len(entry.origin.columns) + left_out == len({name.lower() for name in names})
    assert look(lower_sampling(entry), 10).rejected == []


def test_a_table_of_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "shop.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, score REAL, odd NUMERIC)")
    connection.execute("INSERT INTO customers VALUES (1, 'Ana', 0.5, 1), (2, 'Bo\x1b[31m', NULL, 2)")
    connection.commit()
    connection.close()
    script = describe("--connect", path, "customers").stdout
    assert read_columns(script).items() >= {"id": "BIGINT PRIMARY KEY", "name": "STRING", "score": "DOUBLE"}.items()
    assert f"WITH (connector = 'sqlite', path = '{path}', table = 'customers')" in script
    assert "-- 2   Bo\\x1b[31m  NULL" in script
    assert compile(script)
    refused = describe("--connect", path, "nobody")
    assert (refused.exit_code, "its tables are customers" in refused.stderr) == (3, True)


def test_a_table_of_duckdb(tmp_path: Path) -> None:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE o (a INTEGER, b VARCHAR, price DECIMAL(10, 2), t TIMESTAMPTZ, u HUGEINT, PRIMARY KEY (a, b))"
        )
        connection.execute("INSERT INTO o VALUES (1, 'x', 2.5, '2024-01-01 00:00:00+00', 3)")
    script = describe("--connect", path, "o").stdout
    columns = read_columns(script)
    assert columns["price"] == "DECIMAL(10, 2)"
    assert columns["t"] == "TIMESTAMP"
    assert "PRIMARY KEY (a, b)" in script
    assert "u is left out: no type holds the values of HUGEINT" in script
    assert compile(script)


@pytest.mark.parametrize(
    "address", ["postgresql://ada:sesame@localhost/shop", "mongodb://ada:sesame@localhost/shop", "ada:sesame@localhost"]
)
def test_a_password_is_not_shown(address: str) -> None:
    result = describe("--connect", address, "orders")
    assert result.exit_code == 1
    assert "sesame" not in result.output
