"""The catalog of functions -> the page docs/functions.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.parser import SYNONYMS
from penstock.planner.functions.aggregates import EXAMPLE_ROWS
from penstock.planner.functions.argument_kinds import KINDS
from penstock.planner.functions.function import Function
from penstock.planner.functions.refused import FOREIGN, REFUSED

_HEAD = """# Functions

Made from the data in `planner/functions/` by `python -m penstock.planner.functions > docs/functions.md`.

Functions are called by name in any case, and only those listed here. In a signature a variable stands for a type. T, U,
K and V stand for any type, and O for a type with an order. N is a number, I a whole number, F a FLOAT or DOUBLE. The
same variable twice means one type, the common one of its arguments. ANY means any type each time, and ORDERED any type
with an order. `X...` means one or more arguments. Maps have no order, nor has anything that holds one. Numbers widen
where a wider type is asked for, and a DATE is taken as TIMESTAMP. Functions of a DATE alone take the date of a
TIMESTAMP, except UNIX_DATE and MAKE_TIMESTAMP. Numbers, dates, times and BOOLEANs are taken as STRING. Texts are read
as a number, a date or a time where all signatures ask for that one type. Literals are read as DATE, TIMESTAMP or TIME
wherever one is asked for. Other texts are cast by hand.

Some words stand for a type whose literals are checked before anything runs ([T014](errors/T014.md)):

| word | is |
|---|---|
"""
_LITERAL = ", always a literal ([T013](errors/T013.md))"
_AGGREGATES = f"""
The examples are over the rows `{EXAMPLE_ROWS}`. NULLs are left out, unless all rows are counted.
"""
_FRAMES = """
These need OVER. The examples are over the same rows but the last, `OVER (ORDER BY n)`, in the row where n is 4. Rows of
one time are in the order of all their columns. FIRST and LAST take FILTER. Most aggregates can have OVER, too: see
[W023](errors/W023.md).
"""
_REFUSED = """
## Not allowed

Spark has these functions too. A query may not call them:
"""
_SYNONYMS = """
## Functions of other systems

Calls of functions of Flink, ksqlDB and PostgreSQL, and what they are read as.

| call | is read as |
|---|---|
"""
_BUILT = """| `MEDIAN(x)`, `PERCENTILE(x, 0.9)` | the value at this part of the sorted values, as a DOUBLE |
| `PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)` | `PERCENTILE(x, 0.9)` |
| `PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY x)` | the first of the sorted values that so many are not greater than |
| `PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x DESC)` | the same of the values in falling order |
| `PERCENTILE(x, ARRAY(0.5, 0.9))` | an array of several percentiles |
| `MODE(x)`, `MODE() WITHIN GROUP (ORDER BY x)` | the value that is there most often, the first one of several |
| `TIMESTAMPADD(HOUR, 3, t)`, also `DATEADD`, `DATE_ADD` | `t + INTERVAL '3' HOUR` |
| `TIMESTAMPSUB(HOUR, 3, t)`, also `DATESUB`, `DATE_SUB` | `t - INTERVAL '3' HOUR` |
| `TIMESTAMPDIFF(HOUR, a, b)`, also `DATEDIFF`, `DATE_DIFF` | the whole hours from a to b; not in months or years |
| `TO_TIMESTAMP_LTZ(n, 0)`, and with 3 or 6 | `TIMESTAMP_SECONDS(n)`, `TIMESTAMP_MILLIS(n)`, `TIMESTAMP_MICROS(n)` |
| `DATE_BIN(INTERVAL '15' MINUTE, t, origin)` | the beginning of the 15 minutes that t falls into |
| `TIME_BUCKET(INTERVAL '15' MINUTE, t)` | `DATE_BIN(INTERVAL '15' MINUTE, t, TIMESTAMP_MICROS(0))` |
| `INT(x)`, and so with all simple types | `CAST(x AS INT)` |
| `SPLIT_INDEX(text, ',', n)` | `GET(SPLIT(NULLIF(text, ''), '\\Q,\\E'), n)` |
| `TIMESTAMPTOSTRING(millis, format)` | `DATE_FORMAT(TIMESTAMP_MILLIS(millis), format)`; ROWTIME is a time already |
| `STRUCT(a, s.b, 1)`, `ROW(a, s.b, 1)` | `NAMED_STRUCT('a', a, 'b', s.b, 'col3', 1)` |
"""
_FOREIGN = """
Other systems have these functions. What they give is not certain to be the same. Their errors name the form to write:
"""


def page(families: Iterable[tuple[str, tuple[Function, ...]]]) -> str:
    """The whole page."""
    lines = [line for title, functions in families for line in _family(title, functions)]
    reasons: dict[str, list[str]] = {}
    for name, reason in REFUSED.items():
        reasons.setdefault(reason, []).append(f"`{name}`")
    refused = [f"* {', '.join(sorted(names))}: {reason}" for reason, names in reasons.items()]
    kinds = [f"| {kind.name} | {kind.type}: {kind.noun}{_LITERAL * kind.literal} |" for kind in KINDS.values()]
    synonyms = "".join(f"| `{text}` | `{meaning}` |\n" for text, meaning in SYNONYMS)
    foreign: dict[str, list[str]] = {}
    for name, (reason, _) in FOREIGN.items():
        foreign.setdefault(reason, []).append(f"`{name}`")
    others = [f"* {', '.join(sorted(names))}: {reason}" for reason, names in foreign.items()]
    head = _HEAD + "\n".join(kinds)
    return "\n".join(
        [head, "", *lines, _SYNONYMS.strip("\n"), synonyms + _BUILT + _REFUSED, *refused, _FOREIGN, *others, ""]
    )


def _family(title: str, functions: tuple[Function, ...]) -> Iterator[str]:
    yield f"## {title}"
    yield _AGGREGATES if functions[0].aggregate else _FRAMES if functions[0].framed else ""
    yield "| function | gives | example | value |"
    yield "|---|---|---|---|"
    for function in functions:
        signatures = "<br>".join(f"`{function.name}{text}`" for text in function.signatures)
        text, value = function.example
        doc = (
            function.doc
            if function.since is None
            else f"{function.doc} (from Spark {'.'.join(map(str, function.since))})"
        )
        cells = (signatures, doc, f"`{text}`", f"`{value}`")
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    yield ""
