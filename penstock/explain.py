"""Compilation -> the text that EXPLAIN shows for one stage of it; answers to SHOW and DESCRIBE as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from penstock.codegen import lower, name_operators, spark_text, write_job
from penstock.codegen.program import Input, Option, Program
from penstock.compilation import Compilation
from penstock.diagnostics import redact_value, show_text
from penstock.diagnostics.terminal import align_texts
from penstock.parser import ast_text
from penstock.parser.ast import Stage
from penstock.planner import NO_RUN, LastRun, mermaid, partitions_text, physical_text, plan_text, state_text
from penstock.planner.plan import Answer, Explained, Listing, RunningQuery, Settings


def explain(compilation: Compilation, stage: Stage, last_run: LastRun = NO_RUN) -> str:
    """The stage as text, with a final line break. Other stages are not computed. `last_run` is for STATE."""
    queries, settings = compilation.queries, compilation.settings
    if stage is Stage.AST:
        return "\n".join(ast_text(statement) for statement in compilation.statements).rstrip("\n") + "\n"
    if stage is Stage.PARTITIONS:
        return partitions_text(queries, settings, compilation.catalog) + "\n"
    return _stage_text(stage, queries, settings, last_run)


def draw_partitions(compilation: Compilation) -> str:
    """The streams and joins of all queries as a Mermaid flowchart, with a final line break."""
    return mermaid(compilation.queries, compilation.settings, compilation.catalog) + "\n"


def answer_text(answer: Answer, rates: Mapping[str, float] | None = None) -> str:
    """The answer to an EXPLAIN, SHOW or DESCRIBE of a script, with a final line break.

    `rates`: the observed rows per second of streams, for EXPLAIN STATE.
    """
    match answer:
        case Explained():
            if answer.stage == Stage.PARTITIONS.value:
                return answer.partitions + "\n"
            if answer.stage == Stage.AST.value:
                return answer.syntax.rstrip("\n") + "\n"
            return _stage_text(Stage(answer.stage or "PLAN"), answer.queries, answer.settings, LastRun(rates or {}))
        case Listing():
            lines = align_texts([[*map(show_text, row)] for row in (answer.headings, *answer.rows)])
            return "\n".join([f"{answer.title}:", *(f"  {line}" for line in lines)]) + "\n"
        case _:
            assert_never(answer)


def _stage_text(stage: Stage, queries: Sequence[RunningQuery], settings: Settings, last_run: LastRun) -> str:
    match stage:
        case Stage.PLAN:
            text = plan_text(queries)
        case Stage.STATE:
            text = state_text(queries, settings, last_run)
        case Stage.PHYSICAL:
            text = physical_text(queries, settings, name_operators(queries))
        case Stage.AST | Stage.PARTITIONS:
            raise AssertionError("its text depends on the whole script")
        case Stage.SPARK:
            text = spark_text(_without_secrets(lower(queries, settings)))
        case Stage.CODE:
            text = write_job(_without_secrets(lower(queries, settings)))["job.py"]
        case _:
            assert_never(stage)
    return text.rstrip("\n") + "\n"


def _without_secrets(program: Program) -> Program:
    """The program with asterisks in the place of what its options must not show."""

    def redact_options(options: tuple[Option, ...]) -> tuple[Option, ...]:
        return tuple((name, redact_value(name, value) if isinstance(value, str) else value) for name, value in options)

    def inputs(read: tuple[Input, ...]) -> tuple[Input, ...]:
        return tuple(replace(each, options=redact_options(each.options)) for each in read)

    queries = (
        replace(
            query,
            inputs=inputs(query.inputs),
            output=replace(query.output, options=redact_options(query.output.options)),
            rejects=tuple(replace(each, input=inputs((each.input,))[0]) for each in query.rejects),
        )
        for query in program.queries
    )
    return replace(program, queries=tuple(queries))
