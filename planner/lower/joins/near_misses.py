"""A stream-stream join without a time bound -> the finding that says what is nearest to one.

Each near miss is tried in turn; the first that applies is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from sqlglot import exp

from penstock.diagnostics import Diagnostic, Span
from penstock.diagnostics.codes.joins import J001, J002, J003, J004, J005, J006, J009
from penstock.parser.ast import Join
from penstock.planner.durations import interval_sql
from penstock.planner.functions import clock_calls, is_bare
from penstock.planner.lower.joins.bounds import COMPARISONS, Ends, list_mentions
from penstock.planner.lower.joins.linear import Times
from penstock.planner.lower.joins.sides import find_right_span
from penstock.planner.scalars.literals import bare
from penstock.planner.types import DATE, TIMESTAMP

# The distance that hints propose where nothing in the text tells one.
FIVE_MINUTES = 300_000


class Attempt(msgspec.Struct, frozen=True):
    """A join that lacks a bound: its conjuncts, and which of them gave an end."""

    join: Join
    times: Times
    ends: Ends
    used: Sequence[exp.Expression]
    rest: Sequence[exp.Expression]
    where: Sequence[exp.Expression]


def find_near_miss(attempt: Attempt) -> Diagnostic:
    """The finding for a join whose time bound is missing an end."""
    for find in FINDERS:
        found = find(attempt)
        if found is not None:
            return found
    return explain_missing_bound(attempt)


def find_bound_under_or(attempt: Attempt) -> Diagnostic | None:
    for part in attempt.rest:
        if isinstance(bare(part), exp.Or) and len(list_mentions(part, attempt.times)) == 2:
            found = J003.at(part.meta["span"], "when the other branch is true, the times may lie any distance apart")
            return found.with_sql(f"({part.meta['span'].text}) AND {example_bound(attempt)}")
    return None


def find_processing_time(attempt: Attempt) -> Diagnostic | None:
    for part in attempt.rest:
        for clock in list_clocks(part, attempt.times):
            if list_mentions(part, attempt.times):
                found = J005.at(part.meta["span"], f"{clock} changes while the rows wait")
                return found.with_sql(example_bound(attempt), before="compare the two event times: ")
    return None


def list_clocks(part: exp.Expression, times: Times) -> Sequence[str]:
    """What gives the clock of the machine, with parentheses and without."""
    columns = [each for each in part.find_all(exp.Column) if not each.table and not times.scope.named(each.name)]
    bare_calls = [each.name for each in columns if is_bare(each.name)]
    return [*(str(call.this) for call in clock_calls(part)), *bare_calls]


def find_unrecognised_form(attempt: Attempt) -> Diagnostic | None:
    """Both event times occur in a comparison, through a function or an interval without a fixed length."""
    for part in attempt.rest:
        if len(list_mentions(part, attempt.times)) != 2:
            continue
        months = [i for i in part.find_all(exp.Interval) if str(i.args["unit"].this).upper() in ("MONTH", "YEAR")]
        label = "MONTH and YEAR have no fixed length" if months else "no fixed difference can be read from this"
        found = J006.at(part.meta["span"], label)
        return found.with_sql(example_bound(attempt), before="compare the event times themselves: ")
    return None


def find_other_columns(attempt: Attempt) -> Diagnostic | None:
    """Timestamps are compared across the sides, but not both are the event times."""
    for part in attempt.rest:
        if type(bare(part)) not in COMPARISONS and not isinstance(bare(part), exp.Between):
            continue
        columns = [attempt.times.scope.find(column, []) for column in part.find_all(exp.Column)]
        stamps = [column for column in columns if column and column.type in (TIMESTAMP, DATE)]
        if len({column.relation for column in stamps}) == 2:
            times = " and ".join(attempt.times.as_sql())
            found = J004.at(part.meta["span"], f"the event times are {times}")
            counted = count_from_start(part, attempt)
            if counted is not None:
                return found.with_sql(counted, before="count from the event time: ")
            return found.with_sql(example_bound(attempt), before="the watermark is on the event times: ")
    return None


def count_from_start(part: exp.Expression, attempt: Attempt) -> str | None:
    """The comparison with the start of a window and its length in the place of its end; None if it has none."""
    for column in part.find_all(exp.Column):
        found = attempt.times.scope.find(column, [])
        size = attempt.times.ends.get(found.name.lower()) if found else None
        start = next(
            (each for each in attempt.times.as_sql() if found and each == f"{found.relation}.window_start"), None
        )
        if size is not None and start is not None:
            text: str = part.meta["span"].text
            return text.replace(column.meta["span"].text, f"{start} + {interval_sql(size)}")
    return None


def find_bound_in_where(attempt: Attempt) -> Diagnostic | None:
    """An outer join whose bound stands in WHERE, where it filters the padded rows instead of bounding the join."""
    for part in attempt.where:
        if len(list_mentions(part, attempt.times)) == 2:
            found = J009.at(part.meta["span"], "filters the joined rows", kind=attempt.join.kind.value)
            return found.also(attempt.join.span, "this join keeps both sides forever").with_hint(
                "move the bound from WHERE into ON"
            )
    return None


def find_one_sided_bound(attempt: Attempt) -> Diagnostic | None:
    if not attempt.used:
        return None
    left, right = attempt.times.as_sql()
    lower, upper = attempt.ends.lower, attempt.ends.upper
    missing = "upper" if lower else "lower"
    if lower:
        limit = f"{right} <= {shift_time(left, lower.milliseconds + FIVE_MINUTES)}"
    else:
        assert upper is not None
        limit = f"{right} >= {shift_time(left, upper.milliseconds - FIVE_MINUTES)}"
    found = J002.at(attempt.used[0].meta["span"], f"gives no {missing} end for {right} - {left}")
    span = attempt.used[0].meta["span"]
    behind = Span(span.source, span.end, span.end)
    return found.also(attempt.join.span, "this join").with_sql(f" AND {limit}", behind, before="add the other end:")


def shift_time(time: str, milliseconds: int) -> str:
    if not milliseconds:
        return time
    return f"{time} {'+' if milliseconds > 0 else '-'} {interval_sql(abs(milliseconds))}"


def explain_missing_bound(attempt: Attempt) -> Diagnostic:
    join = attempt.join
    found = J001.at(join.left.span, "left stream").also(find_right_span(join), "both sides would be kept forever")
    place: Span | None = None if join.on is None else join.on.meta.get("span")
    if join.using:
        right = join.right.span
        return found.with_sql(
            " WITHIN 5 MINUTES", Span(right.source, right.end, right.end), before=f"JOIN {right.text}"
        )
    found = found.because("JOIN … WITHIN 5 MINUTES ON … bounds it in both directions.")
    if place is None:
        return found.with_hint(f"ON {example_bound(attempt)}")
    on = f"({place.text})" if isinstance(join.on, exp.Or) else place.text
    return found.with_sql(f"{on} AND {example_bound(attempt)}", place, before="ON ")


def example_bound(attempt: Attempt) -> str:
    left, right = attempt.times.as_sql()
    return f"{right} BETWEEN {left} AND {left} + INTERVAL '5' MINUTE"


FINDERS: tuple[Callable[[Attempt], Diagnostic | None], ...] = (
    find_bound_under_or,
    find_processing_time,
    find_unrecognised_form,
    find_bound_in_where,
    find_other_columns,
    find_one_sided_bound,
)
