"""Tables of MySQL and MariaDB."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl

from penstock.diagnostics import Diagnostic, Span
from penstock.diagnostics.codes.connectors import C003
from penstock.planner.connectors.database_options import (
    PACKAGES,
    PASSWORD,
    SHARED,
    TABLE,
    check_server_url,
    is_simple,
    make_check,
    make_database,
)
from penstock.planner.connectors.option import NAME, ConnectorOption
from penstock.planner.types import Decimal, Type

_PARTS = frozenset({"ssl_ca", "ssl_cert", "ssl_check_hostname", "ssl_key", "unix_socket"})
_FORM = re.compile(r"(mysql|mariadb)://[^\s/]*/[^\s/]+")


def is_held(type_: Type) -> bool:
    """Whether a column holds values of the type. Decimals have at most 30 places."""
    return type_.scale <= 30 if isinstance(type_, Decimal) else is_simple(type_)


def check_url(value: str, span: Span) -> Diagnostic | None:
    """What is wrong with the address of a server: its form, what it sets, or a password in it."""
    url = check_server_url(value, span, _FORM, "mysql://host:3306/database", "MYSQL_PWD")
    if isinstance(url, Diagnostic):
        return url
    if not _PARTS.issuperset(name for name, _ in parse_qsl(url.query, keep_blank_values=True)):
        found = C003.at(span, "", name="url", expected="an address with known parameters")
        return found.because(f"Behind a question mark it may set {', '.join(sorted(_PARTS))}.")
    return None


def list_hosts(value: str) -> list[str]:
    """As `Connector.list_hosts`. Only plain addresses are understood, which no library reads in another way."""
    plain = re.fullmatch(r"[a-z]+://(?:[\w.%+-]+@)?([A-Za-z0-9.-]*)(?::\d+)?/[\w.%-]+", value)
    if plain is None:
        raise ValueError(value)
    return [plain[1].lower()]


MYSQL = make_database(
    "mysql",
    "a table of MySQL or MariaDB",
    packages=(*PACKAGES, ("pymysql", "'pymysql[rsa]'")),
    check=make_check("MySQL", is_held),
    list_hosts=list_hosts,
    own_options=(
        ConnectorOption(
            "url", NAME, "address of the database, mysql://…", required=True, identifies=True, check=check_url
        ),
        TABLE,
        PASSWORD,
        *SHARED,
    ),
)
