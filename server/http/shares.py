"""What each address and each role has of this door, and what is kept back for checks of its health."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from penstock.server.client_limits import Limits
from penstock.server.http.problems import Problem

HEALTH = ("/healthz", "/readyz")
RESERVE = 100
"""Connections beyond the connections with requests, for checks of health and for refusals."""


class Connection(Protocol):
    """A connection of a client."""

    @property
    def is_idle(self) -> bool:
        """Whether no request of it is being answered."""
        ...

    def end(self) -> None:
        """Closes it now."""
        ...


@dataclass(slots=True)
class Connections:
    """The open connections, the oldest first. Where there are too many, one that is idle makes room."""

    most: int
    _open: dict[Connection, None] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._open)

    def add(self, connection: Connection) -> None:
        """A connection has been opened. It is closed at once if no other one is idle."""
        if len(self._open) >= self.most:
            idle = next((each for each in self._open if each.is_idle), connection)
            self._open.pop(idle, None)
            idle.end()
            if idle is connection:
                return
        self._open[connection] = None

    def remove(self, connection: Connection) -> None:
        """A connection is closed."""
        self._open.pop(connection, None)


class RequestShares:
    """The requests that are being answered, streams of changes among them."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._addresses: Counter[str] = Counter()
        self._roles: Counter[str] = Counter()

    def enter(self, address: str) -> Callable[[], None]:
        """Counts a request; what is called at its end.

        Raises Problem: there are too many, in all or of this address.
        """
        limits, headers = self._limits, {"Retry-After": "5"}
        if self._addresses.total() >= limits.connections:
            raise Problem(503, "the server answers as many requests as it can", sqlstate="53300", headers=headers)
        if self._addresses[address] >= limits.address_connections:
            message = f"{limits.address_connections} requests of this address are being answered"
            raise Problem(429, message, sqlstate="53300", headers=headers)
        self._addresses[address] += 1
        return lambda: self._leave(self._addresses, address)

    def enter_role(self, role: str) -> Callable[[], None]:
        """Counts a request of a role; what is called at its end.

        Raises Problem: there are too many of it.
        """
        most = self._limits.role_connections
        if self._roles[role] >= most:
            message = f"{most} requests of {role} are being answered"
            raise Problem(429, message, sqlstate="53300", headers={"Retry-After": "5"})
        self._roles[role] += 1
        return lambda: self._leave(self._roles, role)

    def _leave(self, counts: Counter[str], name: str) -> None:
        counts[name] -= 1
        if not counts[name]:
            del counts[name]
