"""A compiled script -> what the places outside say of it. Needs no Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from msgspec import structs

from penstock import runtime
from penstock.compilation import Compilation
from penstock.diagnostics import Diagnostic
from penstock.planner import Catalog, plan_script


@dataclass(frozen=True, slots=True)
class ComparedPlaces:
    """What was found."""

    topics: Sequence[runtime.TopicCount]
    compilation: Compilation
    """The script with the partitions that its topics have. It is not what runs."""
    warnings: Sequence[Diagnostic]
    """Warnings that the script alone does not give."""


def compare_places(compilation: Compilation, catalog: Catalog | None = None) -> ComparedPlaces:
    """Plans the script once more, with the partitions that its topics have.

    So they are checked as declared ones are. State keeps its number of partitions when a topic gets more. So this plan
    does not run.

    Args:
        compilation: the script.
        catalog: what it was compiled over.

    Raises:
        CompileError: streams of a join do not agree in their partitions.
        RunError: a topic is missing, or has another number of partitions than is declared, or no broker answers.
    """
    topics = runtime.count_topics(compilation.program)
    counts = {each.name.lower(): each.partitions for each in topics if each.partitions is not None}
    if not counts:
        return ComparedPlaces(topics, compilation, ())
    given = structs.replace(catalog or Catalog(), counts=MappingProxyType(counts))
    planned = plan_script(compilation.statements, given)
    warnings = [each for each in planned.warnings if each not in compilation.diagnostics]
    found = replace(compilation, queries=planned.queries, catalog=planned.catalog, diagnostics=planned.warnings)
    return ComparedPlaces(topics, found, warnings)


def topic_text(count: runtime.TopicCount) -> str:
    """A line about a topic."""
    number = "as many partitions as brokers give"
    if count.partitions is not None:
        number = f"{count.partitions} partition{'s' if count.partitions > 1 else ''}"
    return f"topic: {count.topic} of {count.name}: {'' if count.exists else 'is made with '}{number}"
