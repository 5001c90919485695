"""Tables of PostgreSQL."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, parse_qsl, urlsplit

from msgspec.structs import replace

from penstock.diagnostics import Diagnostic, Span
from penstock.diagnostics.codes.connectors import C003, C020
from penstock.planner.connectors.database_options import (
    PACKAGES,
    SHARED,
    TABLE,
    check_length,
    check_table,
    is_simple_or_decimal,
    make_check,
)
from penstock.planner.connectors.option import NAME, SECRET, Connector, ConnectorOption

_SECRET = re.compile("password|secret", re.IGNORECASE)  # libpq has password, sslpassword, oauth_client_secret


LONGEST = 63
"""The bytes of a name that PostgreSQL keeps. What is longer it cuts, so that two names may become one."""


def check_name(value: str, span: Span) -> Diagnostic | None:
    """What is wrong with the name of a table: its form, or its length."""
    lengths = (check_length(each, span, "PostgreSQL", LONGEST) for each in value.split("."))
    return check_table(value, span) or next((each for each in lengths if each is not None), None)


def check_url(value: str, span: Span) -> Diagnostic | None:
    """What is wrong with the address of a server: its form, or a password in it."""
    url = split_url(value)
    if url is None:
        return C003.at(span, "", name="url", expected="an address such as 'postgresql://host:5432/database?user=me'")
    if ":" in url.netloc.rpartition("@")[0] or any(_SECRET.search(name) for name, _ in parse_qsl(url.query)):
        found = C020.at(span, "", name="url").because("Plans, checkpoints and programs show addresses.")
        return found.with_hint("password = ENV('PGPASSWORD')")
    return None


def split_url(value: str) -> SplitResult | None:
    """The parts of an address, None if it is none."""
    if not re.match(r"postgresql://[^\s/]*(/[^\s/]*)?$", value.partition("?")[0]):
        return None
    try:
        return urlsplit(value)
    except ValueError:  # such as a bracket of an IPv6 address that is not closed
        return None


POSTGRES = Connector(
    "postgres",
    "a PostgreSQL table",
    is_database=True,
    packages=(*PACKAGES, ("psycopg", "'psycopg[binary]'")),
    only_tables=True,
    one_row=True,
    reads_now=True,
    adds=True,
    looks_up=True,
    upserts=True,
    deletes=True,
    changes_rows=True,
    partial_updates=True,
    exactly_once=True,
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
        ConnectorOption("password", SECRET, "password of the user"),
        *SHARED,
    ),
)
