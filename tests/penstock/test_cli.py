"""The command line: what is printed where, and the exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from click.testing import CliRunner, Result

from penstock.commands.cli import main
from penstock.commands.run_script import MERGED
from penstock.diagnostics.all_codes import CATALOG
from penstock.job_archive import make_archive

DECLARATION = """CREATE STREAM orders (id BIGINT KEY, price DOUBLE, time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '10' SECOND)
WITH (connector = 'files', path = 'orders', format = 'json');
"""
QUERY = "CREATE STREAM big AS SELECT STREAM id, price FROM orders WHERE price > 100;\n"
OUTPUT = "INSERT INTO out SELECT STREAM id FROM big;\n"
SINK = "CREATE STREAM out (id BIGINT) WITH (connector = 'files', path = 'out', format = 'json');\n"
BAD = "SELECT STREAM id FROM order;\n"


def penstock(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, arguments, input=stdin, catch_exceptions=False)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("declarations.sql").write_text(DECLARATION, encoding="utf-8")
    Path("queries.sql").write_text(QUERY + SINK + OUTPUT, encoding="utf-8")
    Path("bad.sql").write_text(BAD, encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("folder")
class TestCheck:
    def test_later_files_see_the_declarations_of_earlier_ones(self) -> None:
        run = penstock("check", "declarations.sql", "queries.sql")
        assert run.exit_code == 0
        assert run.stdout.splitlines() == [
            "ok: declarations.sql: 1 statement, 0 queries",
            "ok: queries.sql: 3 statements, 1 query",
        ]
        assert run.stderr == ""

    def test_a_refusal_goes_to_standard_error(self) -> None:
        run = penstock("check", "declarations.sql", "bad.sql", "queries.sql")
        assert (run.exit_code, run.stdout) == (1, "")
        assert run.stderr.startswith("error[")
        assert "--> bad.sql:1:23" in run.stderr

    def test_syntax_errors_of_all_files_are_shown(self) -> None:
        for name in ("a.sql", "b.sql"):
            Path(name).write_text("SELECT STREAM FROM;", encoding="utf-8")
        run = penstock("check", "a.sql", "declarations.sql", "b.sql")
        assert run.exit_code == 1
        assert [line[6:11] for line in run.stderr.splitlines() if "-->" in line] == ["a.sql", "b.sql"]

    def test_standard_input(self) -> None:
        assert penstock("check", "-", stdin=DECLARATION).stdout == "ok: <stdin>: 1 statement, 0 queries\n"

    def test_a_byte_order_mark_is_no_character(self) -> None:
        Path("bom.sql").write_bytes(b"\xef\xbb\xbf" + DECLARATION.encode())
        assert penstock("check", "bom.sql").exit_code == 0

    def test_json_has_the_documented_fields(self) -> None:
        run = penstock("check", "--format", "json", "declarations.sql", "bad.sql")
        assert run.exit_code == 1
        (finding,) = json.loads(run.stdout)
        assert finding.pop("code") in {code.id for code in CATALOG}
        assert isinstance(finding.pop("message"), str)
        assert isinstance(finding.pop("hint"), str)
        place = {"line": 1, "column": 23, "end_line": 1, "end_column": 28}
        assert finding == {"severity": "error", "file": "bad.sql", "statement": 1, **place}

    def test_a_version_of_spark_must_have_all_functions(self) -> None:
        script = DECLARATION + "SELECT STREAM id FROM orders WHERE TO_BASE32(CAST('a' AS BINARY)) = 'ME======';\n"
        assert penstock("check", "--spark", "4.3", "-", stdin=script).exit_code == 0
        run = penstock("check", "--spark", "4.2", "--format", "json", "-", stdin=script)
        (finding,) = json.loads(run.stdout)
        assert (run.exit_code, finding["code"], finding["line"], finding["column"]) == (1, "R009", 4, 36)
        run = penstock("check", "--spark", "3.5.1", "declarations.sql")
        assert run.exit_code == 1
        assert "R008" in run.stderr

    def test_json_of_an_accepted_script_is_an_empty_array(self) -> None:
        run = penstock("check", "--format", "json", "declarations.sql")
        assert (run.exit_code, json.loads(run.stdout)) == (0, [])

    @pytest.mark.parametrize(
        ("name", "content", "reason"),
        [
            ("missing.sql", None, "no such file or directory"),
            ("latin1.sql", "SELECT 'é'".encode("latin-1"), "byte 8 is not UTF-8"),
            (".", None, "is a directory"),
        ],
    )
    @pytest.mark.parametrize("form", ["text", "json"])
    def test_a_file_that_can_not_be_read(self, name: str, content: bytes | None, reason: str, form: str) -> None:
        if content is not None:
            Path(name).write_bytes(content)
        run = penstock("check", "--format", form, name)
        message = f"script {name} cannot be read: {reason}"
        assert run.exit_code == 2
        if form == "text":
            assert run.stderr == f"error[R090]: {message}\n\n"
        else:
            assert [(finding["code"], finding["message"]) for finding in json.loads(run.stdout)] == [("R090", message)]


@pytest.mark.usefixtures("folder")
class TestExplain:
    def test_the_plan_is_the_default(self) -> None:
        named = penstock("explain", "plan", "declarations.sql", "queries.sql")
        assert named.exit_code == 0
        assert "Scan orders" in named.stdout
        assert penstock("explain", "declarations.sql", "queries.sql").stdout == named.stdout

    @pytest.mark.parametrize(
        ("stage", "part"),
        [
            ("AST", "Create"),
            ("PARTITIONS", "no join"),
            ("STATE", "none"),
            ("PHYSICAL", "none"),
            ("SPARK", "SELECT"),
            ("CODE", "import"),
        ],
    )
    def test_each_stage(self, stage: str, part: str) -> None:
        run = penstock("explain", stage, "declarations.sql", "queries.sql")
        assert run.exit_code == 0
        assert part in run.stdout

    def test_partitions_as_a_drawing(self) -> None:
        run = penstock("explain", "PARTITIONS", "--mermaid", "declarations.sql", "queries.sql")
        assert run.exit_code == 0
        assert run.stdout.startswith("flowchart LR\n")
        assert '(["orders"])' in run.stdout

    def test_a_drawing_is_of_partitions(self) -> None:
        assert penstock("explain", "--mermaid", "declarations.sql").exit_code == 2

    def test_a_refused_script(self) -> None:
        run = penstock("explain", "bad.sql")
        assert (run.exit_code, run.stdout) == (1, "")
        assert run.stderr.startswith("error[")


@pytest.mark.usefixtures("folder")
class TestCompile:
    def test_a_folder_is_written_and_written_again(self) -> None:
        assert penstock("compile", "declarations.sql", "queries.sql", "-o", "new/job").exit_code == 0
        job = Path("new/job")
        assert {each.name for each in job.iterdir()} == {"job.py", "kit.zip", "README.md", "sql"}
        code = (job / "job.py").read_text(encoding="utf-8")
        assert penstock("explain", "CODE", "declarations.sql", "queries.sql").stdout == code
        written = {path for path in job.rglob("*") if path.is_file()}
        mine = [job / "notes", job / "sql" / "mine.sql", job / "sql" / "out" / "mine.sql"]
        for each in mine:
            each.touch()
        (job / "job.py").write_text("changed")
        assert penstock("compile", "declarations.sql", "queries.sql", "-o", "new/job").exit_code == 0
        assert {path for path in job.rglob("*") if path.is_file()} == {*written, *mine}
        assert (job / "job.py").read_text(encoding="utf-8") == code

    def test_files_of_the_former_script_are_removed(self) -> None:
        assert penstock("compile", "declarations.sql", "queries.sql", "-o", "job").exit_code == 0
        assert Path("job/sql/out").is_dir()
        Path("other.sql").write_text(Path("queries.sql").read_text().replace("out", "other"), encoding="utf-8")
        assert penstock("compile", "declarations.sql", "other.sql", "-o", "job").exit_code == 0
        assert [*Path("job/sql").iterdir()] == [Path("job/sql/other")]

    @pytest.mark.parametrize("name", ["job.py", "kit.zip", "sql/out/query.json"])
    def test_a_file_of_no_job_stays(self, name: str) -> None:
        """A file named kit.zip makes no job of a folder, and neither does another archive."""
        Path("job/sql/out").mkdir(parents=True)
        with ZipFile("job/kit.zip", "w") as archive:
            archive.writestr("job.py", "")
        if name != "kit.zip":
            Path("job/kit.zip").unlink()
            Path("job", name).write_text("mine")
        before = {path: path.read_bytes() for path in Path("job").rglob("*") if path.is_file()}
        run = penstock("compile", "declarations.sql", "queries.sql", "-o", "job")
        assert (run.exit_code, f"job has a {name} that is of no job" in run.stderr) == (2, True)
        assert {path: path.read_bytes() for path in Path("job").rglob("*") if path.is_file()} == before

    def test_a_new_query_overwrites_nothing(self) -> None:
        assert penstock("compile", "declarations.sql", "queries.sql", "-o", "job").exit_code == 0
        Path("other.sql").write_text(Path("queries.sql").read_text().replace("out", "other"), encoding="utf-8")
        Path("job/sql/other").mkdir()
        Path("job/sql/other/query.json").write_text("mine")
        run = penstock("compile", "declarations.sql", "other.sql", "-o", "job")
        assert (run.exit_code, "job has a sql/other/query.json that is of no job" in run.stderr) == (2, True)
        assert Path("job/sql/other/query.json").read_text() == "mine"
        assert Path("job/sql/out/query.json").is_file()

    def test_a_list_removes_nothing_outside_of_its_folder(self) -> None:
        Path("job").mkdir()
        Path("job/kit.zip").write_bytes(make_archive(["../queries.sql", str(Path("bad.sql").absolute()), "old.txt"]))
        Path("job/old.txt").touch()
        assert penstock("compile", "declarations.sql", "queries.sql", "-o", "job").exit_code == 0
        assert (Path("queries.sql").is_file(), Path("bad.sql").is_file()) == (True, True)
        assert not Path("job/old.txt").exists()

    def test_nothing_is_written_for_a_refused_script(self) -> None:
        assert penstock("compile", "bad.sql", "-o", "job").exit_code == 1
        assert not Path("job").exists()

    @pytest.mark.parametrize(
        ("output", "told"),
        [
            ([], "a job is a folder: name it, as -o job/"),
            (["-o", "orders.py"], "orders.py is a file, and a job is a folder: -o orders/"),
            (["-o", "queries.sql"], "queries.sql is a file, and a job is a folder: -o queries/"),
            (["-o", "queries.sql/job"], "queries.sql/job cannot be written: not a directory"),
            (["-o", "."], ". has a README.md that is of no job"),
        ],
    )
    def test_a_place_that_is_no_job(self, output: list[str], told: str) -> None:
        Path("README.md").touch()
        run = penstock("compile", "declarations.sql", "queries.sql", *output)
        assert (run.exit_code, run.stdout) == (2, "")
        assert told in run.stderr
        assert Path("queries.sql").is_file()


@pytest.mark.usefixtures("folder")
class TestUsage:
    @pytest.mark.parametrize(
        "arguments",
        [
            [],
            ["check"],
            ["unknown"],
            ["check", "--format", "xml", "bad.sql"],
            ["run", "--drain", "queries.sql"],
            ["run", "--reset", "queries.sql"],
            ["query"],
            ["query", "missing.sql", "SELECT id FROM orders"],
            ["query", "--format", "xml", "declarations.sql", "SELECT id FROM orders"],
            ["run"],
        ],
    )
    def test_wrong_usage_is_2(self, arguments: list[str]) -> None:
        assert penstock(*arguments).exit_code == 2

    @pytest.mark.parametrize("command", sorted(main.commands))
    def test_help_has_examples(self, command: str) -> None:
        run = penstock(command, "--help")
        assert run.exit_code == 0
        assert f"\n  Examples:\n    penstock {command} " in run.stdout
        assert "Exit code 0" in run.stdout

    @pytest.mark.parametrize(
        ("select", "code"),
        [
            ("SELECT * FROM big", "R032"),
            ("SELECT * FROM kept", "R032"),
            ("SELECT FROM", "S001"),
            ("DROP VIEW v", "R031"),
        ],
    )
    def test_a_read_that_is_refused_needs_no_spark(self, select: str, code: str) -> None:
        Path("kept.sql").write_text("CREATE TABLE kept AS SELECT id, COUNT(*) AS n FROM orders GROUP BY id;")
        run = penstock("query", "declarations.sql", "queries.sql", "kept.sql", select)
        assert (run.exit_code, run.stdout) == (1, "")
        assert run.stderr.startswith(f"error[{code}]")
        assert "--> <query>:1:" in run.stderr

    def test_a_refused_script_is_not_run(self) -> None:
        run = penstock("run", "--once", "bad.sql")
        assert run.exit_code == 1
        assert run.stderr.startswith("error[")


@pytest.mark.spark
@pytest.mark.usefixtures("only_spark", "folder")
def test_a_run_that_begins_anew_says_what_it_removes() -> None:
    Path("orders").mkdir()
    Path("orders/1.json").write_text('{"id": 1, "price": 150, "time": "2024-01-01T00:00:00Z"}\n', encoding="utf-8")
    once = ("run", "--once", "--checkpoint", "state", "declarations.sql", "queries.sql")
    assert penstock(*once).exit_code == 0
    Path("queries.sql").write_text(QUERY.replace("> 100", "> 50") + SINK + OUTPUT, encoding="utf-8")
    changed = penstock(*once)
    assert changed.exit_code == 3
    assert "error[R010]" in changed.stderr
    assert "begin anew: add --overwrite" in changed.stderr
    doubled = penstock(*once, "--reset")
    assert doubled.exit_code == 3
    assert "error[R014]" in doubled.stderr
    Path("out").rename("former")
    anew = penstock(*once, "--reset")
    assert anew.exit_code == 0
    assert f"removed checkpoint {Path('state/out').resolve()}\n" in anew.stderr
    (file,) = Path("out").glob("*.json")
    assert json.loads(file.read_text(encoding="utf-8")) == {"id": 1}


@pytest.mark.spark
@pytest.mark.usefixtures("only_spark", "folder")
def test_a_run_that_overwrites_says_what_it_removes() -> None:
    Path("orders").mkdir()
    Path("orders/1.json").write_text('{"id": 1, "price": 150, "time": "2024-01-01T00:00:00Z"}\nno\n', encoding="utf-8")
    once = ("run", "--once", "declarations.sql", "queries.sql")
    first = penstock(*once, "--overwrite")
    assert (first.exit_code, "removed" in first.stderr) == (0, False)
    assert first.stderr.startswith("starting Spark …\n")
    Path("out/mine.json").write_text("{}")
    doubled = penstock(*once)
    assert (doubled.exit_code, doubled.stdout) == (3, "")
    assert "error[R014]" in doubled.stderr
    assert "starting Spark" not in doubled.stderr
    assert "hint: add --overwrite, which removes these rows" in doubled.stderr
    again = penstock(*once, "--overwrite", "--checkpoint", "state")
    assert again.exit_code == 0, again.output
    for name in ("out", "out_rejected/orders"):
        assert f"removed the rows in {Path(name).resolve()}\n" in again.stderr
    assert [file.read_text() for file in sorted(Path("out").glob("*.json"))] == ["{}", '{"id":1}\n']
    changed = penstock(*once, "--overwrite", "--checkpoint", "state")
    assert changed.exit_code == 0
    assert f"removed checkpoint {Path('state/out').resolve()}\n" in changed.stderr


@pytest.mark.spark
@pytest.mark.usefixtures("only_spark", "folder")
def test_a_run_over_much_input_merges_windows_of_hop(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ("LARGE", "LARGE_BATCH"):
        monkeypatch.setattr(f"penstock.runtime.query.input_sizes.{limit}", 1)
    Path("orders").mkdir()
    Path("orders/1.json").write_text('{"id": 1, "price": 150, "time": "2024-01-01T00:00:00Z"}\n', encoding="utf-8")
    written = []
    for number, (setting, *options) in enumerate(
        [("",), ("SET partial_aggregates = OFF;",), ("", "--checkpoint", "state")]
    ):
        sink = f"WITH (connector = 'files', path = 'hops{number}', format = 'json')"
        hops = f"""{setting} CREATE STREAM hops {sink} AS SELECT STREAM window_start, COUNT(*) AS n FROM orders
            GROUP BY HOP(time, 10 SECONDS, 30 SECONDS);"""
        Path("hops.sql").write_text(hops, encoding="utf-8")
        run = penstock("run", "--once", *options, *(["--drain"] if options else []), "declarations.sql", "hops.sql")
        assert run.exit_code == 0
        assert (MERGED in run.stderr) == (number == 0)
        written.append(
            sorted(line for file in Path(f"hops{number}").glob("*.json") for line in file.read_text().splitlines())
        )
    assert len(written[0]) == 3
    assert written[0] == written[1] == written[2]


def test_check_from_a_shell_loads_neither_spark_nor_pandas(folder: Path) -> None:
    script = """if True:
        import atexit, sys
        from penstock.commands.cli import main
        atexit.register(lambda: print("loaded", *sys.modules))
        main()"""
    run = subprocess.run(
        [sys.executable, "-c", script, "check", "declarations.sql", "queries.sql"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(run.stdout.split("loaded")[1].split())
    assert "penstock.compilation" in loaded
    assert not {"pyspark", "pandas", "numpy", "pyarrow", "duckdb", "lark", "rich"} & loaded
    assert not {"penstock.codegen", "penstock.runtime", "penstock.server", "penstock.translate"} & loaded
