"""Findings about a text: where they are, what they say, how they are shown."""

from penstock.diagnostics.diagnostic import (
    Code,
    CompileError,
    Diagnostic,
    FindingsError,
    Label,
    PackageNeededError,
    Paste,
    Prose,
    Severity,
)
from penstock.diagnostics.nearest import nearest
from penstock.diagnostics.render import render
from penstock.diagnostics.report import Report, report
from penstock.diagnostics.secrets import hide_credentials, redact_value, show_options
from penstock.diagnostics.source import Source, Span
from penstock.diagnostics.terminal import show_json, show_lines, show_text

__all__ = [
    "Code",
    "CompileError",
    "Diagnostic",
    "FindingsError",
    "Label",
    "PackageNeededError",
    "Paste",
    "Prose",
    "Report",
    "Severity",
    "Source",
    "Span",
    "hide_credentials",
    "nearest",
    "redact_value",
    "render",
    "report",
    "show_json",
    "show_lines",
    "show_options",
    "show_text",
]
