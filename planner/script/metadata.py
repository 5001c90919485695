"""Columns of CREATE that hold what the connector knows of a record."""

from __future__ import annotations

from msgspec.structs import replace

from penstock.diagnostics import CompileError, Diagnostic, nearest
from penstock.diagnostics.codes.kinds import K010, K016, K021, K026
from penstock.parser import ast
from penstock.planner import scalars
from penstock.planner.connectors import Connector, Metadata
from penstock.planner.plan import Column
from penstock.planner.plan.reserved import STREAM_COLUMNS, TABLE_COLUMNS


def metadata_definitions(statement: ast.Create) -> list[ast.MetadataColumn]:
    """The columns that are not in the records."""
    return [each for each in statement.columns if isinstance(each, ast.MetadataColumn)]


def read_metadata(statement: ast.Create, stored: tuple[Column, ...], findings: list[Diagnostic]) -> tuple[Column, ...]:
    """The METADATA columns; what is wrong goes to `findings`."""
    reserved = TABLE_COLUMNS if statement.kind is ast.RelationKind.TABLE else STREAM_COLUMNS
    taken = {each.name.lower() for each in stored}
    found: list[Column] = []
    for definition in metadata_definitions(statement):
        name = definition.name
        if name.folded in taken:
            findings.append(K010.at(name.span, "here again", name=name.text))
        if name.folded in reserved:
            findings.append(K016.at(name.span, "", name=name.text))
        taken.add(name.folded)
        type_ = scalars.type_of(definition.type, findings)
        if type_ is not None:
            found.append(Column(name.text, type_, nullable=False))
    return tuple(found)


def check_metadata(
    statement: ast.Create, columns: tuple[Column, ...], connector: Connector, others: tuple[Column, ...]
) -> tuple[Column, ...]:
    """All columns; metadata among them that may be missing are nullable. `columns` are the columns of metadata.

    Raises CompileError for metadata that the connector does not have, or that are of another type.
    """
    findings: list[Diagnostic] = []
    known = {each.key: each for each in connector.metadata}
    for definition, column in zip(metadata_definitions(statement), columns, strict=True):
        metadata = known.get(definition.key)
        if metadata is None:
            found = K026.at(definition.span, "", connector=connector.name, key=definition.key)
            listed = ", ".join(f"'{each.key}' {each.type}" for each in connector.metadata)
            guess = nearest(definition.key, list(known))
            hint = guess and write_column(definition, known[guess])
            findings.append(found.because(f"It has {listed or 'none'}.").with_sql(hint))
        elif metadata.type != column.type:
            reason = f"the metadata '{metadata.key}' is {metadata.type}, the column is {column.type}"
            made = f"CREATE {statement.kind.value}"
            wrong = K021.at(definition.span, "", statement=made, target=statement.name.text, reason=reason)
            findings.append(wrong.with_sql(write_column(definition, metadata)))
    if findings:
        raise CompileError(findings)
    definitions = metadata_definitions(statement)
    unsure = {each.name.text for each in definitions if known[each.key].nullable}
    return tuple(replace(each, nullable=True) if each.name in unsure else each for each in others)


def write_column(definition: ast.MetadataColumn, metadata: Metadata) -> str:
    """The column as it may be declared."""
    virtual = " VIRTUAL" if definition.virtual else ""
    return f"{definition.name.text} {metadata.type} METADATA FROM '{metadata.key}'{virtual}"
