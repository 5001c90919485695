"""EXPLAIN PARTITIONS as a statement: of one statement, beside all of the script, also of what comes later."""

from __future__ import annotations

import pytest

from penstock.compilation import Compilation, compile
from penstock.diagnostics import CompileError
from penstock.explain import answer_text

DECLARATIONS = """CREATE STREAM a (k BIGINT KEY, v BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - 1 SEC)
WITH (connector = 'files', path = 'a', format = 'json', partitions = 16);
CREATE STREAM b (k BIGINT, v BIGINT KEY, time TIMESTAMP, WATERMARK FOR time AS time - 1 SEC)
WITH (connector = 'files', path = 'b', format = 'json', partitions = 8);
CREATE STREAM by_k AS SELECT STREAM k, v, time FROM b PARTITION BY k;
"""


def joined(one: str, other: str) -> str:
    on = "ON x.k = y.k AND y.time BETWEEN x.time AND x.time + 1 MIN"
    return f"SELECT STREAM x.k, y.v FROM {one} x JOIN {other} y {on};\n"


def answer(compilation: Compilation) -> str:
    (found,) = compilation.answers
    return answer_text(found)


def test_a_later_statement_gives_the_count() -> None:
    alone = compile(f"{DECLARATIONS} EXPLAIN PARTITIONS {joined('by_k', 'by_k')}")
    assert "b by k  8 partitions by k, as b, which has the most" in answer(alone)
    beside = compile(f"{DECLARATIONS} EXPLAIN PARTITIONS {joined('by_k', 'by_k')} {joined('a', 'by_k')}")
    assert "b by k  16 partitions by k, joined with a" in answer(beside)


def test_only_the_joins_of_the_statement_are_shown() -> None:
    text = answer(compile(f"{DECLARATIONS} {joined('a', 'by_k')} EXPLAIN PARTITIONS SELECT STREAM k FROM a;"))
    assert text == "no join, and no PARTITION BY\n"


def test_what_is_explained_is_not_run() -> None:
    compilation = compile(f"{DECLARATIONS} EXPLAIN PARTITIONS {joined('a', 'by_k')}")
    assert [query.name for query in compilation.queries] == ["by_k"]


@pytest.mark.parametrize("stage", ["", "PARTITIONS", "SPARK"])
def test_a_statement_that_does_not_agree_is_refused_whatever_is_asked_of_it(stage: str) -> None:
    with pytest.raises(CompileError) as refusal:
        compile(f"{DECLARATIONS} EXPLAIN {stage} {joined('a', 'b')}")
    assert {each.code for each in refusal.value.diagnostics} == {"P002"}


def test_other_stages_show_the_partitions_of_the_state() -> None:
    assert "in 16 partitions" in answer(compile(f"{DECLARATIONS} EXPLAIN SPARK {joined('a', 'by_k')}"))


def test_a_catalog_of_before_counts() -> None:
    before = compile(DECLARATIONS).catalog
    later = compile(joined("a", "by_k"), before, "later.sql")
    assert [query.partitions for query in later.program.queries] == [16]
    with pytest.raises(CompileError) as refusal:
        compile(joined("a", "b"), before, "later.sql")
    (finding,) = refusal.value.diagnostics
    assert [label.span.source.name for label in finding.labels] == ["later.sql", "<sql>", "<sql>"]


def test_the_script_beside_is_re_keyed_by_the_setting_as_well() -> None:
    narrow = "CREATE STREAM c (k BIGINT KEY, v BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - 1 SEC)\n"
    narrow += "WITH (connector = 'files', path = 'c', format = 'json', partitions = 4);\n"
    script = f"SET auto_repartition = ON; {DECLARATIONS} {narrow} {joined('c', 'by_k')}"
    text = answer(compile(f"{script} EXPLAIN PARTITIONS {joined('a', 'by_k')}"))
    assert ": 16 state partitions\n" in text
    assert "None" not in text


def test_a_statement_that_would_replace_another_is_explained() -> None:
    script = (
        f"{DECLARATIONS} EXPLAIN {{}} CREATE OR REPLACE STREAM by_k AS SELECT STREAM k, time FROM b PARTITION BY v;"
    )
    assert "Rekey r0 by v" in answer(compile(script.format("")))
    assert "b by v  8 partitions by v" in answer(compile(script.format("PARTITIONS")))


def test_settings_hold_also_for_what_is_explained_before_them() -> None:
    rocksdb = "SET state_store = 'rocksdb';"
    explained = "EXPLAIN STATE SELECT k, COUNT(*) AS n FROM a GROUP BY k, TUMBLE(time, 1 MIN);"
    assert answer(compile(DECLARATIONS.split("CREATE STREAM by_k")[0] + explained + rocksdb)) == answer(
        compile(rocksdb + DECLARATIONS + explained)
    )
