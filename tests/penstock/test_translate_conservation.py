"""`penstock translate`: every statement of the input is in the result, as a statement or as a comment."""

from __future__ import annotations

import os
import random

import pytest

from penstock.commands.translate import write_script
from penstock.diagnostics import Source
from penstock.parser import split_script
from penstock.translate import System, TranslatedStatement, Verdict, translate
from tests.penstock.translate_draws import DrawnScript, draw_script

DRAWN = int(os.environ.get("PENSTOCK_TRANSLATIONS", "40"))


def translate_text(text: str, system: System) -> tuple[str, list[TranslatedStatement]]:
    """The result, and its statements."""
    pieces = [*write_script(translate(Source("<test>", text), system))]
    statements = [statement for _, statement in pieces if statement is not None]
    assert all(each.notes or each.verdict is Verdict.SAME for each in statements)
    return "".join(piece for piece, _ in pieces), statements


def check_conserved(drawn: DrawnScript, system: System) -> None:
    """Each mark is in the result, outside of comments if its statement is accepted."""
    result, statements = translate_text(drawn.text, system)
    shown = f"of\n{drawn.text}\n--- in\n{result}"
    lost = [mark for mark in (*drawn.marks, *drawn.comments) if mark not in result]
    assert not lost, f"{lost} {shown}"
    left_out = [each.text for each in statements if not each.sql]
    wrong = [text for text in left_out for mark in drawn.marks if mark not in drawn.dispensable and mark in text]
    assert not wrong, f"{wrong} {shown}"
    source = Source("<result>", result)
    running = [result[tokens[0].start : tokens[-1].end] for tokens in split_script(source)]
    accepted = [each.sql for each in statements if each.sql and each.verdict is not Verdict.REFUSED]
    assert len(running) == len(accepted), shown
    for sql, text in zip(running, accepted, strict=True):
        assert text.endswith(sql), shown


@pytest.mark.draws
@pytest.mark.parametrize("system", System)
def test_no_statement_is_lost(system: System) -> None:
    for seed in range(DRAWN):
        check_conserved(draw_script(system, random.Random(f"{system.value} {seed}")), system)


@pytest.mark.parametrize("system", System)
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("SET a.b = 8\nCREATE VIEW v AS SELECT 1 AS x;", "a semicolon is missing before CREATE VIEW v"),
        ("SET a.b = 8 SELECT 1 AS x;", "a semicolon is missing before SELECT 1 AS"),
        ("USE shop\n\nINSERT INTO t SELECT 1 AS x;", "a semicolon is missing before INSERT INTO t"),
        ("ADD JAR 'x.jar'\nSET 'a' = 'b';", "a semicolon is missing before SET 'a' ="),
    ],
)
def test_a_missing_semicolon_is_told(text: str, told: str, system: System) -> None:
    ((_, found), *_) = translate(Source("<test>", text), system)
    assert found is not None
    assert found.verdict is Verdict.REFUSED
    assert found.notes == (told,)


@pytest.mark.parametrize("line", ["-- COMMAND ----------", "%sql", "%%sql", "-- COMMAND ----------\r"])
def test_a_cell_ends_a_statement(line: str) -> None:
    text = f"SET a.b = 8\n\n{line}\n\nCREATE VIEW v AS SELECT a FROM s;"
    result, found = translate_text(text, System.SPARK)
    assert next(each.text for each in found) == "SET a.b = 8"
    assert line.strip().removeprefix("-- ") in result
    assert "K012" in result


def test_cells_of_other_languages_are_refused() -> None:
    text = "%python\nprint(\"it's\")\n%sql\nUSE shop;\n%md It's a note.\n"
    found = [each for _, each in translate(Source("<test>", text), System.SPARK) if each is not None]
    assert [each.verdict for each in found] == [Verdict.REFUSED, Verdict.CHANGED, Verdict.REFUSED]
    assert [each.text for each in found] == ['%python\nprint("it\'s")', "USE shop", "%md It's a note."]
    assert [each.line for each in found] == [1, 4, 5]


def test_words_around_statements_are_comments() -> None:
    result, _ = translate_text("EXECUTE STATEMENT\nSET BEGIN USE a; END;", System.FLINK)
    assert result == "-- left out: EXECUTE STATEMENT SET BEGIN\n -- left out: USE a\n -- left out: END\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("SET 'table.local-time-zone' = 'Europe/Berlin';", "times are in UTC"),
        ("SET TIME ZONE 'Europe/Berlin';", "times are in UTC"),
        ("SET 'table.exec.state.ttl' = '1 d';", "no time to live"),
        ("SET 'auto.offset.reset' = 'latest';", "begins with the first row"),
        ("SET spark.sql.ansi.enabled = false;", "TRY_CAST"),
        ("SET spark.sql.shuffle.partitions = 8;", ""),
    ],
)
def test_settings_that_decide_results_are_told(text: str, told: str) -> None:
    ((_, found), *_) = translate(Source("<test>", text), System.SPARK)
    assert found is not None
    assert found.sql == ""
    assert (len(found.notes) == 2) == bool(told)
    assert told in " ".join(found.notes)
