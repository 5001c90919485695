"""Where the rows of streams and tables go that name no place: into the PostgreSQL of the server."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.planner.connectors import POSTGRES, TAIL
from penstock.planner.plan import KStream, Options, SecretOption, Shape, Sink

TAILS = "penstock_tail"
"""The schema of the newest rows of streams. Views in `public` show them."""
BUILDS = "penstock_build"
"""The schema of tables that are built beside what is in force. Readers have no right to look into it."""


@dataclass(frozen=True, slots=True)
class Home:
    """The database of the server, as the engine connects to it."""

    url: str
    password: SecretOption | None
    tail_rows: int
    """How many of the newest rows of a stream are kept."""

    def __call__(self, name: str, shape: Shape) -> Sink:
        """The place of a stream or table of that name. PostgreSQL finds a name in lower case without quotes."""
        place: Options = (("url", self.url),)
        if self.password is not None:
            place += (("password", self.password),)
        if isinstance(shape, KStream):
            return Sink(name, TAIL.name, (*place, ("table", f"{TAILS}.{name.lower()}"), ("rows", self.tail_rows)))
        return Sink(name, POSTGRES.name, (*place, ("table", f"public.{name.lower()}"), ("create", "if_missing")))
