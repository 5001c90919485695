"""Compilation -> the text that EXPLAIN shows for one stage of it; answers to SHOW and DESCRIBE as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from penstock.codegen import eject, lower, spark_text
from penstock.codegen.program import Program
from penstock.compilation import Compilation
from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.building import B002
from penstock.parser import ast_text
from penstock.parser.ast import Stage
from penstock.planner import plan_text, state_text
from penstock.planner.plan import Answer, Explained, Listing, RunningQuery, Settings


def explain(compilation: Compilation, stage: Stage) -> str:
    """The stage as text, with a final line break. Raises CompileError for PARTITIONS, which is not built yet."""
    syntax = "\n".join(ast_text(statement) for statement in compilation.statements)
    return _stage_text(stage, syntax, compilation.queries, compilation.settings, compilation.program)


def answer_text(answer: Answer) -> str:
    """The answer to an EXPLAIN, SHOW or DESCRIBE of a script, with a final line break."""
    match answer:
        case Explained():
            program = lower(answer.queries, answer.settings)
            return _stage_text(Stage(answer.stage or "PLAN"), answer.syntax, answer.queries, answer.settings, program)
        case Listing():
            table = [answer.headings, *answer.rows]
            widths = [max(map(len, column)) for column in zip(*table, strict=True)]
            lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in table]
            return "\n".join([f"{answer.title}:", *(f"  {line}" for line in lines)]) + "\n"
        case _:
            assert_never(answer)


def _stage_text(
    stage: Stage, syntax: str, queries: Sequence[RunningQuery], settings: Settings, program: Program
) -> str:
    match stage:
        case Stage.AST:
            text = syntax
        case Stage.PLAN:
            text = plan_text(queries)
        case Stage.STATE:
            text = state_text(queries, settings)
        case Stage.PARTITIONS:
            raise CompileError([B002.at(None, construct="EXPLAIN PARTITIONS")])
        case Stage.SPARK:
            text = spark_text(program)
        case Stage.CODE:
            text = eject(program)
        case _:
            assert_never(stage)
    return text.rstrip("\n") + "\n"
