"""What is wrong with a script, its input, its output or the machine, as the command line tells it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from penstock.commands.cli import main
from penstock.commands.live_line import STARTING
from tests.e2e.shell import ENVIRONMENT, PENSTOCK, accounts, call, write
from tests.runtime.programs import written

DECLARED = """CREATE STREAM orders (id BIGINT KEY, price INT, time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '10' SECOND)
WITH (connector = 'files', path = 'orders', format = '{format}');
CREATE STREAM big (id BIGINT, price INT) WITH (connector = 'files', path = 'big', format = 'json');
"""
QUERY = "INSERT INTO big SELECT STREAM id, price FROM orders WHERE price > 100;\n"
SCRIPT = DECLARED.format(format="json") + QUERY
ORDER = {"id": 1, "price": 150, "time": "2024-01-01T00:00:00Z"}
COMMANDS = {"check": (), "explain": (), "compile": ("-o", "job"), "run": ()}
"""Commands that compile a script, and the options that they need."""
NEVER_SHOWN = ("Traceback", "at org.apache", "Exception", "py4j", "SQLSTATE", "R099")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory: a script and one file of its input."""
    write(tmp_path, {"script.sql": SCRIPT, "orders/1.json": [ORDER]})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


def penstock(*arguments: str, text: str | None = None) -> Result:
    """The command in this process, so that runs share one Spark."""
    result = CliRunner().invoke(main, arguments, input=text, prog_name="penstock")
    for word in NEVER_SHOWN:
        assert word not in result.output
    return result


def failing(code: str, exit_code: int, *arguments: str) -> str:
    """What the command says when it ends with this one error."""
    result = penstock(*arguments)
    assert result.exit_code == exit_code, result.output
    assert result.stdout == ""
    told = result.stderr.removeprefix(f"{STARTING}\n")
    assert told.startswith(f"error[{code}]: ")
    assert told.count("error[") == 1
    return told


def once(code: str) -> str:
    """What `penstock run --once` says when it fails with this error; nothing was written for readers to see."""
    told = failing(code, 3, "run", "--once", "script.sql")
    assert not (Path("big") / "_spark_metadata" / "0").exists()
    return told


