"""No surface shows what an option hides: findings as text and JSON, exceptions, EXPLAIN of every stage."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import penstock
from penstock.commands.cli import main
from penstock.diagnostics import CompileError, Source, hide_credentials, render, report
from penstock.diagnostics.secrets import SHOWN_OPTIONS, hide_secrets
from penstock.explain import answer_text, explain
from penstock.parser.ast import Stage
from penstock.planner.connectors import CONNECTORS
from penstock.planner.script.read_options import SETTINGS

CANARY = "cAnAry7"
URL = f"postgresql://user:{CANARY}@db.example/shop?sslpassword={CANARY}"
SECRETS = ("password", "pasword", "passwort", "sasl.jaas.config", "ssl.key", "tokne", "api_key", "credentials", "dsn")
OPTIONS = [(each.name, option.name) for each in CONNECTORS for option in each.options]
NEEDED = {
    "files": "path = 'in', format = 'json'",
    "kafka": "topic = 't', format = 'json', bootstrap_servers = 'h:1'",
    "postgres": "url = 'postgresql://h', table = 't'",
    "mysql": "url = 'mysql://h/db', table = 't'",
    "sqlite": "path = 'shop.db', table = 't'",
    "duckdb": "path = 'shop.db', table = 't'",
}


def misspelt(name: str) -> Iterator[str]:
    yield name[:-1]
    yield name[0] + name
    yield name.replace(name[1:3], name[2:0:-1], 1)


def scripts() -> Iterator[str]:
    """Scripts that give an option a secret, most of them wrong in some other way, too."""
    for connector, option in OPTIONS:
        yield script(connector, f"{option} = '{URL}'")
        for name in misspelt(option):
            if name not in SHOWN_OPTIONS:
                value = URL if option in SHOWN_OPTIONS else CANARY
                yield script(connector, f"{name} = '{value}'")
    for known in CONNECTORS:
        for name in SECRETS:
            yield script(known.name, f"{name} = '{CANARY}'")
    yield script(URL, "a = 1")
    for broken in (
        f"password '{CANARY}'",
        f"password = {CANARY}",
        f"password = 1{CANARY}",
        f'password = "{CANARY}"',
        f"'password' = '{CANARY}'",
        f"password = 'it''s {CANARY}' oops",
        f"password = '{CANARY}, rows = 5",
        f"password = '\n  {CANARY}\n'",
        f"password == '{CANARY}'",
        f"path = 'x' '{CANARY}'",
        f"path = 'x' password = '{CANARY}'",
        f"path = 'x' pasword = '{CANARY}', rows = 5",
        f"path = 'x' password = 'y' rows = '{CANARY}'",
        f"path = \u2018postgresql://user:{CANARY}@h\u2019",
        f"password = \u2018{CANARY}\u2019",
        f"password = \u201c{CANARY}\u201d",
        f"path = 'x, password = ', {CANARY}, x = '",
        f"password = '{CANARY}' -- password = '{CANARY}'\n oops",
    ):
        yield script("files", broken)
    for reference in (
        f"ENV('{CANARY}!')",
        f"ENV('{CANARY} ')",
        f"ENV({CANARY})",
        f'ENV("{CANARY}")',
        f"ENV '{CANARY}'",
        f"ENV('{CANARY}",
        f"ENV('PGPASSWORD', '{CANARY}')",
        f"ENV('PGPASSWORD') '{CANARY}'",
        f"ENVIRONMENT('{CANARY}')",
        f"FILE({CANARY})",
        f"FILE '{CANARY}'",
        f"FILE('/run/x' '{CANARY}')",
        f"CONCAT('{CANARY}', FILE('x'))",
    ):
        yield script("postgres", f"password = {reference}")
        yield f"SET password = {reference}"
    yield f"CREATE STREAM s (id INT) WIHT (password = '{CANARY}')"
    yield f"CREATE STREAM s (id INT) WITH password = '{CANARY}'"
    yield f"SET password = '{CANARY}'"
    yield f"SET a.token '{CANARY}'"
    yield f"SET password = '{CANARY}' SELECT 1"
    yield f"SET password = SELECT '{CANARY}'"
    yield f"SET state_store = 'x' '{CANARY}'"


def script(connector: str, option: str) -> str:
    needed = ", ".join(
        each for each in NEEDED.get(connector, "").split(", ") if each and not option.startswith(each.split(" ")[0])
    )
    return f"CREATE STREAM s (id INT) WITH (connector = '{connector}', {needed}{needed and ', '}{option});\n"


def surfaces(sql: str) -> Iterator[str]:
    """All that is shown of a script, each text after what shows it."""
    try:
        compilation = penstock.compile(sql, name="orders.sql")
    except CompileError as refusal:
        yield f"exception {refusal} {refusal!r}"
        for finding in refusal.diagnostics:
            yield f"text {render(finding)}"
            yield f"report {json.dumps(report(finding))}"
            yield f"finding {finding!r}"
        return
    for stage in Stage:
        yield f"{stage} {explain(compilation, stage)}"


@pytest.mark.parametrize("sql", list(scripts()))
def test_nothing_shows_a_secret(sql: str) -> None:
    assert CANARY in sql
    shown = list(surfaces(sql))
    assert shown
    assert [text for text in shown if CANARY in text] == []


@pytest.mark.parametrize("stage", [each.value for each in Stage])
def test_explain_hides_the_credentials_of_a_path(tmp_path: Path, stage: str) -> None:
    file = tmp_path / "orders.sql"
    file.write_text(
        f"CREATE STREAM s (id INT) WITH (connector = 'files', path = 's3a://KEY:{CANARY}/x@in/a', format = 'json');"
        f"CREATE STREAM o WITH (connector = 'files', path = 's3a://KEY:{CANARY}@out/a', format = 'json') AS "
        "SELECT STREAM id FROM s;"
    )
    ended = CliRunner().invoke(main, ["explain", stage, str(file)])
    assert ended.exit_code == 0, ended.output
    assert CANARY not in ended.output
    assert ("s3a://" in ended.output) == (stage in ("AST", "SPARK", "CODE"))
    # The job that is written to run needs them.
    assert CliRunner().invoke(main, ["compile", str(file), "-o", str(tmp_path / "job")]).exit_code == 0
    assert CANARY in (tmp_path / "job" / "job.py").read_text()


REFERENCES = ("ENV('PGPASSWORD')", "env ( 'PGPASSWORD' )", "FILE('/run/secrets/it''s')")


@pytest.mark.parametrize("reference", REFERENCES)
def test_references_are_shown(reference: str) -> None:
    options = f"connector = 'postgres', url = 'postgresql://h', table = 't', password = {reference}"
    with pytest.raises(CompileError) as refusal:
        penstock.compile(f"CREATE TABLE t (id INT PRIMARY KEY) WITH ({options}, tokn = '{CANARY}')")
    shown = render(refusal.value.diagnostics[0])
    assert reference in shown
    assert CANARY not in shown
    (answer,) = penstock.compile(f"EXPLAIN AST CREATE TABLE t (id INT PRIMARY KEY) WITH ({options})").answers
    assert reference.replace(" ", "").replace("env", "ENV") in answer_text(answer)


def test_what_the_variable_holds_is_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", CANARY)
    fingerprints = set()
    for reference in REFERENCES:
        compilation = penstock.compile(written(reference))
        for stage in (Stage.AST, Stage.PLAN, Stage.STATE, Stage.PHYSICAL, Stage.PARTITIONS, Stage.SPARK):
            assert CANARY not in explain(compilation, stage)
        assert CANARY not in repr(compilation)
        (query,) = compilation.program.queries
        fingerprints.add(query.fingerprint)
    assert len(fingerprints) == 1, "a checkpoint may go on with another password"


def written(reference: str) -> str:
    """A script that writes a table of PostgreSQL."""
    return f"""CREATE STREAM s (id BIGINT KEY) WITH (connector = 'rate');
