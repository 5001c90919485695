"""Tables of PostgreSQL."""

from __future__ import annotations

import re

from msgspec.structs import replace

from penstock.diagnostics import Diagnostic, Span
from penstock.planner.connectors.database_options import (
    PACKAGES,
    PASSWORD,
    SHARED,
    TABLE,
    check_length,
    check_server_url,
    check_table,
    is_simple_or_decimal,
    make_check,
    make_database,
)
from penstock.planner.connectors.option import NAME, ConnectorOption

_FORM = re.compile(r"postgresql://[^\s/]*(/[^\s/]*)?")
LONGEST = 63
"""The bytes of a name that PostgreSQL keeps. What is longer it cuts, so that two names may become one."""


def check_name(value: str, span: Span) -> Diagnostic | None:
    """What is wrong with the name of a table: its form, or its length."""
    lengths = (check_length(each, span, "PostgreSQL", LONGEST) for each in value.split("."))
    return check_table(value, span) or next((each for each in lengths if each is not None), None)


def check_url(value: str, span: Span) -> Diagnostic | None:
    """What is wrong with the address of a server: its form, or a password in it."""
    url = check_server_url(value, span, _FORM, "postgresql://host:5432/database?user=me", "PGPASSWORD")
    return url if isinstance(url, Diagnostic) else None


POSTGRES = make_database(
    "postgres",
    "a PostgreSQL table",
    packages=(*PACKAGES, ("psycopg", "'psycopg[binary]'")),
    one_row=True,
    adds=True,
    check=make_check("PostgreSQL", is_simple_or_decimal, LONGEST),
    own_options=(
        ConnectorOption(
            "url",
            NAME,
            "address of the database, postgresql://…",
            required=True,
            identifies=True,
            check=check_url,
        ),
        replace(TABLE, check=check_name),
        PASSWORD,
        *SHARED,
    ),
)
