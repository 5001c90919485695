"""What the figures depend on besides the programs: the machine, and the versions of what runs on it."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from bench.workload import FLINK_PYTHON


def machine() -> dict[str, str]:
    """Names and values for people to read."""
    cores = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr.split('"')
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{cores} cores ({_processor()}), {memory:.0f} GiB, {platform.system()}",
        "Python": platform.python_version(),
        "Java": java[1] if len(java) > 1 else "none",
        "Spark": version("pyspark"),
        "DuckDB": version("duckdb"),
        "Flink": _flink(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _flink() -> str:
    found = sorted(FLINK_PYTHON.parents[1].glob("lib/python*/site-packages/apache_flink-*.dist-info"))
    return found[-1].name.split("-")[1].removesuffix(".dist") if found else "not installed"
