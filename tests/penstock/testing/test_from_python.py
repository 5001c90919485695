"""`case` and the plugin for pytest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from penstock.diagnostics import CompileError
from penstock.testing import case
from tests.penstock.testing.shop import SCRIPT

GIVEN = "GIVEN orders (id, price, time) VALUES (1, 120, '0:00');"
AT = "2025-01-01 10:00:00"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.sql").write_text(SCRIPT, encoding="utf-8")
    return tmp_path


def test_a_case_passes_or_raises(folder: Path) -> None:
    case(GIVEN, "THEN dear (id) VALUES (1)", of="shop.sql", folder=folder)
    case(GIVEN, "THEN dear (id) VALUES (1)", of=folder / "shop.sql")
    with pytest.raises(AssertionError, match="unexpected  1"):
        case(GIVEN, "THEN dear (id) NOTHING", of="shop.sql", folder=folder)
    with pytest.raises(CompileError, match="S002"):
        case("GIVEN", of="shop.sql", folder=folder)


def test_times_of_a_case_are_counted_from_at(folder: Path) -> None:
    window = "GIVEN END; THEN per_minute VALUES ('2025-01-01 10:00:00', 1)"
    case(GIVEN, window, of="shop.sql", at=AT, folder=folder)
    with pytest.raises(AssertionError):
        case(GIVEN, window, of="shop.sql", folder=folder)


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Pytest in a process of its own, with the plugin as of these sources."""
    plugin = ("-p", "no:penstock", "-p", "penstock.pytest_plugin", "-p", "no:cacheprovider")
    command = [sys.executable, "-m", "pytest", "-c", "/dev/null", "--rootdir", str(folder), *plugin, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_pytest_collects_files_of_tests(folder: Path) -> None:
    passing = f"TEST 'one' OF 'shop.sql'; {GIVEN} THEN dear (id) VALUES (1);\n"
    failing = f"TEST 'two' OF 'shop.sql'; {GIVEN}\nTHEN dear (id) VALUES (2);\n"
    (folder / "shop_test.sql").write_text(passing + failing, encoding="utf-8")
    (folder / "broken_test.sql").write_text("TEST;", encoding="utf-8")
    run = run_pytest(folder, "-v", "shop_test.sql")
    assert run.returncode == 1, run.stdout + run.stderr
    assert "shop_test.sql::one PASSED" in run.stdout
    assert "shop_test.sql::two FAILED" in run.stdout
    assert "missing     2" in run.stdout
    assert "Traceback" not in run.stdout
    broken = run_pytest(folder, "broken_test.sql")
    assert broken.returncode == 2
    assert "S002" in broken.stdout
    (folder / "bytes_test.sql").write_bytes(b"TEST '\xff'")
    coded = run_pytest(folder, "bytes_test.sql")
    assert coded.returncode == 2
    assert "byte 6 is not UTF-8" in coded.stdout
    assert "Traceback" not in coded.stdout
