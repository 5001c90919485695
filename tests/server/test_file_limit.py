"""A server may open as many files as its clients need."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = (
    "import resource; from penstock.server.serving import raise_file_limit; "
    "resource.setrlimit(resource.RLIMIT_NOFILE, ({}, {})); raise_file_limit(); "
    "print(*resource.getrlimit(resource.RLIMIT_NOFILE))"
)


@pytest.mark.parametrize(
    ("before", "after"), [((1_024, 4_096), "4096 4096"), ((1_024, 20_000), "16384 20000"), ((900, 900), "900 900")]
)
def test_the_limit_of_open_files(before: tuple[int, int], after: str) -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM.format(*before)], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == after
