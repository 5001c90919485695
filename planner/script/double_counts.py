"""Warnings of updates that put a row with the first amount, and then add that amount to it once more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from penstock.diagnostics import Diagnostic, Span
from penstock.diagnostics.codes.kinds import K041
from penstock.parser import ast
from penstock.planner.plan import Column, Expression, Named

_COLLECTING = ("CONCAT", "ARRAY_APPEND", "ARRAY_PREPEND", "ARRAY_CAT")
_AROUND = ("ROUND", "BROUND", "COALESCE", "IFNULL", "NVL", "FLOOR", "CEIL", "CEILING", "TRUNC")
_NEUTRAL: dict[type[Expression], str] = {exp.Add: "0", exp.Sub: "0", exp.Mul: "1"}


def find_double_counts(
    statement: ast.Update, assignments: Sequence[Named], default: Sequence[Named], columns: Mapping[str, Column]
) -> list[Diagnostic]:
    """K041 for each column that ELSE INSERT gives what SET adds. `columns`: the columns of the present row in
    expressions.

    All of them have the fix of all.
    """
    assert statement.default is not None
    given = {each.name: each.value for each in default}
    names = (each.folded for each in statement.default.columns)
    written = dict(zip(names, statement.default.values, strict=True))
    starts: dict[Span, str] = {}
    findings: list[Diagnostic] = []
    for each in assignments:
        own = {name for name, column in columns.items() if column.name == each.name}
        sum_ = None if each.name not in given else find_repeated(each.value, given[each.name], own)
        value = written.get(each.name.lower())
        if sum_ is None or value is None:
            continue
        span: Span = value.meta["span"]
        found = K041.at(span, "put here", column=each.name).also(sum_.meta.get("span", statement.span), "added here")
        found = found.because("ELSE INSERT puts the row that is missing, and SET then updates it like any other.")
        starts[span] = start = find_start(sum_)
        findings.append(found.with_hint(f"VALUES has {start} for {each.name}: SET adds the first amount"))
    text, place = statement.span.source.text, statement.span
    for span, start in sorted(starts.items(), key=lambda each: -each[0].start):
        text = text[: span.start] + start + text[span.end :]
    end = place.end + len(text) - len(statement.span.source.text)
    return [each.with_hint(each.hint, fix=text[place.start : end]) for each in findings]


def find_start(sum_: Expression) -> str:
    """What a sum, a product, a text or an array begins with, as it is written."""
    if isinstance(sum_, exp.Anonymous):
        return "''" if str(sum_.this).upper() == "CONCAT" else "ARRAY()"
    return _NEUTRAL.get(type(sum_), "''")


def find_repeated(value: Expression, first: Expression, own: set[str]) -> Expression | None:
    """The sum in an assignment that adds to the own column what a new row begins with; None if there is none."""
    start = strip(first)
    for sum_ in list_sums(value):
        parts = [strip(each) for each in list_terms(sum_, type(sum_))]
        others = [each for each in parts if not (isinstance(each, exp.Column) and each.name in own)]
        neutral = _NEUTRAL.get(type(sum_), "")
        is_neutral = isinstance(start, exp.Literal) and start.name == neutral
        if len(others) < len(parts) and not is_neutral and any(start in (each, negate(each)) for each in others):
            return sum_
    return None


def list_sums(value: Expression) -> Iterator[Expression]:
    """The sums, products and concatenations that a value may be, also in branches of CASE."""
    pending = [value]
    while pending:
        node = strip(pending.pop())
        if isinstance(node, exp.Case):
            results = [each.args["true"] for each in node.args["ifs"]]
            pending += [*results, *([node.args["default"]] if node.args.get("default") else [])]
        elif isinstance(node, exp.Anonymous) and str(node.this).upper() in ("IF", "IIF"):
            pending += node.expressions[1:]
        elif isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.DPipe) or (
            isinstance(node, exp.Anonymous) and str(node.this).upper() in _COLLECTING
        ):
            yield node


def list_terms(node: Expression, kind: type[Expression]) -> Iterator[Expression]:
    """The operands of a sum of sums. A difference is a sum as well."""
    kinds = (exp.Add, exp.Sub) if kind in (exp.Add, exp.Sub) else (kind,)
    pending = [node]
    while pending:
        each = strip(pending.pop())
        if isinstance(each, kinds) and not isinstance(each, exp.Anonymous):
            pending += [each.this, each.expression]
        elif isinstance(each, exp.Anonymous) and each is strip(node):
            pending += each.expressions
        else:
            yield each


def strip(value: Expression) -> Expression:
    """The value without parentheses, casts, rounding and the value that stands for NULL."""
    while True:
        if isinstance(value, exp.Paren | exp.Cast):
            value = value.this
        elif isinstance(value, exp.Anonymous) and str(value.this).upper() in _AROUND and value.expressions:
            value = value.expressions[0]
        else:
            return value


def negate(value: Expression) -> Expression:
    """What is subtracted by adding the value."""
    return strip(value.this) if isinstance(value, exp.Neg) else exp.Neg(this=value.copy())
