"""Whatever the user's text holds, it comes back from Spark as it was."""

from __future__ import annotations

import random

import pytest
from pyspark.sql import SparkSession
from sqlglot import exp

from penstock.codegen.sql.printing import print_inline, print_sql
from penstock.codegen.sql.trees import alias, call, cast, column, number, select, struct_of, text
from penstock.planner.types import DATE, INT

PIECES = (
    "'", '"', "`", "\\", "\\\\", "\\'", "${", "${spark.app.id}", "$", "{", "}", "\n", "\r\n", "\t", "\0", "\x1a",
    "\x1f", "\x7f", "\x85", "\u2028", "\\u0041", "\\n", "\\0", "\\%", "\\_", "%", "--",
    "/*", "*/", "; DROP", "')", "N'", "r'",
    "é", "😀", " ", "a", "B", "''", "x'", "{{", ":a", "?", "@", "\ufeff", "\u200b",
)  # fmt: skip


def nasty() -> list[str]:
    chance = random.Random(4)
    mixed = ["".join(chance.choice(PIECES) for _ in range(chance.randint(2, 9))) for _ in range(100)]
    return [*PIECES, *mixed, ""]


@pytest.mark.spark
def test_strings_come_back_equal(spark: SparkSession) -> None:
    query = exp.Select(expressions=[call("ARRAY", *map(text, nasty()))])
    assert spark.sql(print_sql(query)).collect()[0][0] == nasty()


@pytest.mark.spark
def test_names_come_back_equal(spark: SparkSession) -> None:
    names = {each.lower(): each for each in nasty() if each}.values()
    spark.range(1).createOrReplaceTempView("one")
    inner = select([alias(number(place), name) for place, name in enumerate(names)], "one")
    spark.sql(print_sql(inner)).createOrReplaceTempView("nasty")
    rows = spark.sql(print_sql(select([column(name) for name in names], "nasty")))
    assert rows.columns == list(names)
    assert list(rows.collect()[0]) == list(range(len(names)))
    fields = spark.sql(print_sql(select([alias(struct_of((name, number(1)) for name in names), "s")], "one")))
    assert fields.collect()[0][0].asDict() == dict.fromkeys(names, 1)


def op(kind: type[exp.Expression], left: exp.Expression, right: exp.Expression) -> exp.Expression:
    return kind(this=left, expression=right)


A, B = column("a"), column("b")


@pytest.mark.parametrize(
    ("tree", "printed"),
    [
        (op(exp.Mul, op(exp.Add, A, B), B), "(`a` + `b`) * `b`"),
        (op(exp.Sub, A, op(exp.Sub, A, B)), "`a` - (`a` - `b`)"),
        (op(exp.Sub, A, number(-1)), "`a` - (-1)"),
        (exp.Neg(this=number(-1)), "-(-1)"),
        (op(exp.And, op(exp.Or, A, B), op(exp.And, A, B)), "(`a` OR `b`) AND `a` AND `b`"),
        (exp.Not(this=op(exp.EQ, A, op(exp.Add, A, B))), "NOT `a` = `a` + `b`"),
        (op(exp.EQ, exp.Not(this=A), op(exp.EQ, A, B)), "(NOT `a`) = (`a` = `b`)"),
        (exp.Is(this=op(exp.EQ, A, B), expression=exp.Null()), "(`a` = `b`) IS NULL"),
        (op(exp.NullSafeEQ, A, B), "`a` IS NOT DISTINCT FROM `b`"),
        (op(exp.Div, A, B), "`a` / `b`"),
        (exp.In(this=A, expressions=[text("x"), number(1)]), "`a` IN ('x', 1)"),
        (exp.Between(this=A, low=number(1), high=op(exp.Or, A, B)), "`a` BETWEEN 1 AND (`a` OR `b`)"),
        (call("Date_Trunc", text("DAY"), A), "Date_Trunc('DAY', `a`)"),
        (cast(text("2026-01-01"), DATE), "CAST('2026-01-01' AS DATE)"),
        (exp.TryCast(this=A, to=exp.DataType.build(str(INT), dialect="spark")), "TRY_CAST(`a` AS INT)"),
        (exp.Dot(this=op(exp.Add, A, B), expression=exp.to_identifier("x")), "(`a` + `b`).`x`"),
    ],
)
def test_operands_keep_together(tree: exp.Expression, printed: str) -> None:
    assert print_inline(tree) == printed


@pytest.mark.parametrize(
    "tree",
    [
        call("f(x) --", A),
        exp.Var(this="DAY; DROP"),
        exp.Interval(this=text("1' --"), unit=exp.Var(this="DAY")),
        exp.Literal(this="1 --", is_string=False),
        exp.Command(this="SET", expression=text("x")),
        exp.Upper(this=A),
    ],
)
def test_what_is_not_known_to_be_safe_is_not_printed(tree: exp.Expression) -> None:
    with pytest.raises(AssertionError):
        print_inline(tree)


def test_printing_leaves_the_tree_as_it_was() -> None:
    tree = op(exp.Mul, op(exp.Add, A, text("x")), B)
    before = tree.copy()
    print_inline(tree)
    assert tree == before


def test_long_chains_are_printed() -> None:
    def chain(terms: list[exp.Expression]) -> exp.Expression:
        half = len(terms) // 2
        return terms[0] if len(terms) == 1 else op(exp.Or, chain(terms[:half]), chain(terms[half:]))

    printed = print_inline(chain([op(exp.EQ, A, number(place)) for place in range(3000)]))
    assert printed.count(" OR ") == 2999
    assert "(" not in printed
