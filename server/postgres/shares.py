"""What each role has of this door: connections, statements at once, and tries of its password."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable

from penstock.server.client_limits import Limits

TRY_SECONDS = 60
DELAY_SECONDS = 10
"""How late a wrong password is refused when there were many. A right one is not delayed."""
_MANY = 10_000


class Turns:
    """Statements of one role that PostgreSQL carries out at once.

    Sessions in a transaction have turns of their own: another one of the role may wait for them.
    """

    def __init__(self, count: int) -> None:
        self._outside, self._inside = asyncio.Semaphore(count), asyncio.Semaphore(count)

    def of(self, *, in_transaction: bool) -> asyncio.Semaphore:
        """What a statement takes a turn of."""
        return self._inside if in_transaction else self._outside


class Shares:
    """The shares of all roles."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits, self._clock = limits, clock
        self._sessions: Counter[str] = Counter()
        self._turns: defaultdict[str, Turns] = defaultdict(lambda: Turns(limits.role_statements))
        self._failures: OrderedDict[tuple[str, str], deque[float]] = OrderedDict()
        self._trying: Counter[tuple[str, str]] = Counter()

    def turns(self, role: str) -> Turns:
        """The turns of a role that has a session."""
        return self._turns[role]

    def enter(self, role: str) -> bool:
        """Counts a session whose login has succeeded; False if the role has too many."""
        if self._sessions[role] >= self._limits.role_connections:
            return False
        self._sessions[role] += 1
        return True

    def leave(self, role: str) -> None:
        """A session that was counted has ended."""
        self._sessions[role] -= 1
        if not self._sessions[role]:
            del self._sessions[role]
            self._turns.pop(role, None)

    def begin_try(self, role: str, address: str) -> bool:
        """Counts a login that begins; False if too many of this user and address are under way behind failures."""
        key = role, address
        if self._is_failing(key) and self._trying[key] >= self._limits.tries:
            return False
        self._trying[key] += 1
        return True

    def end_try(self, role: str, address: str) -> None:
        """A login has succeeded, failed or ended."""
        key = role, address
        self._trying[key] -= 1
        if not self._trying[key]:
            del self._trying[key]

    def note_failure(self, role: str, address: str) -> float:
        """Notes a refused login; how many seconds its answer has to wait."""
        key = role, address
        is_failing = self._is_failing(key)
        failures = self._failures.setdefault(key, deque(maxlen=self._limits.tries))
        failures.append(self._clock())
        self._failures.move_to_end(key)
        while len(self._failures) > _MANY:
            self._failures.popitem(last=False)
        return DELAY_SECONDS if is_failing else 0

    def _is_failing(self, key: tuple[str, str]) -> bool:
        failures = self._failures.get(key, deque())
        while failures and failures[0] <= self._clock() - TRY_SECONDS:
            failures.popleft()
        return len(failures) >= self._limits.tries
