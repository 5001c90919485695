"""What tables of databases have in common: options, checks of their values, and types of columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import partial
from urllib.parse import SplitResult, parse_qsl, urlsplit

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.connectors import C003, C019, C020, C027
from penstock.planner.connectors.option import INTEGER, INTERVAL, NAME, SECRET, Connector, ConnectorOption, OptionType
from penstock.planner.plan import Column, Options
from penstock.planner.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIME,
    TIMESTAMP,
    TINYINT,
    Array,
    Decimal,
    Map,
    Struct,
    Type,
)

PACKAGES = (("sqlalchemy", "sqlalchemy"), ("tenacity", "tenacity"))
"""What each of them needs."""
LEDGER = "penstock_ledger"
"""The table in which Penstock keeps which micro-batches are written. It lies beside the tables of users."""

make_database = partial(
    Connector,
    is_database=True,
    only_tables=True,
    reads_now=True,
    looks_up=True,
    upserts=True,
    deletes=True,
    changes_rows=True,
    partial_updates=True,
    exactly_once=True,
)
"""Makes the connector of a database, with what all of them can do."""

SIMPLE = frozenset({BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, STRING, BINARY, DATE, TIMESTAMP, TIME})
"""Types without parameters that all databases hold."""

_TABLE = re.compile(r"[^.\0]+(\.[^.\0]+)?")
_PASSWORD = re.compile("passw|secret", re.IGNORECASE)
"""Names of parameters that are secrets: libpq has password, sslpassword and oauth_client_secret."""


def check_server_url(
    value: str, span: Span, form: re.Pattern[str], example: str, variable: str
) -> SplitResult | Diagnostic:
    """The parts of the address of a server, or what is wrong with it: its form, or a password in it.

    `form`: what stands before a question mark. `variable`: the variable of the environment that has such a password.
    """
    url = _split_url(value) if form.fullmatch(value.partition("?")[0]) else None
    if url is None:
        return C003.at(span, "", name="url", expected=f"an address such as '{example}'")
    names = [name for name, _ in parse_qsl(url.query, keep_blank_values=True)]
    if ":" in url.netloc.rpartition("@")[0] or any(map(_PASSWORD.search, names)):
        found = C020.at(span, "", name="url").because("Plans, checkpoints and jobs show addresses.")
        return found.with_hint(f"password = ENV('{variable}')")
    return url


def _split_url(value: str) -> SplitResult | None:
    try:
        return urlsplit(value)
    except ValueError:  # such as a bracket of an IPv6 address that is not closed
        return None


def check_table(value: str, span: Span) -> Diagnostic | None:
    """What is wrong with the name of a table."""
    if not _TABLE.fullmatch(value):
        return C003.at(span, "", name="table", expected="a name such as 'profiles' or 'shop.profiles'")
    if value.split(".")[-1].lower() == LEDGER:
        found = C003.at(span, "", name="table", expected=f"any name but {LEDGER}")
        return found.because("Penstock keeps there which micro-batches it has written.")
    return None


def check_path(value: str, span: Span) -> Diagnostic | None:
    """What is wrong with the path of a database. Only a file keeps what the ledger says."""
    if re.match(r"[A-Za-z][\w+.-]+:|:memory:", value):
        return C003.at(span, "", name="path", expected="the path of a file on this machine")
    return None


TABLE = ConnectorOption(
    "table", NAME, "name or schema.name of the table", required=True, identifies=True, check=check_table
)
PATH = ConnectorOption(
    "path", NAME, "file of the database on this machine", required=True, identifies=True, check=check_path
)
PASSWORD = ConnectorOption("password", SECRET, "password of the user")
SHARED = (
    ConnectorOption(
        "create",
        OptionType("STRING", ("never", "if_missing")),
        "whether to make the table if it does not exist",
        default="never",
    ),
    ConnectorOption("batch_size", INTEGER, "at most so many rows in one statement", default=10_000),
    ConnectorOption(
        "batch_mode",
        OptionType("STRING", ("complete", "compact")),
        "complete writes each change of a key in a micro-batch, compact only the last one; unless set, what INSERT and "
        "DELETE change is compact",
    ),
    ConnectorOption("max_rejected", INTEGER, "at most so many refused rows in one micro-batch", default=1_000),
    ConnectorOption(
        "on_missing",
        OptionType("STRING", ("reject", "fail")),
        "what becomes of an update whose row does not exist",
        default="reject",
    ),
    ConnectorOption("cache_ttl", INTERVAL, "how long a lookup takes an answer again; unless set, never"),
    ConnectorOption("cache_size", INTEGER, "how many keys it keeps at most", default=10_000),
    ConnectorOption("rate_limit", INTEGER, "at most so many rows are written per second; no limit unless set"),
    ConnectorOption("retry_attempts", INTEGER, "how often a micro-batch is tried", default=10),
    ConnectorOption(
        "retry_backoff", INTERVAL, "longest pause before the second try; it doubles from there", default=100
    ),
    ConnectorOption("retry_max_delay", INTERVAL, "longest pause between any two tries", default=10_000),
    ConnectorOption("connect_timeout", INTERVAL, "how long to wait for a connection", default=10_000),
    ConnectorOption("statement_timeout", INTERVAL, "how long a statement may take", default=300_000),
)
"""Options of every database."""

Holds = Callable[[Type], bool]


def is_simple(type_: Type) -> bool:
    """Whether all databases hold values of the type."""
    return type_ in SIMPLE


def is_simple_or_decimal(type_: Type) -> bool:
    return is_simple(type_) or isinstance(type_, Decimal)


def is_any(type_: Type) -> bool:
    """Whether the type is made of simple types and decimals."""
    match type_:
        case Array():
            return is_any(type_.element)
        case Map():
            return is_any(type_.key) and is_any(type_.value)
        case Struct():
            return all(is_any(each) for _, each in type_.fields)
    return is_simple_or_decimal(type_)


_SHOWN = 100
"""The most characters of a name that a message shows."""


def check_length(name: str, span: Span, database: str, limit: int) -> Diagnostic | None:
    """What is wrong with the length of a name, which the database would cut."""
    count = len(name.encode("utf-8", "surrogatepass"))
    if count <= limit:
        return None
    shown = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"
    found = C027.at(span, "", database=database, limit=limit, name=shown, count=count)
    return found.with_hint("a shorter name, in the database too")


def make_check(database: str, holds: Holds, longest: int | None = None) -> Callable[..., None]:
    """The check of a connector whose tables hold columns of some types; keys are never nested.

    `database`: what messages call it. `longest`: the bytes of a name that it keeps, None where it keeps all.
    """

    def check(
        options: Options, columns: Sequence[Column], span: Span, *, key: Collection[str], table: bool, written: bool
    ) -> None:
        for column in columns:
            long = None if longest is None else check_length(column.name, span, database, longest)
            if long is not None:
                raise CompileError([long])
            nested_key = column.name in key and not is_simple_or_decimal(column.type)
            if nested_key or not holds(column.type):
                found = C019.at(span, "", database=database, column=column.name, type=column.type)
                if holds(column.type):
                    found = found.because("A column of a primary key cannot be nested.")
                raise CompileError([found.with_hint(f"CAST({column.name} AS STRING)")])

    return check