CREATE TABLE t WITH (connector = 'postgres', url = 'postgresql://h', table = 't', password = {reference})
AS SELECT id, COUNT(*) AS n FROM s GROUP BY id;"""


def test_a_refusal_shows_the_place_and_the_other_options() -> None:
    with pytest.raises(CompileError) as refusal:
        penstock.compile(script("kafka", f"pasword = '{CANARY}'"), name="orders.sql")
    assert "bootstrap_servers = 'h:1', pasword = *********)" in render(refusal.value.diagnostics[0])


@pytest.mark.parametrize(
    "option",
    [
        "formt = 'json'",
        "'properties.bootstrap.servers' = 'h:1'",
        "'scan.startup.mode' = 'earliest'",
        "topic = \u2018orders\u2019",
        "topic = 'orders' format = 'json'",
    ],
)
def test_values_that_are_no_secrets_are_shown(option: str) -> None:
    sql = f"CREATE STREAM s (id INT) WITH (connector = 'kafka', {option}, password = '{CANARY}')"
    assert hide_secrets(sql) == sql.replace(f"'{CANARY}'", "*********")


@pytest.mark.parametrize("option", ["auth", "connection", "connect", "headers", "ssl.key", "sasl.jaas.config", "dsn"])
def test_values_that_may_be_secrets_are_hidden(option: str) -> None:
    """Their names are near to `path`, `connector`, `header` and `url`."""
    assert "hunter2" not in hide_secrets(f"CREATE STREAM s (id INT) WITH ('{option}' = 'hunter2')")


def test_a_statement_behind_a_setting_is_shown() -> None:
    sql = "SET 'parallelism' = 2\nSELECT 'a' FROM s"
    assert hide_secrets(sql) == sql


def test_every_option_is_known_to_be_shown_or_not() -> None:
    options = [option for connector in CONNECTORS for option in connector.options]
    shown = {option.name for option in options} - {option.name for option in options if option.secret}
    shown |= {f"fields.{option.name}" for connector in CONNECTORS for option in connector.column_options}
    assert shown | {name for name, _ in SETTINGS} | {"connector"} == SHOWN_OPTIONS


@pytest.mark.parametrize(
    "text",
    [
        "SELECT STREAM 'a' AS key FROM s WHERE key = 'x' AND t.monkey = 'y'",
        "WITH t AS (SELECT 'a' AS k FROM s) SELECT STREAM k FROM t",
        "CREATE STREAM s (id INT) WITH (path = 'hdfs://host:8020/a@b', retention = INTERVAL '7' DAYS, format = 'json')",
        "-- see http://example.org/a@b and mail to me@example.org",
    ],
)
def test_other_text_is_shown(text: str) -> None:
    assert hide_secrets(text) == text


def test_hidden_text_keeps_its_places() -> None:
    for sql in scripts():
        hidden = hide_secrets(sql)
        assert [len(line) for line in hidden.split("\n")] == [len(line) for line in sql.split("\n")]
        assert CANARY not in "".join(Source("s", sql).line(number + 1) for number in range(sql.count("\n")))


def test_messages_keep_expressions() -> None:
    assert hide_credentials("ON a.token = b.token", quoted=True) == "ON a.token = b.token"
    assert hide_credentials(f"refused: password={CANARY}, user=x") == "refused: password=*******, user=x"
