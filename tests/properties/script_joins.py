"""ON of random joins, and lengths of time."""

from __future__ import annotations

from random import Random

from tests.properties.script_rows import Rows
from tests.properties.script_scalars import Scalars

JOINS = (
    *("JOIN", "INNER JOIN", "LEFT JOIN", "LEFT OUTER JOIN", "RIGHT JOIN", "FULL JOIN", "FULL OUTER JOIN"),
    *("LEFT SEMI JOIN", "LEFT ANTI JOIN"),
)


def write_interval(chance: Random, seconds: int) -> str:
    """A length in one of its spellings, sometimes of minutes."""
    forms = (
        f"INTERVAL '{seconds}' SECOND",
        f"{seconds} SEC",
        f"'{seconds}' SECONDS",
        f"INTERVAL {seconds}000 MILLISECONDS",
        f"{seconds} MINUTE",
    )
    return chance.choice(forms)


def write_condition(joined: list[Rows], right: Rows, chance: Random) -> str:
    """ON, and perhaps WITHIN: an equality, a bound, and perhaps more."""
    left = chance.choice(joined)
    here, there = (
        Scalars(chance, left.references(qualified=True)),
        Scalars(chance, right.references(qualified=True)),
    )
    type_ = chance.choice(("STRING", "BIGINT", "INT", "DECIMAL", "DATE", "BOOLEAN"))
    depth = 0 if chance.random() < 0.6 else 1
    one, other = (side.column(type_) if depth == 0 else None for side in (here, there))
    conditions = [f"{one or f'({here.of(type_, depth)})'} = {other or f'({there.of(type_, depth)})'}"]
    if chance.random() < 0.2:
        conditions.append(chance.choice([here, there]).of("BOOLEAN", 1))
    if chance.random() < 0.2:
        both = Scalars(chance, [*left.references(qualified=True), *right.references(qualified=True)])
        conditions.append(both.of("BOOLEAN", 1))
    a, b = (f"{rows.alias}.{rows.time(chance)}" for rows in (left, right))
    near, far = write_interval(chance, chance.choice([1, 2])), write_interval(chance, chance.choice([2, 3]))
    bounds = (
        f"{b} BETWEEN {a} AND {a} + {far}",
        f"{b} BETWEEN {a} - {near} AND {a} + {far}",
        f"{b} > {a} AND {b} < {a} + {far}",
        f"{a} <= {b} + 1 SEC AND {a} + {far} >= {b} - 2 SEC",
        f"{b} - 4 SEC > {a} AND {b} - 5 MIN <= {a}",
        f"{b} = {a}",
        f"{b} = {a} - {near}",
        f"{a} - {b} BETWEEN INTERVAL '-2' SECOND AND {far}",
        f"{b} >= {a} + 1 DAY AND {b} < {a} + 1 DAY + 1 MINUTE",
    )
    within = ""
    if len(joined) == 1 and chance.random() < 0.2:
        within = chance.choice([f" WITHIN {far}", f" WITHIN ({near} BEFORE, {far} AFTER)"])
    else:
        conditions.append(chance.choice(bounds))
    chance.shuffle(conditions)
    return f"{within} ON {' AND '.join(conditions)}"
