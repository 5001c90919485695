"""Checkpoints, inputs and outputs may lie in object stores: `runtime` reaches them through Spark's file systems alone.

`runtime/checkpoint/storage.py` does so. Python's own functions for files see the disks of this machine. Each module
that uses one says here which, and why the path is one of this machine.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.files import ROOT, list_files

MODULES = ("glob", "os", "pathlib", "shutil", "tempfile")
HARMLESS = {
    *("os.environ", "os.getpid", "os.getppid", "os.pathsep", "pathlib.PurePosixPath"),
    *(f"os.path.{name}" for name in ("abspath", "basename", "commonpath", "dirname", "isabs", "join", "normpath")),
}
"""What looks at no file."""
LOCAL = {
    # What Python and Java need to start.
    "runtime/spark/jars.py": {"pathlib.Path"},
    "runtime/spark/jvm.py": {"pathlib.Path", "shutil.which", "tempfile.TemporaryFile", "tempfile.gettempdir"},
    # Classes that a JVM of this machine keeps.
    "runtime/spark/class_archive.py": {"pathlib.Path"},
    "runtime/spark/write_class_archive.py": {"pathlib.Path", "tempfile.TemporaryDirectory"},
    # The identity of the machine, for locks.
    "runtime/checkpoint/lock.py": {"open", "os.readlink"},
    # Without --checkpoint, a folder for one run. On a cluster there is always a checkpoint.
    "runtime/checkpoint/checkpoint.py": {"tempfile.TemporaryDirectory"},
    # Links are followed where the path is on local disks; elsewhere there are none.
    "runtime/checkpoint/check_places.py": {"os.path.islink", "os.path.realpath", "os.walk"},
    # Folders of this machine are tried before there is a Spark; others are left to it.
    "runtime/checkpoint/writable.py": {"os.geteuid", "pathlib.Path", "shutil.rmtree", "tempfile.mkdtemp"},
    # What can be seen on this machine before there is a Spark, which looks again by its own file systems.
    "runtime/checkpoint/local_files.py": {"pathlib.Path"},
    "runtime/early_checks.py": {"os.R_OK", "os.X_OK", "os.access", "os.scandir", "pathlib.Path"},
    # Sizes of local folders, for which Spark would take long.
    "runtime/checkpoint/storage.py": {"os.scandir"},
    # Names that Spark cannot see, of inputs on local disks.
    "runtime/query/file_names.py": {"os.fsencode", "os.path.isdir", "os.path.realpath", "os.walk"},
    # How much room is left on the disks of the driver.
    "runtime/failure/storage_failures.py": {"os.path.isdir", "os.statvfs"},
    # Reads without Spark, and how much there is to read: inputs that are not on this machine are left to Spark.
    "runtime/query/input_sizes.py": {"glob.glob", "pathlib.Path"},
    # Secrets, and databases that are files of the driver's machine.
    "kit/databases/secret_refs.py": {"open"},
    "kit/databases/duckdb.py": {"os.path.exists"},
    "kit/databases/sqlite.py": {"os.stat"},
}
WITHOUT_SPARK = ("runtime/local_reads/", "runtime/samples/")
"""They answer from files of this machine. Local reads leave the others to Spark, and samples refuse them."""


def find_access(text: str) -> Iterator[str]:
    """The functions for files of this machine that a module names, with the names of their modules."""
    tree = ast.parse(text)
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            known |= {each.asname: each.name for each in node.names if each.asname}
            known |= {top: top for each in node.names if not each.asname and (top := each.name.partition(".")[0])}
        elif isinstance(node, ast.ImportFrom):
            known |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    parts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        path = None if id(node) in parts else name_dotted(node)
        if path is None:
            continue
        name = ".".join([known.get(path[0], path[0]), *path[1:]])
        is_access = name == "open" or (path[0] in known and name.partition(".")[0] in MODULES)
        if is_access and name not in HARMLESS and not name.startswith("os.environ."):
            yield name


def name_dotted(node: ast.AST) -> list[str] | None:
    """The names of `a.b.c`, None of any other expression."""
    if isinstance(node, ast.Name):
        return [node.id]
    above = name_dotted(node.value) if isinstance(node, ast.Attribute) else None
    return [*above, node.attr] if above and isinstance(node, ast.Attribute) else None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("open('a')", {"open"}),
        ("from os import stat as look\nlook('a')", {"os.stat"}),
        ("import os.path\nlist(map(os.path.exists, []))", {"os.path.exists"}),
        ("from pathlib import Path\nPath('a').read_text()", {"pathlib.Path"}),
        ("from pathlib import Path\nread = Path.read_text", {"pathlib.Path.read_text"}),
        ("import os\nos.environ.get('a'), os.path.join('a', 'b')", set()),
        ("files.open(place)\nhadoop.fs.Path(path)", set()),
    ],
)
def test_access_is_found(text: str, found: set[str]) -> None:
    assert set(find_access(text)) == found


@pytest.mark.parametrize("path", [*list_files(ROOT / "runtime", ".py"), *list_files(ROOT / "kit", ".py")])
def test_files_are_reached_through_spark(path: Path) -> None:
    module = str(path.relative_to(ROOT))
    if not module.startswith(WITHOUT_SPARK):
        assert set(find_access(path.read_text(encoding="utf-8"))) == LOCAL.get(module, set())
