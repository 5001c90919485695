"""Tables of Delta Lake: a folder of Parquet files, and a log of the transactions that made them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.connectors import C003, C019, C020
from penstock.planner.connectors.database_options import is_any, make_check
from penstock.planner.connectors.delta_place import SECRET_OPTIONS, list_partition_columns, read_storage_options
from penstock.planner.connectors.files import place
from penstock.planner.connectors.option import BOOLEAN as BOOLEAN_OPTION
from penstock.planner.connectors.option import (
    INTEGER,
    INTERVAL,
    NAME,
    SECRET,
    Connector,
    ConnectorOption,
    Metadata,
    OptionType,
    RecordPlace,
)
from penstock.planner.connectors.option import STRING as STRING_OPTION
from penstock.planner.plan import Column, Options
from penstock.planner.types import BIGINT, BOOLEAN, DATE, INTEGERS, STRING, TIME, TIMESTAMP, Array, Map, Struct, Type

PARTITIONED = (BOOLEAN, DATE, STRING, *INTEGERS)
"""Types of partition columns. Their values are parts of paths and texts in the log."""
STARTING = ("newest", "earliest", "latest")
_VERSION = re.compile(r"\d{1,15}")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_UNFIT_NAME = re.compile(r"[ ,;{}()\n\t=]")
_SECRET_NAME = re.compile("secret|password|token|sas|credential|_key$|^key$|account_key", re.IGNORECASE)
_PUBLIC_NAME = re.compile("access_key_id$", re.IGNORECASE)


def check_path(value: str, span: Span) -> Diagnostic | None:
    """What is wrong with the place of a table."""
    scheme = _SCHEME.match(value)
    if scheme is None or scheme[1].lower() == "file":
        return None
    rest = value[scheme.end() :]
    if scheme[1].lower() not in SECRET_OPTIONS or not rest.startswith("//"):
        known = ", ".join(f"{each}://" for each in SECRET_OPTIONS)
        return C003.at(span, "", name="path", expected=f"a folder of this machine, or a URI that begins with {known}")
    if ":" in rest.partition("@")[0] and "@" in rest:
        found = C020.at(span, "", name="path").because("Plans, checkpoints and programs show paths.")
        return found.with_hint("secret_key = ENV('AWS_SECRET_ACCESS_KEY')")
    return None


def check_storage_options(value: str, span: Span) -> Diagnostic | None:
    """What is wrong with the options of a store: their form, or a secret among them."""
    given = read_storage_options(value)
    if given is None:
        return C003.at(
            span, "", name="storage_options", expected="""a JSON object of texts such as '{"region": "x"}'"""
        )
    if any(_SECRET_NAME.search(name) and not _PUBLIC_NAME.search(name) for name in given):
        found = C020.at(span, "", name="storage_options").because("Plans, checkpoints and programs show options.")
        return found.with_hint("secret_key = ENV('AWS_SECRET_ACCESS_KEY')")
    return None


def check_starting(value: str, span: Span) -> Diagnostic | None:
    """What is wrong with the place where a query begins."""
    if value in STARTING or _VERSION.fullmatch(value):
        return None
    return C003.at(span, "", name="starting", expected="'newest', 'earliest', 'latest', or a version such as '12'")


def is_held(type_: Type) -> bool:
    """Whether Delta Lake has the type: all but times of day and intervals."""
    match type_:
        case Array():
            return is_held(type_.element)
        case Map():
            return is_held(type_.key) and is_held(type_.value)
        case Struct():
            return all(is_held(each) for _, each in type_.fields)
    return is_any(type_) and type_ != TIME


_check_types = make_check("Delta Lake", is_held)


def check(
    options: Options, columns: Sequence[Column], span: Span, *, key: Collection[str], table: bool, written: bool
) -> None:
    """Raises CompileError for columns that a table cannot hold, and for partitions by unknown columns."""
    _check_types(options, columns, span, key=key if table else (), table=table, written=written)
    for column in columns:
        if _UNFIT_NAME.search(column.name):
            found = C019.at(span, "", database="Delta Lake", column=column.name, type=column.type)
            found = found.because("Names of its columns have no blanks and none of , ; { } ( ) =")
            plain = re.sub(r"\W+", "_", column.name)
            raise CompileError([found.with_hint(f"call it {plain}")])
    types = {column.name: column.type for column in columns}
    partitions = list_partition_columns(options)
    for name in partitions:
        if types.get(name) not in PARTITIONED or partitions.count(name) > 1:
            expected = "names of columns of type STRING, BOOLEAN, DATE or an integer, separated by commas"
            raise CompileError([C003.at(span, "", name="partition_by", expected=expected)])
    if partitions and len(partitions) == len(columns):
        raise CompileError([C003.at(span, "", name="partition_by", expected="names of some columns, and not of all")])


DELTA = Connector(
    "delta",
    "a Delta Lake table",
    packages=(("deltalake", "deltalake"), ("tenacity", "tenacity")),
    one_row=True,
    reads_stream=True,
    reads_table=True,
    reads_now=True,
    parses_records=True,
    record_place=RecordPlace(
        shown=(("version", "_revision", BIGINT),),
        order=(("version", "_revision"), ("step", "_step")),
        is_unique=False,
    ),
    marks_deletes=True,
    metadata=(
        Metadata("version", BIGINT, "version of the table that has changed the row"),
        Metadata("timestamp", TIMESTAMP, "when that version was written"),
    ),
    appends=True,
    upserts=True,
    deletes=True,
    changes_rows=True,
    exactly_once=True,
    check=check,
    place=place,
    own_options=(
        ConnectorOption(
            "path",
            NAME,
            "folder of the table; relative to the current directory, or a URI of an object store",
            required=True,
            identifies=True,
            check=check_path,
        ),
        ConnectorOption(
            "create",
            OptionType("STRING", ("never", "if_missing")),
            "whether to make the table if it does not exist",
            default="never",
        ),
        ConnectorOption(
            "partition_by", NAME, "columns by which files are divided, separated by commas, if the table is made"
        ),
        ConnectorOption(
            "storage_options",
            NAME,
            "settings of the object store as a JSON object, without secrets",
            check=check_storage_options,
        ),
        ConnectorOption("secret_key", SECRET, "secret of the object store"),
        ConnectorOption(
            "change_feed", BOOLEAN_OPTION, "whether the table keeps a feed of its changes, if it is made", default=False
        ),
        ConnectorOption(
            "starting",
            STRING_OPTION,
            "what a query reads first: the rows of the newest version ('newest'), the first changes ('earliest'), "
            "changes from now on ('latest'), or from a version on, such as '12'",
            default="newest",
            check=check_starting,
        ),
        ConnectorOption(
            "versions_per_batch", INTEGER, "at most so many versions in one micro-batch", limits_batch=True
        ),
        ConnectorOption("max_rejected", INTEGER, "at most so many refused rows in one micro-batch", default=1_000),
        ConnectorOption("retry_attempts", INTEGER, "how often a micro-batch is tried", default=10),
        ConnectorOption(
            "retry_backoff", INTERVAL, "longest pause before the second try; it doubles from there", default=100
        ),
        ConnectorOption("retry_max_delay", INTERVAL, "longest pause between any two tries", default=10_000),
    ),
)
