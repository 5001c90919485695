"""What Penstock's grammar cannot read, by sqlglot's parse tree."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from penstock.diagnostics import CompileError, Source
from penstock.parser import parse
from penstock.translate.model import Rewritten, System

_DIALECTS = {System.FLINK: "", System.KSQLDB: "", System.SPARK: "spark"}


def rewrite_tree(rewritten: Rewritten, system: System) -> Rewritten | None:
    """The statement as sqlglot writes it for Spark, None if that cannot be read either."""
    try:
        tree = sqlglot.parse_one(rewritten.sql, read=_DIALECTS[system] or None)
        if isinstance(tree, exp.Command):
            return None
        sql = tree.sql(dialect="spark")
        parse(Source("translation", sql))
    except (SqlglotError, CompileError):
        return None
    return Rewritten(sql, (*rewritten.changes, "written in the forms of Spark SQL, which Penstock reads"))
