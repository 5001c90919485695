"""Queries of a script -> the same with the number of partitions of each join's state; or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.diagnostics import Diagnostic, Span
from penstock.diagnostics.codes.partitions import P001, P002, P003
from penstock.parser import ast
from penstock.planner.catalog import Catalog
from penstock.planner.expression_text import expression_text
from penstock.planner.partitions.agree import Disagreement, Partitions, disagreements, partitions
from penstock.planner.partitions.build import Joined, Meeting, Script, equalities, last_side
from penstock.planner.partitions.counts import LARGEST, Count, Counts, Rule
from penstock.planner.partitions.graph import Stream
from penstock.planner.partitions.mend import Edit, edit, edited, inside, rekeyed, side_node, with_partitions
from penstock.planner.plan import RunningQuery, Settings
from penstock.planner.plan.walk import inputs

NO_STREAM = "a table is partitioned by its key: PARTITION BY the streams that it is made of, or declare it otherwise"


@dataclass(frozen=True, slots=True)
class Checked:
    """The queries in their order, and what was found."""

    queries: tuple[RunningQuery, ...]
    findings: tuple[Diagnostic, ...]


def checked(
    queries: Sequence[RunningQuery], settings: Settings, catalog: Catalog, statements: Sequence[ast.Statement]
) -> Checked:
    """With SET auto_repartition the sides of joins that do not agree are re-keyed; else they are errors."""
    found = partitions(queries, settings, catalog)
    wrong = tuple(disagreements(found))
    end = mended(queries, found, wrong, settings, catalog)
    if settings.auto_repartition:
        queries, found, wrong = end.queries, end.found, end.left
    if wrong:
        return Checked(tuple(queries), tuple(finding(each, found, end, statements) for each in wrong))
    counts: dict[Span, int] = {}
    for name, join in found.script.joins.items():
        count = found.counts.joins[name]
        assert count.partitions is not None, "a join without a count, and all agree"
        if count.rule is not Rule.DEFAULT:
            counts[join.span] = count.partitions
    return Checked(tuple(with_partitions(queries, counts) if counts else queries), tuple(overruled(found)))


@dataclass(frozen=True, slots=True)
class Mended:
    """Queries with the sides of joins re-keyed that do not agree, the `edits` for it, and what cannot be mended."""

    queries: tuple[RunningQuery, ...]
    found: Partitions
    edits: tuple[Edit, ...]
    left: tuple[Disagreement, ...]


def mended(
    queries: Sequence[RunningQuery],
    found: Partitions,
    left: tuple[Disagreement, ...],
    settings: Settings,
    catalog: Catalog,
) -> Mended:
    """What disagrees is mended, then what only shows after that, until all agree or nothing more can be mended."""
    edits: list[Edit] = []
    sides = sum(len(inputs(each)) for each in found.script.joins.values())
    while mendings := [mending for each in left for mending in each.mendings]:
        assert len(edits) < sides, "each side of a join is re-keyed once at most"
        edits += (edit(each, found.script) for each in mendings)
        queries = rekeyed(queries, mendings, found.script)
        found = partitions(queries, settings, catalog)
        left = tuple(disagreements(found))
    return Mended(tuple(queries), found, tuple(edits), left)


def overruled(found: Partitions) -> list[Diagnostic]:
    """INTO n PARTITIONS where a join says another number."""
    report = []
    for name, stream in found.script.graph.streams.items():
        count = found.counts.of[name]
        if stream.into is not None and stream.into != count.partitions:
            warning = P003.at(stream.span, "", stream=stream.name, given=count.partitions, asked=stream.into)
            warning = warning.because(f"Its joins take the number of {count.giver}.")
            report.append(warning.with_hint(f"INTO {count.partitions} PARTITIONS, or leave INTO out"))
    return report


def finding(wrong: Disagreement, found: Partitions, end: Mended, statements: Sequence[ast.Statement]) -> Diagnostic:
    """All streams of the joins, each with its count, the rule that gave it and its place, and the way out."""
    script, counts = found.script, found.counts
    mended = {mending.join for mending in wrong.mendings}
    places = [last_side(script.joins[each]).span for each in sorted(wrong.joins, key=lambda each: each not in mended)]
    problem = different_keys(wrong, script, places[0]) if wrong.meetings else different_counts(wrong, found, places[0])
    for place in places[1:]:
        problem = problem.also(place, "joined here, too")
    for each in members(wrong, counts):
        stream = script.graph.streams[each]
        if stream.span is not None:
            problem = problem.also(stream.span, f"{stream.name}: {count_text(counts.of[each], stream)}")
    if not wrong.mendings:
        return problem.with_hint(NO_STREAM)
    sides = " and ".join(dict.fromkeys(relation_name(side_node(each, script).span) for each in wrong.mendings))
    hint = f"PARTITION BY the columns that the join compares, on {sides}; or SET auto_repartition = ON"
    return problem.with_hint(hint, fix=fix(wrong, script, end, statements))


def fix(wrong: Disagreement, script: Script, end: Mended, statements: Sequence[ast.Statement]) -> str | None:
    """The one statement in which the joins are, with all in it mended; None where it cannot be, or is not alone."""
    own = [script.joins[each.join].span for each in wrong.mendings]
    left = [end.found.script.joins[join].span for each in end.left for join in each.joins]
    for statement in statements:
        if all(inside(span, statement.span) for span in own):
            return None if any(inside(span, statement.span) for span in left) else edited(statement.span, end.edits)
    return None


def different_keys(wrong: Disagreement, script: Script, place: Span) -> Diagnostic:
    """P002, of the streams by whose keys the join cannot go, else of all that have one."""
    (join,) = wrong.joins
    problems = [each for each in wrong.meetings if each.problem is not None] or wrong.meetings
    streams = " and ".join(dict.fromkeys(script.graph.streams[each.stream].name for each in problems))
    whys = dict.fromkeys(key_text(each, script.graph.streams[each.stream], script.joins[join]) for each in problems)
    return P002.at(place, "joined here", streams=streams).because("; ".join(whys) + ".")


def different_counts(wrong: Disagreement, found: Partitions, place: Span) -> Diagnostic:
    """P001, of one join or of several that re-keyed streams tie together."""
    if len(wrong.joins) == 1:
        why = "Rows of one key would be in different partitions."
    else:
        streams, of = found.script.graph.streams, found.counts.of
        ties = [streams[each].name for each in members(wrong, found.counts) if of[each].rule is Rule.OPEN]
        why = f"{' and '.join(ties)} can have only one number of partitions, but its joins need different ones."
    return P001.at(place, "joined here").because(why)


def members(wrong: Disagreement, counts: Counts) -> list[str]:
    """All streams that meet in the joins."""
    return list(dict.fromkeys(stream for join in wrong.joins for stream in counts.met[join]))


def key_text(meeting: Meeting, stream: Stream, join: Joined) -> str:
    """What a stream is partitioned by, and why the join cannot go by that."""
    if not stream.key:
        return f"{stream.name} declares no KEY"
    if meeting.problem is not None:
        return f"{stream.name} is partitioned by {stream.key}, and {meeting.problem}"
    compared = ", ".join(expression_text(equalities(join)[min(places)][meeting.side]) for places in meeting.equalities)
    return f"{stream.name} is partitioned by {stream.key}, here {compared}"


def relation_name(span: Span) -> str:
    """The relation as it is written, its beginning where that is long."""
    text = " ".join(span.text.split())
    return text if len(text) <= 40 else f"{text[:40]}…"


def count_text(count: Count, stream: Stream) -> str:
    """`8 partitions by id, declared`."""
    if count.rule is Rule.SPREAD:
        return "no number of partitions, repartitioned by each join"
    key = f" by {stream.key}" if stream.key else ""
    reasons = {
        Rule.DECLARED: "declared",
        Rule.JOINED: f"joined with {count.giver}",
        Rule.INTO: f"INTO {stream.into} PARTITIONS",
        Rule.SETTING: "SET intermediate_partitions",
        Rule.WIDEST: f"as {count.giver}, which has the most"
        + (f", up to {LARGEST}" if count.partitions == LARGEST else ""),
        Rule.DEFAULT: "SET state_partitions",
        Rule.OPEN: "which cannot be two numbers",
    }
    number = "partitions" if count.partitions is None else f"{count.partitions} partitions"
    return f"{number}{key}, {reasons[count.rule]}"
