"""Queries that read nothing, such as VALUES: a view of one is for reads alone."""

from __future__ import annotations

from typing import assert_never

from penstock.parser import ast


def reads_nothing(query: ast.Query, known: frozenset[str] = frozenset()) -> bool:
    """Whether the query names no stream, table or view. `known`: the tables of WITH that do not, in lower case."""
    match query:
        case ast.Select():
            return names_nothing(query.relation, known)
        case ast.UnionQuery():
            return all(reads_nothing(each, known) for each in query.branches)
        case ast.SetQuery():
            return reads_nothing(query.left, known) and reads_nothing(query.right, known)
        case ast.With():
            for table in query.tables:
                known |= {table.name.folded} if reads_nothing(table.query, known) else frozenset()
            return reads_nothing(query.body, known)
        case _:
            assert_never(query)


def names_nothing(relation: ast.Relation, known: frozenset[str]) -> bool:
    """Whether FROM names no stream, table or view."""
    match relation:
        case ast.NoTable() | ast.UnnestedTable():
            return True
        case ast.Table():
            return relation.name.folded in known
        case ast.Subquery():
            return reads_nothing(relation.query, known)
        case ast.Join():
            return names_nothing(relation.left, known) and names_nothing(relation.right, known)
        case ast.WindowedTable():
            return names_nothing(relation.relation, known)
        case _:
            assert_never(relation)
