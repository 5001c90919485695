"""WITH lists -> a connector and checked options; SET -> a checked setting."""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span, nearest
from penstock.diagnostics.codes.connectors import C002, C003, C004, C005, C006, C007, C020, C021, C024
from penstock.parser import ast
from penstock.planner.catalog import BATCH_MODE, Catalog, Declared
from penstock.planner.connectors import UNRELEASED, Connector, OptionType, find_connector
from penstock.planner.connectors.option import BOOLEAN, INTEGER, INTERVAL, STRING
from penstock.planner.connectors.topics import WINDOWED_KEYS
from penstock.planner.durations import interval_duration, positive_milliseconds
from penstock.planner.plan import Options, SecretOption, Settings, StateStore, Value
from penstock.planner.plan.generated_columns import FIELDS, is_number
from penstock.planner.script.connector_hints import explain_no_connector, explain_unknown_connector


def read_options(
    options: tuple[ast.Option, ...],
    name: ast.Name,
    kind: str,
    keys: int | None,
    whole: Span,
    findings: list[Diagnostic],
) -> tuple[str, Options]:
    """The connector's name and the other options in the order of the text; what is wrong goes to `findings`.

    `keys`: how many key columns the statement declares, None if a query makes the rows. `whole`: the statement.
    """
    given: dict[str, ast.Option] = {}
    for option in options:
        first = given.setdefault(option.name.folded, option)
        if first is not option:
            found = C006.at(option.name.span, "here again", name=option.name.text)
            findings.append(found.also(first.name.span, "first given here"))
    chosen = given.pop("connector", None)
    if chosen is None:
        findings.append(explain_no_connector(options, name, kind, keys, whole))
        return "", ()
    connector = find_connector(str(chosen.value.this)) if is_string(chosen.value) else None
    missing = UNRELEASED.get(str(chosen.value.this).lower()) if is_string(chosen.value) else None
    if missing is not None:
        found = C024.at(chosen.value.meta["span"], "", connector=chosen.value.this).because(missing)
        findings.append(found.with_sql("'delta'", before="connector = ", after=" writes tables of Delta Lake"))
        return "", ()
    if connector is None:
        findings.append(explain_unknown_connector(chosen.value))
        return "", ()
    if connector.only_tables and kind == "STREAM":
        found = C005.at(name.span, "", connector=connector.name, used="used for a stream")
        found = found.because("Each of its rows has a primary key, by which it is replaced and deleted.")
        findings.append(found.with_hint(f"CREATE TABLE with a PRIMARY KEY may have connector = '{connector.name}'"))
    values: list[tuple[str, Value]] = []
    meant: set[str | None] = set()  # what misspelt options were meant to be
    for folded, option in given.items():
        described = connector.find_option(folded)
        if described is None:
            found = C002.at(option.name.span, "", connector=connector.name, name=option.name.text)
            guess = nearest(folded, _list_guesses(connector, folded))
            meant.add(guess)
            found = found.because("Its options are " + ", ".join(connector.list_options()) + ".")
            window = f"the window {WINDOWED_KEYS[kind]}" if folded in ("window_type", "window_size") else None
            findings.append(found.with_guess(guess) if window is None else found.with_hint(window))
            continue
        value = read_value(option, described.type, findings)
        if isinstance(value, str) and described.check is not None:
            problem = described.check(value, option.value.meta["span"])
            findings += [] if problem is None else [problem]
        if value is not None:
            values.append((folded, value))
    for expected in connector.options:
        if expected.required and expected.name not in given and expected.name not in meant:
            found = C004.at(name.span, "", connector=connector.name, name=expected.name)
            findings.append(found.with_hint(f"add the option {expected.name}, {expected.doc}"))
    return connector.name, tuple(values)


def _list_guesses(connector: Connector, written: str) -> list[str]:
    """The options that a misspelt name may mean. An option of a column means another option of the column."""
    head, _, rest = written.partition(".")
    column = rest.rpartition(".")[0]
    if not (head == FIELDS and column and connector.column_options):
        return [each.name for each in connector.options]
    return [f"{FIELDS}.{column}.{each.name}" for each in connector.column_options]


def is_string(value: exp.Expression) -> bool:
    return isinstance(value, exp.Literal) and value.is_string


# Values may stand in quotes, as in Flink.
_BOOLEANS = {"true": True, "on": True, "false": False, "off": False}


