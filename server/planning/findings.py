"""Why a check or a plan was ended, as a finding."""

from __future__ import annotations

from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.server import V013, V018
from penstock.server.planning.job_messages import Ended


def explain_ended(ended: Ended, seconds: float) -> Diagnostic:
    """The finding of a job that has ended without an outcome. `seconds`: how long it could take."""
    match ended.because:
        case "time":
            found = V018.at(None, reason=f"it took more than {seconds:g} seconds")
        case "memory":
            found = V018.at(None, reason="it took more than 1 GiB of memory")
        case "fault":
            return V013.at(None, reason=ended.text)
    return found.with_hint("split it into several statements, each over the one before it")
