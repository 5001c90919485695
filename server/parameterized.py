"""Names in statements of psycopg that have parameters."""

from __future__ import annotations

from psycopg import sql
from psycopg.abc import AdaptContext


class ParameterizedName(sql.Identifier):
    """A quoted name in a statement that is executed with parameters, if only with an empty list of them.

    There `%` begins a parameter, also inside of quotes. sql.Identifier leaves it as it is.
    """

    def as_bytes(self, context: AdaptContext | None = None) -> bytes:
        """The quoted name, with each `%` twice."""
        return super().as_bytes(context).replace(b"%", b"%%")
