"""Options of the test run."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--accept` writes what came out into the files that say what should."""
    parser.addoption("--accept", action="store_true", help="rewrite the expectations of golden tests")
