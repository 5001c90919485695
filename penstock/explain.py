"""Compilation -> the text that EXPLAIN shows for one stage of it."""

from __future__ import annotations

from typing import assert_never

from penstock.codegen import eject, spark_text
from penstock.compilation import Compilation
from penstock.parser import ast_text
from penstock.parser.ast import Stage
from penstock.planner import plan_text, state_text


def explain(compilation: Compilation, stage: Stage) -> str:
    """The stage as text, with a final line break."""
    match stage:
        case Stage.AST:
            text = "\n".join(ast_text(statement).rstrip() for statement in compilation.statements)
        case Stage.PLAN:
            text = plan_text(compilation.queries)
        case Stage.STATE:
            text = state_text(compilation.queries)
        case Stage.PARTITIONS:
            text = ""
        case Stage.SPARK:
            text = spark_text(compilation.program)
        case Stage.CODE:
            text = eject(compilation.program)
        case _:
            assert_never(stage)
    return text.rstrip() + "\n"
