"""Tables of PostgreSQL."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, parse_qsl, urlsplit

from penstock.diagnostics import Diagnostic, Span
from penstock.diagnostics.codes.connectors import C003, C020
from penstock.planner.connectors.databases import SHARED, TABLE, is_simple_or_decimal, make_check
from penstock.planner.connectors.option import NAME, SECRET, Connector, ConnectorOption

_SECRET = re.compile("password|secret", re.IGNORECASE)  # libpq has password, sslpassword, oauth_client_secret


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
    check=make_check("PostgreSQL", is_simple_or_decimal),
    own_options=(
        ConnectorOption(
            "url",
            NAME,
            "address of the database, postgresql://…",
            required=True,
            identifies=True,
            check=check_url,
        ),
        TABLE,
        ConnectorOption("password", SECRET, "password of the user"),
        *SHARED,
    ),
)
