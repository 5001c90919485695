"""What random scripts read from, and what their queries give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random

from tests.properties.script_scalars import Reference


@dataclass(frozen=True)
class Rows:
    """What may stand in FROM, or a SELECT: `columns` are names and types, `times` those that are event times."""

    sql: str
    columns: Mapping[str, str]
    times: tuple[str, ...] = ()
    alias: str = ""

    def references(self, *, qualified: bool = False) -> list[Reference]:
        prefix = f"{self.alias}." if qualified else ""
        rowtime = [Reference(f"{prefix}ROWTIME", "TIMESTAMP")] if len(self.times) == 1 else []
        return [*rowtime, *(Reference(prefix + name, type_) for name, type_ in self.columns.items() if type_)]

    def time(self, chance: Random) -> str:
        """An event time, perhaps without its name."""
        return "ROWTIME" if len(self.times) == 1 and chance.random() < 0.2 else chance.choice(self.times)


def add_elements(rows: Rows, chance: Random) -> Rows:
    """Sometimes with the elements of an array or of a map beside the rows."""
    if chance.random() < 0.08:
        name = f"n_u{rows.alias}"
        series = f" CROSS JOIN GENERATE_SERIES({chance.choice([1, -2])}, 3) AS u{rows.alias} ({name})"
        return replace(rows, sql=rows.sql + series, columns={**rows.columns, name: "INT"})
    nested = [name for name, type_ in rows.columns.items() if type_ in ("ARRAY", "MAP")]
    if not nested or chance.random() < 0.5:
        return rows
    name, alias = chance.choice(nested), f"u{rows.alias}"
    types = {"x": "STRING", "y": "INT"} if rows.columns[name] == "MAP" else {"x": "STRING"}
    columns = {f"{each}_{alias}": type_ for each, type_ in types.items()}
    value, shown = f"{rows.alias}.{name}", ", ".join(columns)
    forms = (
        f", UNNEST({value}) AS {alias} ({shown})",
        f" LEFT JOIN UNNEST({value}) AS {alias} ({shown}) ON TRUE",
        f" LATERAL VIEW OUTER EXPLODE({value}) {alias} AS {shown}",
        f" CROSS JOIN UNNEST({value}) WITH ORDINALITY AS {alias} ({shown}, n_{alias})",
    )
    form = chance.choice(forms)
    columns |= {f"n_{alias}": "INT"} if "ORDINALITY" in form else {}
    return replace(rows, sql=rows.sql + form, columns={**rows.columns, **columns})
