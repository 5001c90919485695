"""Transactions that are begun again while that may help."""

import time
from collections.abc import Callable
from typing import Protocol, TypeVar

import tenacity

from penstock.kit.databases.faults import FAULT_HINTS, DatabaseFault, TableError

Result = TypeVar("Result")
LOCKED_SECONDS = 600
"""How long locks of others are waited for, over all attempts."""


class RetryPolicy(Protocol):
    """How often a transaction is tried. The pauses between grow from backoff_ms to max_delay_ms, with jitter."""

    @property
    def attempts(self) -> int: ...

    @property
    def backoff_ms(self) -> int: ...

    @property
    def max_delay_ms(self) -> int: ...


class RetryCounters(Protocol):
    """Repeated attempts, transactions that failed for good, and the time from a first failure to the end."""

    retries: int
    failures: int
    seconds_retrying: float


class TransientError(Exception):
    """A transaction has failed for a reason that may pass."""

    def __init__(self, fault: DatabaseFault) -> None:
        super().__init__(fault.text)
        self.fault = fault


def run_attempts(
    attempt: Callable[[], Result],
    place: str,
    policy: RetryPolicy,
    counters: RetryCounters,
    on_retry: Callable[[str], None] | None = None,
) -> Result:
    """What an attempt gives, which is repeated while it raises TransientError.

    A lock that others hold ends the attempts after LOCKED_SECONDS, however many there have been.
    `place`: the table as messages name it. `on_retry` is called before each pause with what has failed.

    Raises TableError.
    """
    failed_at = 0.0

    def note(state: tenacity.RetryCallState) -> None:
        nonlocal failed_at
        failed_at = failed_at or time.monotonic()
        counters.retries += 1
        if on_retry is not None and state.outcome is not None:
            on_retry(f"{place}: {state.outcome.exception()}")

    def is_enough(state: tenacity.RetryCallState) -> bool:
        error = None if state.outcome is None else state.outcome.exception()
        if isinstance(error, TransientError) and error.fault.is_lock:
            return time.monotonic() - began >= LOCKED_SECONDS
        return state.attempt_number >= policy.attempts

    began = time.monotonic()
    retrying = tenacity.Retrying(
        stop=is_enough,
        wait=tenacity.wait_random_exponential(policy.backoff_ms / 1000, max=policy.max_delay_ms / 1000),
        retry=tenacity.retry_if_exception_type(TransientError),
        before_sleep=note,
        reraise=True,
    )
    try:
        result: Result = retrying(attempt)
        return result
    except TransientError as error:
        counters.failures += 1
        fault = error.fault
        message = f"{place}: {fault.text} ({policy.attempts} attempts)"
        raise TableError(fault.kind, message, FAULT_HINTS.get(fault.kind)) from None
    except BaseException:
        counters.failures += 1
        raise
    finally:
        if failed_at:
            counters.seconds_retrying += time.monotonic() - failed_at
