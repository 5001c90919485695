"""Queries of a script -> the same with the number of partitions of each join's state; or why there is none."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from penstock.diagnostics import Diagnostic, Span
from penstock.diagnostics.codes.partitions import P001, P002, P003
from penstock.parser import ast
from penstock.planner.catalog import Catalog
from penstock.planner.partitions.agree import Disagreement, Partitions, find_disagreements, find_partitions
from penstock.planner.partitions.build import Joined, JoinInput, PartitionGraph, find_shown_side, list_equalities
from penstock.planner.partitions.counts import LARGEST, Count, CountRule, Counts
from penstock.planner.partitions.graph import Stream
from penstock.planner.partitions.rekey import (
    TextEdit,
    apply_edits,
    find_side_node,
    is_inside,
    make_edit,
    rekey_sides,
    with_partitions,
)
from penstock.planner.plan import RunningQuery, Settings
from penstock.planner.plan.texts import expression_text

NO_STREAM = "a table is partitioned by its key: PARTITION BY the streams that it is made of, or declare it otherwise"


class CheckedQueries(msgspec.Struct, frozen=True):
    """The queries in their order, and what was found."""

    queries: tuple[RunningQuery, ...]
    findings: tuple[Diagnostic, ...]


def check_partitions(
    queries: Sequence[RunningQuery], settings: Settings, catalog: Catalog, statements: Sequence[ast.Statement]
) -> CheckedQueries:
    """With SET auto_repartition the sides of joins that do not agree are re-keyed; else they are errors."""
    partitions = find_partitions(queries, settings, catalog)
    wrong = tuple(find_disagreements(partitions))
    end = with_fixes(queries, partitions, wrong, settings, catalog)
    if settings.auto_repartition:
        queries, partitions, wrong = end.queries, end.partitions, end.left
    if wrong:
        return CheckedQueries(
            tuple(queries), tuple(describe_disagreement(each, partitions, end, statements) for each in wrong)
        )
    counts: dict[Span, int] = {}
    for name, join in partitions.script.joins.items():
        count = partitions.counts.joins[name]
        assert count.partitions is not None, "a join without a count, and all agree"
        if count.rule is not CountRule.DEFAULT:
            counts[join.span] = count.partitions
    return CheckedQueries(
        tuple(with_partitions(queries, counts) if counts else queries), tuple(warn_overruled(partitions))
    )


class FixedQueries(msgspec.Struct, frozen=True):
    """Queries with the sides of joins re-keyed that do not agree, the `edits` for it, and what cannot be fixed."""

    queries: tuple[RunningQuery, ...]
    partitions: Partitions
    edits: tuple[TextEdit, ...]
    left: tuple[Disagreement, ...]


def with_fixes(
    queries: Sequence[RunningQuery],
    partitions: Partitions,
    left: tuple[Disagreement, ...],
    settings: Settings,
    catalog: Catalog,
) -> FixedQueries:
    """Fixes disagreements, and then disagreements that show only after that, until all agree or no fix is left."""
    edits: list[TextEdit] = []
    sides = sum(len(each.inputs) for each in partitions.script.joins.values())
    while fixes := [fix for each in left for fix in each.fixes]:
        assert len(edits) < sides, "each side of a join is re-keyed once at most"
        edits += (make_edit(each, partitions.script) for each in fixes)
        queries = rekey_sides(queries, fixes, partitions.script)
        partitions = find_partitions(queries, settings, catalog)
        left = tuple(find_disagreements(partitions))
    return FixedQueries(tuple(queries), partitions, tuple(edits), left)


def warn_overruled(partitions: Partitions) -> list[Diagnostic]:
    """INTO n PARTITIONS where a join says another number."""
    findings = []
    for name, stream in partitions.script.graph.streams.items():
        count = partitions.counts.of[name]
        if stream.into is not None and stream.into != count.partitions:
            warning = P003.at(stream.span, "", stream=stream.name, given=count.partitions, asked=stream.into)
            warning = warning.because(f"Its joins take the number of {count.giver}.")
            findings.append(warning.with_hint(f"INTO {count.partitions} PARTITIONS, or leave INTO out"))
    return findings


def describe_disagreement(
    wrong: Disagreement, partitions: Partitions, end: FixedQueries, statements: Sequence[ast.Statement]
) -> Diagnostic:
    """All streams of the joins, each with its count, the rule that gave it and its place, and the way out."""
    script, counts = partitions.script, partitions.counts
    fixed = {fix.join for fix in wrong.fixes}
    joins = sorted(wrong.joins, key=lambda each: each not in fixed)
    places = [find_shown_side(script.joins[each]).span for each in joins]
    problem = (
        different_keys(wrong, script, places[0])
        if wrong.join_inputs
        else different_counts(wrong, partitions, places[0])
    )
    for place in places[1:]:
        problem = problem.also(place, "joined here, too")
    for each in members(wrong, counts):
        stream = script.graph.streams[each]
        if stream.span is not None:
            problem = problem.also(stream.span, f"{stream.name}: {count_text(counts.of[each], stream)}")
    if not wrong.fixes:
        return problem.with_hint(NO_STREAM)
    sides = " and ".join(dict.fromkeys(relation_name(find_side_node(each, script).span) for each in wrong.fixes))
    # Where the fix is not in one statement, PARTITION BY is in words: it stands in several places of the script.
    keyed = f"PARTITION BY the columns that the join compares, on {sides}; or "
    start = Span(places[0].source, 0, 0)
    problem = problem.with_hint(None, fix=write_fix(wrong, script, end, statements))
    return problem.with_sql("SET auto_repartition = ON;", start, before=keyed, after=" at the start")


def write_fix(
    wrong: Disagreement, script: PartitionGraph, end: FixedQueries, statements: Sequence[ast.Statement]
) -> str | None:
    """The one statement in which the joins are, with all fixes in it; None where there is none, or is not alone."""
    own = [script.joins[each.join].span for each in wrong.fixes]
    left = [end.partitions.script.joins[join].span for each in end.left for join in each.joins]
    for statement in statements:
        if all(is_inside(span, statement.span) for span in own):
            is_alone = not any(is_inside(span, statement.span) for span in left)
            return apply_edits(statement.span, end.edits) if is_alone else None
    return None


def different_keys(wrong: Disagreement, script: PartitionGraph, place: Span) -> Diagnostic:
    """P002, of the streams by whose keys the join cannot go, else of all that have one."""
    (join,) = wrong.joins
    problems = [each for each in wrong.join_inputs if each.problem is not None] or wrong.join_inputs
    streams = " and ".join(dict.fromkeys(script.graph.streams[each.stream].name for each in problems))
    whys = dict.fromkeys(key_text(each, script.graph.streams[each.stream], script.joins[join]) for each in problems)
    return P002.at(place, "joined here", streams=streams).because("; ".join(whys) + ".")


def different_counts(wrong: Disagreement, partitions: Partitions, place: Span) -> Diagnostic:
    """P001, about one join, or about several that re-keyed streams tie together."""
    if len(wrong.joins) == 1:
        why = "Rows of one key would be in different partitions."
    else:
        streams, of = partitions.script.graph.streams, partitions.counts.of
        ties = [streams[each].name for each in members(wrong, partitions.counts) if of[each].rule is CountRule.OPEN]
        why = f"{' and '.join(ties)} can have only one number of partitions, but its joins need different ones."
    return P001.at(place, "joined here").because(why)


def members(wrong: Disagreement, counts: Counts) -> list[str]:
    """All streams that meet in the joins."""
    return list(dict.fromkeys(stream for join in wrong.joins for stream in counts.join_streams[join]))


def key_text(meeting: JoinInput, stream: Stream, join: Joined) -> str:
    """What a stream is partitioned by, and why the join cannot go by that."""
    if not stream.key:
        return f"{stream.name} declares no KEY"
    if meeting.problem is not None:
        return f"{stream.name} is partitioned by {stream.key}, and {meeting.problem}"
    equalities = list_equalities(join)
    compared = ", ".join(expression_text(equalities[min(places)][meeting.side]) for places in meeting.equalities)
    return f"{stream.name} is partitioned by {stream.key}, here {compared}"


def relation_name(span: Span) -> str:
    """The relation as it is written, its beginning where that is long."""
    text = " ".join(span.text.split())
    return text if len(text) <= 40 else f"{text[:40]}…"


def count_text(count: Count, stream: Stream) -> str:
    """`8 partitions by id, declared`."""
    if count.rule is CountRule.SPREAD:
        return "no number of partitions, repartitioned by each join"
    key = f" by {stream.key}" if stream.key else ""
    reasons = {
        CountRule.DECLARED: "as its topic has" if stream.is_counted else "declared",
        CountRule.JOINED: f"joined with {count.giver}",
        CountRule.INTO: f"INTO {stream.into} PARTITIONS",
        CountRule.SETTING: "SET intermediate_partitions",
        CountRule.WIDEST: f"as {count.giver}, which has the most"
        + (f", up to {LARGEST}" if count.partitions == LARGEST else ""),
        CountRule.DEFAULT: "SET state_partitions",
        CountRule.OPEN: "which cannot be two numbers",
    }
    number = "partitions" if count.partitions is None else f"{count.partitions} partitions"
    return f"{number}{key}, {reasons[count.rule]}"
