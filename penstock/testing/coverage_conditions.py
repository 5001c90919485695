"""Classes of conditions and branches: each part that decides, each side of OR, each branch of CASE, and each bound.

A row fails an expression, too: what can fail, and for which rows, the planner says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, time

from sqlglot import exp

from penstock.evaluator import QueryFailure, Row, Unsupported, Value, columns, evaluate_scalar
from penstock.planner import list_failures
from penstock.planner.plan import Node, WTable
from penstock.planner.types import INTEGERS, STRING, TIMESTAMP, Type
from penstock.testing.coverage_classes import (
    CoveredClass,
    Wanted,
    Watched,
    column_name,
    list_counts,
    may_be_null,
    text_of,
    want,
)
from penstock.testing.given_values import START
from penstock.testing.row_text import value_text
from penstock.testing.solved_values import MILLISECOND, constant_value, fit_column, list_parts, solve, step_value

RowTest = Callable[[Row], bool]
NULL_REPLACED = ("COALESCE", "NVL", "IFNULL")
ORDERINGS = (exp.LT, exp.LTE, exp.GT, exp.GTE)


@dataclass
class Conditions:
    """The expressions of an operator over rows of one node. `rows`: which rows a test has for them."""

    node: Node
    rows: Callable[[Watched], Iterable[Row]]
    tried: Callable[[Watched], Iterable[Row]] | None = None
    """The same with rows for which the query fails."""
    types: dict[str, Type] = field(init=False)

    def __post_init__(self) -> None:
        self.types = dict(columns(self.node.schema))

    def make(self, text: str, test: RowTest, *wanted: Row) -> CoveredClass:
        """A class of rows for which a test is true."""
        rows = self.rows
        wishes: tuple[Wanted, ...] = tuple(want((self.node, each)) for each in wanted)
        return CoveredClass(text, lambda watched: any(test(row) for row in rows(watched)), wishes)

    def is_true(self, condition: exp.Expression, row: Row) -> bool:
        return evaluate_scalar(condition, row, self.types) is True

    def are_true(self, parts: Iterable[exp.Expression], row: Row) -> bool:
        return all(self.is_true(each, row) for each in parts)

    def solve_all(self, parts: Iterable[exp.Expression]) -> Row:
        """Values that make all parts true."""
        solved: Row = {}
        for each in parts:
            solved = solve(each, self.types) | solved
        return solved

    def list_filter(self, condition: exp.Expression, clause: str = "") -> Iterator[CoveredClass]:
        """Classes of a condition that lets rows pass: for each part, the rows that it alone keeps out."""
        parts = list(list_parts(condition, exp.And))
        whole = clause or text_of(condition)
        yield self.make(
            f"a row for which {whole} is true", lambda row: self.are_true(parts, row), self.solve_all(parts)
        )
        if len(parts) > 1:
            false = [solve(each, self.types, wanted=False) for each in parts]
            yield self.make(
                f"a row for which {whole} is not true", lambda row: not self.are_true(parts, row), *false, {}
            )
        for part in parts:
            others = [each for each in parts if each is not part]
            yield self.make_failing_part(part, others)
            if may_be_null(part, self.node) and not isinstance(bare(part), exp.Is | exp.NullSafeEQ | exp.NullSafeNEQ):
                yield self.make_null_part(part, others)
            yield from self.list_bounds(part, others)
            yield from self.list_sides(part)
            yield from self.list_nulls(part)

    def make_failing_part(self, part: exp.Expression, others: list[exp.Expression]) -> CoveredClass:
        words = " alone" if others else ""
        return self.make(
            f"a row for which {text_of(part)} is false{words}",
            lambda row: evaluate_scalar(part, row, self.types) is False and self.are_true(others, row),
            solve(part, self.types, wanted=False) | self.without(part, self.solve_all(others)),
        )

    def make_null_part(self, part: exp.Expression, others: list[exp.Expression]) -> CoveredClass:
        names = [each.name for each in part.find_all(exp.Column)]
        solved = self.solve_all([*others])
        return self.make(
            f"a row for which {text_of(part)} is NULL",
            lambda row: evaluate_scalar(part, row, self.types) is None and self.are_true(others, row),
            *(solved | {name: None} for name in dict.fromkeys(names)),
        )

    def without(self, part: exp.Expression, solved: Row) -> Row:
        """The values of columns that a part does not look at."""
        own = {each.name for each in part.find_all(exp.Column)}
        return {name: value for name, value in solved.items() if name not in own}

    def list_bounds(self, part: exp.Expression, others: list[exp.Expression]) -> Iterator[CoveredClass]:
        """Values exactly at the bounds of comparisons, and one unit beside them."""
        for node in part.find_all(*ORDERINGS, exp.Between):
            pairs = (
                [(node.this, node.args["low"]), (node.this, node.args["high"])]
                if isinstance(node, exp.Between)
                else [(node.this, node.expression), (node.expression, node.this)]
            )
            for side, bound in pairs:
                yield from self.list_beside(side, bound, others)

    def list_beside(
        self, side: exp.Expression, bound: exp.Expression, others: list[exp.Expression]
    ) -> Iterator[CoveredClass]:
        limit, name = constant_value(bound), column_name(side)
        if limit is None or side.find(exp.Column) is None:
            return
        if name is not None:
            limit = fit_column(limit, self.types[name])
        if limit is None or isinstance(limit, str):
            return
        type_ = None if name is None else self.types[name]
        shape = self.node.shape
        is_border = isinstance(shape, WTable) and name in (shape.start, shape.end)
        least = 1 if name in list_counts(self.node) else None
        solved = self.without(side, self.solve_all(others))

        def find(row: Row) -> Value:
            return evaluate_scalar(side, row, self.types) if name is None else row[name]

        for steps in (0, -1, 1):
            value = step_value(limit, type_, steps)
            if value is None or (is_border and steps) or (least is not None and value < least):
                continue
            yield self.make(
                f"a row whose {text_of(side)} is {value_text(value, type_ or STRING, START)}",
                lambda row, value=value: find(row) == value and self.are_true(others, row),  # type: ignore[misc]
                {} if name is None else solved | {name: value},
            )

    def list_sides(self, expression: exp.Expression) -> Iterator[CoveredClass]:
        """For each OR, rows for which one side alone is true; for each CASE, rows of each branch."""
        for node in expression.find_all(exp.Or):
            if not is_inner(node, exp.Or):
                yield from self.list_alternatives(list(list_parts(node, exp.Or)))
        for case in expression.find_all(exp.Case):
            conditions = [self.make_test(case, each.this) for each in case.args["ifs"]]
            yield from self.list_branches(conditions, "ELSE")
        for call in expression.find_all(exp.Anonymous):
            if call.name.upper() == "IF" and len(call.expressions) == 3:
                yield from self.list_branches([call.expressions[0]], "the other branch")

    def list_computed(self, expressions: Iterable[exp.Expression]) -> Iterator[CoveredClass]:
        """Classes of expressions whose values are shown, or are grouped by."""
        for each in expressions:
            yield from self.list_sides(each)
            yield from self.list_nulls(each)
            yield from self.list_days(each)

    def make_test(self, case: exp.Case, when: exp.Expression) -> exp.Expression:
        """The condition of a branch: CASE may compare a value."""
        return when if case.this is None else exp.EQ(this=case.this.copy(), expression=when.copy())

    def list_nulls(self, expression: exp.Expression) -> Iterator[CoveredClass]:
        """Rows with NULL where an expression gives something else for it: COALESCE, and comparisons that know NULL."""
        sides: list[exp.Expression] = []
        for node in expression.find_all(exp.NullSafeEQ, exp.NullSafeNEQ):
            sides += [node.this, node.expression]
        for call in expression.find_all(exp.Anonymous):
            if call.name.upper() in NULL_REPLACED:
                sides += call.expressions[:-1]
        for side in sides:
            if may_be_null(side, self.node):
                own = column_name(side)
                yield self.make(
                    f"a row whose {text_of(side)} is NULL",
                    lambda row, side=side: evaluate_scalar(side, row, self.types) is None,  # type: ignore[misc]
                    {} if own is None else {own: None},
                )

    def list_days(self, expression: exp.Expression) -> Iterator[CoveredClass]:
        """Times exactly at midnight, and one millisecond before, where a date is made of them."""
        for node in expression.find_all(exp.Cast):
            columns_of = list(node.this.find_all(exp.Column))
            if node.to.this != exp.DataType.Type.DATE or len(columns_of) != 1:
                continue
            (column,) = columns_of
            if self.types[column.name] != TIMESTAMP:
                continue
            for before, words in ((0, "exactly"), (1, "one millisecond before")):
                yield self.make(
                    f"a row whose {text_of(node.this)} is {words} midnight",
                    lambda row, node=node, before=before: (  # type: ignore[misc]
                        is_midnight(evaluate_scalar(node.this, row, self.types), before)
                    ),
                    {column.name: self.find_moment(node.this, column.name) - before * MILLISECOND},
                )

    def find_moment(self, expression: exp.Expression, name: str) -> datetime:
        """A time of the column that makes the expression midnight, if it adds an interval."""
        try:
            moved: datetime = evaluate_scalar(expression, {name: START}, self.types)
            return START - (moved - START)
        except (Unsupported, QueryFailure, TypeError, ValueError):
            return START

    def list_alternatives(self, sides: list[exp.Expression]) -> Iterator[CoveredClass]:
        for side in sides:
            others = [each for each in sides if each is not side]
            false: Row = {}
            for each in others:
                false = solve(each, self.types, wanted=False) | false
            yield self.make(
                f"a row for which {text_of(side)} is true and no other side of OR",
                lambda row, side=side, others=others: (  # type: ignore[misc]
                    self.is_true(side, row) and not any(self.is_true(each, row) for each in others)
                ),
                false | solve(side, self.types),
                self.without(side, false) | solve(side, self.types),
            )

    def list_branches(self, conditions: list[exp.Expression], last: str) -> Iterator[CoveredClass]:
        false: Row = {}
        for place, condition in enumerate(conditions):
            before = conditions[:place]
            yield self.make(
                f"a row of the branch for {text_of(condition)}",
                lambda row, condition=condition, before=before: (  # type: ignore[misc]
                    self.is_true(condition, row) and not any(self.is_true(each, row) for each in before)
                ),
                false | solve(condition, self.types),
            )
            false = solve(condition, self.types, wanted=False) | false
        yield self.make(
            f"a row of {last} behind {text_of(conditions[-1])}",
            lambda row: not any(self.is_true(each, row) for each in conditions),
            false,
        )

    def list_failing(self, expressions: Iterable[exp.Expression]) -> Iterator[CoveredClass]:
        """Rows for which an expression fails, by the conditions that the planner has for these."""
        rows = self.tried or self.rows
        for each in expressions:
            for failure in list_failures(each, self.node.schema):
                if failure.condition.find(exp.Column) is None:
                    continue
                yield CoveredClass(
                    f"a row for which {failure.text} fails with {failure.code}",
                    lambda watched, failure=failure: any(  # type: ignore[misc]
                        self.is_true(failure.condition, row) for row in rows(watched)
                    ),
                    tuple(want((self.node, wish)) for wish in self.list_risky(each)),
                )

    def list_risky(self, expression: exp.Expression) -> Iterator[Row]:
        """Values by which expressions often fail: zero, and the greatest one."""
        for name in dict.fromkeys(each.name for each in expression.find_all(exp.Column)):
            yield from ({name: value} for value in list_extremes(self.types[name]))


def is_midnight(value: Value, before: int) -> bool:
    """Whether a time is so many milliseconds before midnight."""
    return isinstance(value, datetime) and (value + before * MILLISECOND).time() == time()


def list_extremes(type_: Type) -> Iterator[Value]:
    """Values by which arithmetic and casts fail: zero, the greatest and the least number, texts that are no number."""
    if type_ == STRING:
        yield from ("x", "")
        return
    greatest = (limit for bits in (63, 31, 15, 7) if (limit := fit_column(2**bits - 1, type_)) is not None)
    for value in (0, next(greatest, None)):
        known = None if value is None else fit_column(value, type_)
        if known is not None:
            yield known
            if value and type_ in INTEGERS:
                yield -known - 1


def bare(condition: exp.Expression) -> exp.Expression:
    """The condition without brackets and NOT around it."""
    while isinstance(condition, exp.Paren | exp.Not):
        condition = condition.this
    return condition


def is_inner(node: exp.Expression, kind: type[exp.Expression]) -> bool:
    """Whether the node is an operand of the same operator."""
    above = node.parent
    while isinstance(above, exp.Paren):
        above = above.parent
    return isinstance(above, kind)