class TestScript:
    """Refused before there is a Spark."""

    @pytest.mark.parametrize("command", COMMANDS)
    def test_a_missing_script(self, folder: Path, command: str) -> None:
        assert "script nowhere.sql cannot be read: no such file" in failing(
            "R090", 2, command, "nowhere.sql", *COMMANDS[command]
        )

    def test_a_folder_as_script(self, folder: Path) -> None:
        assert "script orders cannot be read: is a directory" in failing("R090", 2, "check", "orders")

    def test_a_script_that_is_no_text(self, folder: Path) -> None:
        Path("script.sql").write_bytes(b"SELECT \xff")
        assert "script.sql cannot be read: byte 7 is not UTF-8" in failing("R090", 2, "check", "script.sql")

    @pytest.mark.parametrize(
        ("before", "after", "code", "named"),
        [
            ("format = 'json');\nCREATE", "format = 'json', headr = TRUE);\nCREATE", "C002", "headr"),
            ("format = 'json');\nCREATE", "format = 'jsn');\nCREATE", "C003", "'json', 'csv', 'parquet'"),
            ("connector = 'files', path = 'orders'", "connector = 'file', path = 'orders'", "C001", "file"),
            ("price > 100", "price > time", "T003", "TIMESTAMP"),
            ("price > 100", "cost > 100", "N001", "cost"),
            ("price > 100", "price >", "S002", "price >"),
        ],
    )
    @pytest.mark.parametrize("command", COMMANDS)
    def test_a_mistake_in_it(self, folder: Path, command: str, before: str, after: str, code: str, named: str) -> None:
        assert before in SCRIPT
        write(folder, {"script.sql": SCRIPT.replace(before, after)})
        told = failing(code, 1, command, "script.sql", *COMMANDS[command])
        assert named in told
        assert "--> script.sql:" in told
        assert sorted(path.name for path in folder.iterdir()) == ["orders", "script.sql"]

    @pytest.mark.parametrize(
        "arguments", [["chek"], ["check"], ["check", "--form", "x"], ["run", "--drain", "script.sql"], ["explain"]]
    )
    def test_a_wrong_command_line(self, folder: Path, arguments: list[str]) -> None:
        result = penstock(*arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "Error: " in result.stderr

    def test_an_output_that_can_not_be_written(self, folder: Path) -> None:
        result = penstock("compile", "script.sql", "-o", "script.sql/job")
        assert result.exit_code == 2
        assert "script.sql/job cannot be written: not a directory" in result.stderr

    def test_findings_as_json(self, folder: Path) -> None:
        script = DECLARED.format(format="json") + "INSERT INTO big SELECT STREAM id,\n  pric\nFROM orders;\n"
        result = penstock("check", "--format", "json", "-", text=script)
        assert result.exit_code == 1
        assert json.loads(result.stdout) == [
            {
                "code": "N001",
                "severity": "error",
                "message": "unknown column pric",
                "file": "<stdin>",
                "line": 6,
                "column": 3,
                "end_line": 6,
                "end_column": 7,
                "hint": "did you mean price?",
                "statement": 3,
            }
        ]

    def test_a_missing_script_as_json(self, folder: Path) -> None:
        result = penstock("check", "--format", "json", "nowhere.sql")
        assert result.exit_code == 2
        (finding,) = json.loads(result.stdout)
        assert (finding["code"], finding["line"], finding["statement"]) == ("R090", None, None)
        assert "nowhere.sql" in finding["message"]

    def test_nothing_wrong_as_json(self, folder: Path) -> None:
        result = penstock("check", "--format", "json", "script.sql")
        assert (result.exit_code, json.loads(result.stdout)) == (0, [])


def test_no_jdk(folder: Path) -> None:
    ended = call(
        folder, *PENSTOCK, "run", "--once", "script.sql", environment={**ENVIRONMENT, "PATH": "", "JAVA_HOME": ""}
    )
    assert ended.returncode == 3
    assert ended.stderr.removeprefix(f"{STARTING}\n").startswith("error[R001]: no JDK 17 or 21 found")
    assert "hint: " in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (folder / "big").exists()


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
class TestRun:
    """Found out by Spark, or just before it starts."""

    def test_a_missing_input(self, folder: Path) -> None:
        (folder / "orders").rename(folder / "elsewhere")
        assert f"path of orders does not exist: {folder}/orders" in once("R003")
        assert not (folder / "big").exists()

    def test_an_unreadable_file(self, folder: Path) -> None:
        write(folder, {"script.sql": DECLARED.format(format="parquet") + QUERY})
        assert f"file cannot be read: {folder}/orders/1.json" in once("R004")

    def test_a_csv_header_without_a_declared_column(self, folder: Path) -> None:
        write(folder, {"script.sql": DECLARED.format(format="csv") + QUERY, "orders/1.json": "id,time,cost\n1,,2\n"})
        told = once("R005")
        assert "CSV header of orders has no column price" in told
        assert "orders/1.json are id, time, cost" in told
        assert not (folder / "big").exists()

    def test_a_csv_record_of_too_many_fields(self, folder: Path) -> None:
        rows = f"id,price,time\n1,2,\n{30_000 * ','}\n"
        write(folder, {"script.sql": DECLARED.format(format="csv") + QUERY, "orders/1.json": rows})
        told = once("R004")
        assert "orders/1.json" in told
        assert "a record has more than 20480 fields" in told

    def test_csv_files_with_other_headers(self, folder: Path) -> None:
        write(
            folder,
            {
                "script.sql": DECLARED.format(format="csv") + QUERY,
                "orders/1.json": "id,price,time\n1,2,\n",
                "orders/2.json": "price,id,time\n1,2,\n",
            },
        )
        assert "orders/" in once("R006")

    def test_an_output_folder_that_is_a_file(self, folder: Path) -> None:
        write(folder, {"big": "mine\n"})
        assert f"{folder}/big" in once("R017")
        assert (folder / "big").read_text(encoding="utf-8") == "mine\n"

    def test_an_output_folder_of_another_run(self, folder: Path) -> None:
        assert penstock("run", "--once", "script.sql").exit_code == 0
        assert f"folder holds the rows of an earlier run: {folder}/big" in failing(
            "R014", 3, "run", "--once", "script.sql"
        )
        assert written(folder / "big") == [{"id": 1, "price": 150}]

    def test_a_checkpoint_of_another_query(self, folder: Path) -> None:
        assert penstock("run", "--once", "--checkpoint", "state", "script.sql").exit_code == 0
        write(folder, {"script.sql": SCRIPT.replace("> 100", "> 10"), "orders/2.json": [ORDER]})
        told = failing("R010", 3, "run", "--once", "--checkpoint", "state", "script.sql")
        assert f"checkpoint belongs to another query: {folder}/state/big" in told
        assert written(folder / "big") == [{"id": 1, "price": 150}]

    def test_a_checkpoint_that_is_a_file(self, folder: Path) -> None:
        write(folder, {"state": "mine\n"})
        result = penstock("run", "--once", "--checkpoint", "state", "script.sql")
        assert result.exit_code == 2
        assert "'state' is a file" in result.stderr

    @pytest.mark.parametrize(
        ("expression", "code", "told"),
        [
            ("price DIV (price - 150)", "R020", "division by zero in big"),
            ("CAST(CAST(time AS STRING) AS INT)", "R021", "cannot be cast to INT in big"),
            ("price * 100000000", "R022", "number out of range in big"),
        ],
    )
    def test_a_value_that_stops_a_query(self, folder: Path, expression: str, code: str, told: str) -> None:
        write(folder, {"script.sql": SCRIPT.replace("id, price FROM", f"id, CAST({expression} AS INT) AS price FROM")})
        assert told in once(code)

    def test_malformed_rows_are_set_aside(self, folder: Path) -> None:
        write(
            folder,
            {"orders/2.json": '{"id": 2, "price": "dear", "time": "2024-01-01T00:00:00Z"}\n{"id": 3\n{"id": 4}\n'},
        )
        result = penstock("run", "--once", "script.sql")
        assert result.exit_code == 0
        assert accounts(result.stdout) == {("big", "orders"): [4, 3, 0, 0, 1, 1]}
        assert f"big: rejected rows of orders are in {folder}/big_rejected/orders" in result.stdout
        aside = {row["record"]: row["reason"] for row in written(folder / "big_rejected" / "orders")}
        assert len(aside) == 3
        assert aside['{"id": 3'] == "malformed record: it is not one JSON object"
