"""The results of tests for programs: JSON, and the XML of JUnit that CI systems read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any
from xml.etree import ElementTree

from penstock.diagnostics import render, report, show_text
from penstock.testing.run_case import CaseResult


def json_report(results: Sequence[CaseResult], seconds: float) -> dict[str, Any]:
    """All results as one object."""
    return {
        "passed": sum(result.passes for result in results),
        "failed": sum(not result.passes for result in results),
        "seconds": round(seconds, 3),
        "tests": [
            {
                "name": result.name,
                "file": result.source.name,
                "line": result.line,
                "passes": result.passes,
                "seconds": round(result.seconds, 6),
                "findings": [{**report(each), "detail": each.detail} for each in result.findings],
            }
            for result in results
        ],
    }


def junit_report(results: Sequence[CaseResult]) -> str:
    """A test suite for each file."""
    root = ElementTree.Element("testsuites")
    for name, group in groupby(results, key=lambda result: result.source.name):
        cases = list(group)
        failures = sum(not case.passes for case in cases)
        whole = f"{sum(case.seconds for case in cases):.6f}"
        facts = {"name": show_text(name), "tests": str(len(cases)), "failures": str(failures), "time": whole}
        suite = ElementTree.SubElement(root, "testsuite", facts)
        for case in cases:
            facts = {"classname": show_text(name), "name": show_text(case.name), "time": f"{case.seconds:.6f}"}
            element = ElementTree.SubElement(suite, "testcase", facts)
            if case.findings:
                first = case.findings[0]
                failure = ElementTree.SubElement(element, "failure", {"message": f"{first.code}: {first.message}"})
                failure.text = "\n\n".join(render(each) for each in case.findings)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
