"""Declarations without a connector, and connectors of other systems -> what to write."""

from __future__ import annotations

from sqlglot import exp

from penstock.diagnostics import Diagnostic, Span, nearest
from penstock.diagnostics.codes.connectors import C001, C008
from penstock.parser import ast
from penstock.planner.connectors import CONNECTORS, DATABASES, EXAMPLE, FILES, show_databases
from penstock.planner.connectors.topics import describe_topic

# Connectors of other systems, the one that serves instead, and the words behind it.
_OTHERS = {
    "upsert-kafka": ("kafka", ", key_format = 'json' and a PRIMARY KEY"),
    "filesystem": ("files", ""),
    **dict.fromkeys(
        ("jdbc", "mongodb"), (DATABASES[0], f"{show_databases().removeprefix(repr(DATABASES[0]))} of a table")
    ),
    **dict.fromkeys(
        ("mysql-cdc", "postgres-cdc", "oracle-cdc", "sqlserver-cdc", "mongodb-cdc"),
        ("kafka", " reads changes that another program captures into a topic"),
    ),
}


def explain_no_connector(
    options: tuple[ast.Option, ...], name: ast.Name, kind: str, keys: int | None, whole: Span
) -> Diagnostic:
    """The finding for options without a connector, or for no options. The arguments are as in `read_options`."""
    found = C008.at(name.span, "", kind=kind.lower(), name=name.text)
    if not options:
        return found.with_sql(f" WITH ({EXAMPLE})", Span(whole.source, whole.end, whole.end))
    begin, end = options[0].name.span.start, options[-1].value.meta["span"].end
    texts = {option.name.folded: str(option.value.name) for option in options}
    topic = describe_topic(texts, name.text, kind, keys)
    if topic is not None:
        note, written = topic
        return found.because(note).with_sql(written, Span(whole.source, begin, end), before="WITH (", after=")")
    fitting = (each for each in CONNECTORS if texts.keys() <= {option.name for option in each.options})
    connector = next(fitting, FILES)
    added = f"connector = '{connector.name}'"
    if connector is FILES:
        added = ", ".join(each for each in EXAMPLE.split(", ") if each.partition(" ")[0] not in texts)
    return found.with_sql(f"{added}, ", Span(whole.source, begin, begin), before="WITH (", after="…)")


def explain_unknown_connector(value: exp.Expression) -> Diagnostic:
    """The finding for a value of the option `connector` that is no connector."""
    written = str(value.this)
    found = C001.at(value.meta["span"], "", name=written)
    found = found.because(f"The connectors are {', '.join(each.name for each in CONNECTORS)}.")
    guess = nearest(written, [each.name for each in CONNECTORS])
    name, after = _OTHERS.get(written.lower(), (guess, ""))
    return found.with_sql(name and f"'{name}'", before="connector = ", after=after)
