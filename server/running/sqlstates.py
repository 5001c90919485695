"""Codes of Penstock as SQLSTATEs, for clients that branch on these."""

from __future__ import annotations

from collections.abc import Iterable

import psycopg

from penstock.diagnostics import Diagnostic, show_lines
from penstock.diagnostics.codes.running import R060
from penstock.server.engine_protocol import Refusal

STATES = {
    "K011": "42P07",  # duplicate_table
    "K012": "42P01",  # undefined_table
    "K013": "42809",  # wrong_object_type
    "K015": "2BP01",  # dependent_objects_still_exist
    "N001": "42703",  # undefined_column
    "V001": "0A000",
    "V002": "42501",  # insufficient_privilege
    "V003": "42501",
    "V004": "53400",  # configuration_limit_exceeded
    "V005": "42P07",
    "V006": "42704",  # undefined_object
    "V007": "57P03",  # cannot_connect_now
    "V008": "57P03",
    "V009": "57014",  # query_canceled
    "V010": "54000",  # program_limit_exceeded
    "V013": "XX000",  # internal_error
    "V015": "42501",
    "V016": "42602",  # invalid_name
    "V017": "54000",
    "V018": "54000",
    "V019": "0A000",  # feature_not_supported
    "V020": "55006",  # object_in_use
    "V021": "2BP01",
}
FAMILIES = {"S": "42601", "T": "42804", "B": "0A000", "L": "54000", "R": "58000"}
"""By the first letter of a code. syntax_error, datatype_mismatch, feature_not_supported, limits, system_error."""


def sqlstate_of(code: str) -> str:
    """The SQLSTATE of a code; 42000 (syntax_error_or_access_rule_violation) for what has none of its own."""
    return STATES.get(code) or FAMILIES.get(code[0], "42000")


def refusals_of(findings: Iterable[Diagnostic]) -> tuple[Refusal, ...]:
    """Findings as refusals, errors alone. Positions count the characters of the text that was compiled."""
    return tuple(
        Refusal(
            each.code,
            sqlstate_of(each.code),
            each.message,
            each.detail,
            each.hint or each.fix,
            each.labels[0].span.start + 1 if each.labels else None,
        )
        for each in findings
        if each.severity == "error"
    )


def refusal_of(error: psycopg.Error) -> Refusal:
    """What PostgreSQL says when the engine completes a table there, such as a lock that others hold."""
    message = (error.diag.message_primary or str(error)).strip()
    found = R060.at(None, query="the statement", reason=message)
    hint = "end the transactions that read the table, and send the statement again"
    details = [error.diag.message_detail, *getattr(error, "__notes__", ())]
    detail = show_lines("; ".join(each for each in details if each))
    return Refusal(found.code, error.sqlstate or "58000", found.message, detail or None, hint)
