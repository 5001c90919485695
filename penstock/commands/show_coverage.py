"""The coverage of scripts by their tests, as text for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.testing.coverage import ClassResult, OperatorResult, ScriptCoverage


def count_missed(results: Sequence[ScriptCoverage]) -> int:
    """The classes that no test meets although rows were found for them."""
    return sum(each.given is not None for result in results for each in result.classes)


def list_coverage_lines(results: Sequence[ScriptCoverage]) -> Iterator[str]:
    """Each operator with the classes that are missing, then the numbers."""
    for result in results:
        for operator in result.operators:
            yield from list_operator_lines(operator)
    classes = [each for result in results for each in result.classes]
    met, missed = sum(each.met for each in classes), count_missed(results)
    unknown = len(classes) - met - missed
    yield f"{len(classes)} classes, {met} met, {missed} not" + (f", {unknown} without rows" if unknown else "")


def list_operator_lines(operator: OperatorResult) -> Iterator[str]:
    classes = list(operator.classes.values())
    head = f"{operator.span.source.name}:{operator.line} {operator.title}"
    if operator.note:
        yield f"{head}: {operator.note}"
        return
    yield f"{head}: {sum(each.met for each in classes)} of {len(classes)}"
    for each in classes:
        if not each.met and each.given is not None:
            yield f"  no test has {each.text}; these rows do:"
            yield from (f"    {line}" for line in each.given)
    for each in classes:
        if not each.met and each.given is None:
            yield f"  no test has {each.text}, and no rows were found that do"


def coverage_report(results: Sequence[ScriptCoverage]) -> dict[str, Any]:
    """All operators and classes as one object."""
    classes = [each for result in results for each in result.classes]
    return {
        "classes": len(classes),
        "met": sum(each.met for each in classes),
        "missed": count_missed(results),
        "operators": [
            {
                "tests": result.file,
                "file": operator.span.source.name,
                "line": operator.line,
                "operator": operator.title,
                "note": operator.note or None,
                "classes": [report_class(each) for each in operator.classes.values()],
            }
            for result in results
            for operator in result.operators
        ],
    }


def report_class(result: ClassResult) -> dict[str, Any]:
    return {
        "class": result.text,
        "met": result.met,
        "given": result.given,
        "relation": result.relation or None,
    }
