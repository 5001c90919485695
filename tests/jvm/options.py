"""Options of the JVMs that tests start."""

from __future__ import annotations

import sys
from pathlib import Path

# Tests are short: the JVM's slow, optimising compiler would cost more than it gains.
# Without it the JVM sets 48 MiB aside for compiled code, and all queries of a test run need more.
COMPILED = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
OPTIONS = f"{COMPILED} -XX:+UseSerialGC -XX:MetaspaceSize=256m"
ARCHIVE = Path(sys.prefix, "spark.jsa")
"""Spark's classes as a JVM has them in memory. `make test` writes it."""


def jvm_options() -> str:
    """The options, with the archive if there is one. A JVM ignores one that does not fit, and would say so."""
    return f"{OPTIONS} -XX:SharedArchiveFile={ARCHIVE} -Xlog:disable" if ARCHIVE.exists() else OPTIONS
