"""The packages of this Python that Spark's workers need -> an archive for `spark.archives`.

The archive has the packages and a program `bin/python`. It starts the workers' own Python, which must have the same
minor version, with these packages. So nothing has to be installed on the workers but Python itself.
"""

from __future__ import annotations

import io
import platform
import re
import sys
import tarfile
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

NEEDED = ("pyspark", "pyarrow", "pandas", "duckdb")
"""Workers cannot do without. Spark brings its own pyspark."""
WANTED = ("psycopg", "psycopg-binary", "sqlalchemy", "duckdb-engine", "tenacity", "fastavro")
"""What lookups in tables of databases and topics in Avro need, as far as it is installed."""
_REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_START = """#!/bin/sh
here=$(cd "$(dirname "$0")/.." && pwd)
PYTHONPATH="$here/lib${{PYTHONPATH:+:$PYTHONPATH}}"
export PYTHONPATH
exec "${{PENSTOCK_PYTHON:-python{version}}}" "$@"
"""


class MissingPackageError(Exception):
    """A package that workers need is not installed here: `name`."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)


def write_archive(path: Path) -> list[str]:
    """Writes the archive, and returns the packages in it with their versions.

    Raises:
        MissingPackageError: one that workers need is not installed.
        OSError: the archive cannot be written.
    """
    packages = _find_packages([name for name in NEEDED if name != "pyspark"], WANTED)
    draft = path.with_name(f".{path.name}.draft")
    try:
        with tarfile.open(draft, "w:gz", compresslevel=1) as archive:
            _add_text(archive, "bin/python", _START.format(version="{}.{}".format(*sys.version_info)))
            for each in packages:
                _add_package(archive, each)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return [f"{each.name} {each.version}" for each in packages]


def describe_platform() -> str:
    """For which workers the archive is."""
    return f"Python {'{}.{}'.format(*sys.version_info)} on {platform.system()} {platform.machine()}"


def _find_packages(needed: Iterable[str], wanted: Iterable[str]) -> list[Distribution]:
    """The packages and their requirements, as far as they are installed."""
    found: dict[str, Distribution] = {}
    ahead = [*((name, True) for name in needed), *((name, False) for name in wanted)]
    while ahead:
        name, must = ahead.pop(0)
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in found or key == "pyspark":
            continue
        try:
            found[key] = distribution(name)
        except PackageNotFoundError:
            if must:
                raise MissingPackageError(name) from None
            continue
        for requirement in found[key].requires or ():
            if "extra ==" not in requirement:
                ahead += [(match[0], False) for match in [_REQUIREMENT.match(requirement)] if match]
    return [found[key] for key in sorted(found)]


def _add_package(archive: tarfile.TarFile, package: Distribution) -> None:
    for file in package.files or ():
        place = Path(str(file.locate()))
        is_inside = not file.is_absolute() and ".." not in file.parts
        if is_inside and file.suffix != ".pyc" and "tests" not in file.parts and place.is_file():
            archive.add(place, f"lib/{file.as_posix()}", recursive=False)


def _add_text(archive: tarfile.TarFile, name: str, text: str) -> None:
    content = text.encode()
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), 0o755
    archive.addfile(member, io.BytesIO(content))
