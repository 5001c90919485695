"""Programs -> jobs in folders, and the programs that these jobs make."""

from __future__ import annotations

import contextlib
import runpy
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest import mock

from penstock import job
from penstock.codegen import write_job
from penstock.codegen.program import Program


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """The files of a job, without its archive."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")


def rebuild(program: Program, folder: Path) -> Program:
    """What the job of a program, written to a folder, makes."""
    write_files(folder, write_job(program))
    return load(folder).build()


def load(folder: Path) -> job.SparkJob:
    """The job in a folder."""
    with mock.patch.dict(sys.modules, {"penstock_kit.job": job}), restored_path():
        made: job.SparkJob = runpy.run_path(str(folder / "job.py"))["job"]
        return made


@contextlib.contextmanager
def restored_path() -> Iterator[None]:
    """A job adds its archive to the path of modules."""
    before = [*sys.path]
    try:
        yield
    finally:
        sys.path[:] = before


def list_facts(part: Any) -> Any:
    """All fields of programs, also those that are not compared. A job knows no places in the script."""
    if isinstance(part, tuple | list):
        return [list_facts(each) for each in part]
    if hasattr(part, "__dataclass_fields__"):
        names = [each.name for each in fields(part) if each.name not in ("printed", "span", "newer", "made_parsing")]
        names += ["parsing"] if hasattr(part, "made_parsing") else []
        return [type(part).__name__, *((name, list_facts(getattr(part, name))) for name in names)]
    return part