def read_value(option: ast.Option, type_: OptionType, findings: list[Diagnostic]) -> Value | None:
    """The Python value of an option's literal, in quotes or not; None with a finding in `findings`."""
    value = option.value
    match type_.kind:
        case "STRING" if is_string(value) and (value.this or not type_.filled):
            text = str(value.this)
            if not type_.choices:
                return text
            if text.lower() in type_.choices:
                return text.lower()
        case "INTEGER" if isinstance(value, exp.Literal):
            # Spark keeps such numbers in 32 bits.
            number = ast.parse_count(str(value.this))
            if number:
                return number
        case "NUMBER":
            sign, literal = ("-", value.this) if isinstance(value, exp.Neg) else ("", value)
            if isinstance(literal, exp.Literal) and is_number(f"{sign}{literal.this}"):
                return f"{sign}{literal.this}"
        case "INTERVAL" if isinstance(value, exp.Interval):
            return positive_milliseconds(interval_duration(value), option.name.text)
        case "INTERVAL" if is_string(value):
            duration = ast.parse_duration(value.name, value.meta["span"])
            if duration is not None:
                return positive_milliseconds(duration, option.name.text)
        case "BOOLEAN" if is_string(value) and value.name.lower() in _BOOLEANS:
            return _BOOLEANS[value.name.lower()]
        case "BOOLEAN" if isinstance(value, exp.Boolean):
            return bool(value.this)
        case "SECRET" if isinstance(value, exp.Anonymous):
            secret = read_secret(value)
            if secret is not None:
                return secret
        case "SECRET" if is_string(value):
            found = C020.at(value.meta["span"], "", name=option.name.text)
            found = found.because("Plans, checkpoints and programs hold the options of a script.")
            findings.append(
                found.with_hint(f"{option.name.text} = ENV('PGPASSWORD'), or FILE('/run/secrets/password')")
            )
            return None
    found = C003.at(value.meta["span"], "", name=option.name.text, expected=type_)
    if isinstance(value, exp.Anonymous) and type_.kind != "SECRET":
        found = found.because("ENV and FILE are for secrets.")
    why = dict(type_.refused).get(str(value.this).lower()) if is_string(value) else None
    if why is not None:
        found = found.because(why)
    findings.append(found)
    return None


def read_secret(value: exp.Anonymous) -> SecretOption | None:
    """ENV('NAME') or FILE('path'), None if no variable or file can have that name."""
    name = str(value.expressions[0].this)
    if value.name == "ENV":
        return SecretOption("ENV", name) if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else None
    return SecretOption("FILE", name) if name and "\0" not in name else None


# Named as the fields of Settings that they set.
SETTINGS: tuple[tuple[str, OptionType], ...] = (
    ("state_partitions", INTEGER),
    ("state_store", STRING),
    ("intermediate_partitions", INTEGER),
    ("auto_repartition", BOOLEAN),
    ("on_row_error", OptionType("STRING", ("fail", "reject"))),
    ("trigger", STRING),
    ("realtime_batch", INTERVAL),
    ("trigger_interval", INTERVAL),
    ("partial_aggregates", BOOLEAN),
)
# What settings of ksqlDB are here.
_SETTINGS_ELSEWHERE = {
    "auto.offset.reset": "starting = 'earliest' in the WITH list of a topic; files are read from the beginning",
    "processing.guarantee": "delivery = 'exactly_once' in the WITH list of a topic that is written",
}
_TRIGGERS = {
    **dict.fromkeys(("micro_batch", "micro-batch", "microbatch"), False),
    **dict.fromkeys(("realtime", "real_time", "real-time"), True),
}
"""Whether queries run in real time."""
_SHORTEST_BATCH = 5_000  # Spark takes no shorter one in real time
AUTO = "auto"
STORES: dict[object, StateStore | None] = {AUTO: None, **{store.value: store for store in StateStore}}


def lower_set(statement: ast.SetOption, settings: Settings) -> Settings:
    """The settings with one changed; raises CompileError for an unknown name or value."""
    option = statement.option
    types = dict(SETTINGS)
    type_ = types.get(option.name.folded)
    findings: list[Diagnostic] = []
    if type_ is None:
        guess = nearest(option.name.folded, list(types))
        found = C007.at(option.name.span, "", name=option.name.text)
        found = found.because("The settings are " + ", ".join(types) + ". Spark's own cannot be set.")
        other = _SETTINGS_ELSEWHERE.get(option.name.folded, "leave it out: it sets what belongs to another system")
        raise CompileError([found.with_guess(guess, otherwise=other)])
    value = read_value(option, type_, findings)
    if findings:
        raise CompileError(findings)
    if option.name.folded == "state_store":
        if value not in STORES:
            found = C003.at(option.value.meta["span"], "", name=option.name.text, expected=", ".join(map(str, STORES)))
            raise CompileError([found])
        return replace(settings, state_store=STORES[value])
    if option.name.folded == "on_row_error":
        return replace(settings, rejects_failing=value == "reject")
    if option.name.folded == "trigger":
        return replace(settings, real_time=_read_trigger(option, str(value)))
    if isinstance(value, int) and option.name.folded == "realtime_batch" and value < _SHORTEST_BATCH:
        expected = "a time of 5 seconds or more"
        raise CompileError([C003.at(option.value.meta["span"], "", name=option.name.text, expected=expected)])
    changed: dict[str, Any] = {option.name.folded: value}
    return replace(settings, **changed)


def _read_trigger(option: ast.Option, value: str) -> bool:
    """Whether queries run in real time."""
    if value.lower() not in _TRIGGERS:
        found = C003.at(
            option.value.meta["span"], "", name=option.name.text, expected="one of 'micro_batch', 'realtime'"
        )
        raise CompileError([found.because("SET trigger_interval says how often a micro-batch begins.")])
    return _TRIGGERS[value.lower()]


def check_batch_mode(statement: ast.Update, catalog: Catalog) -> None:
    """Raises CompileError for UPDATE of a table that writes only the last change of each key."""
    target = catalog.find(statement.target.text)
    if isinstance(target, Declared) and dict(target.origin.options).get(BATCH_MODE) == "compact":
        found = C021.at(statement.target.span, "", table=target.name).also(target.span, "declared here")
        found = found.because("Only the last update of each key would be made.")
        raise CompileError([found.with_hint("batch_mode = 'complete', in the WITH list of the table")])
