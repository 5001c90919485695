"""Runs a choice of the tests on each version of Spark that Penstock runs on: `python -m tests.spark_versions [4.2 …]`.

Each version has an environment of its own in ~/.cache/penstock: the locked packages, with another PySpark. What comes
behind `--` goes to pytest, in place of the choice.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from penstock.codegen.spark_versions import SPARK_VERSIONS, number_text

ROOT = Path(__file__).parents[1]
CACHE = Path("~/.cache/penstock").expanduser()
_ROOMS = ("codegen", "conformance", "evaluator", "formats", "kafka", "kit", "planner", "properties", "runtime")
CHOICE = ["-n", "2", "-m", "spark", *(f"tests/{room}" for room in _ROOMS), "tests/e2e/test_jobs.py"]


def make_environment(version: str) -> Path:
    """The folder of the environment with the newest release of a version. One that is there is taken."""
    folder = CACHE / f"spark-{version}"
    if (folder / "ready").exists():
        return folder
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
    # In the lock file each package begins a line, and its hashes are indented.
    packages = re.split(r"\n(?=\w)", (ROOT / "requirements.lock").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as temporary:
        others = Path(temporary, "requirements.lock")
        others.write_text("\n".join(each for each in packages if not each.startswith("pyspark==")), encoding="utf-8")
        _install(folder, "--require-hashes", "-r", str(ROOT / "requirements-build.lock"))
        _install(folder, "--require-hashes", "--no-build-isolation", "-r", str(others))
    _install(folder, "--no-deps", "--no-build-isolation", f"pyspark=={version}.*")
    _install(folder, "--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    (folder / "ready").touch()
    return folder


def run_tests(folder: Path, arguments: list[str]) -> tuple[str, bool]:
    """The last line of pytest, which counts the tests, and whether all have passed."""
    run = [str(folder / "bin" / "pytest"), "-p", "no:cacheprovider", *arguments]
    # The environment may have been made by another clone of the repository.
    own = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(run, cwd=ROOT, env=own, stdout=subprocess.PIPE, text=True) as tests:
        assert tests.stdout is not None
        last = ""
        for line in tests.stdout:
            print(line, end="", flush=True)
            last = line.strip(" =\n") or last
    return last, tests.returncode == 0


def _install(folder: Path, *arguments: str) -> None:
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *arguments], check=True)


def main(arguments: list[str]) -> None:
    """Prints a line for each version at the end. The process fails if a test has failed."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    versions = arguments[:end] or [number_text(number) for number in SPARK_VERSIONS]
    choice = arguments[end + 1 :] or CHOICE
    runs = {version: run_tests(make_environment(version), choice) for version in versions}
    for version, (count, _) in runs.items():
        print(f"Spark {version}: {count}")
    sys.exit(not all(passed for _, passed in runs.values()))


if __name__ == "__main__":
    main(sys.argv[1:])
