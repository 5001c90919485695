"""`penstock compile`: a script -> a folder with a PySpark job that runs without Penstock."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

import click

from penstock.commands.script_files import FILES, compile_files, errors_shown, explain_problem
from penstock.commands.show_findings import show_findings

_ARCHIVE = "kit.zip"


@click.command("compile")
@FILES
@click.option("-o", "--output", metavar="FOLDER", help="The folder to write.")
def compile_(files: tuple[str, ...], output: str | None) -> None:
    """Write the script as a folder with a PySpark job, which does not need Penstock.

    job.py says what is read, computed and written; sql/ has the SQL of its views; kit.zip is the library that runs it.
    It takes the options of `penstock run`. A folder that is there is written anew; other files in it stay.

    \b
    Examples:
      penstock compile orders.sql -o job/
      python job/job.py --once
      spark-submit --py-files job/kit.zip job/job.py --checkpoint hdfs:///state

    Exit code 0: written, 1: refused, 2: a file cannot be read, or the folder cannot be written.
    """
    folder = _check_folder(output)
    with errors_shown():
        compilation = compile_files(files)
        show_findings(compilation.diagnostics)

        from penstock.codegen import write_job
        from penstock.job_archive import make_archive

        texts = write_job(compilation.program)
        archive = make_archive(texts)
    try:
        former = _list_former(folder)
        _check_free(folder, {*texts, _ARCHIVE} - former)
        _write(folder, texts, archive, former)
    except OSError as problem:
        reason = explain_problem(problem)
        raise click.BadParameter(f"{folder} cannot be written: {reason}", param_hint="-o") from problem


def _check_folder(output: str | None) -> Path:
    """The folder to write.

    Raises UsageError if none is named, or if it is a file.
    """
    if output is None:
        raise click.UsageError("a job is a folder: name it, as -o job/")
    folder = Path(output)
    if folder.suffix == ".py" or folder.is_file():
        hint = f"-o {folder.with_suffix('') if folder.suffix else 'job'}/"
        raise click.BadParameter(f"{output} is a file, and a job is a folder: {hint}", param_hint="-o")
    return folder


def _list_former(folder: Path) -> set[str]:
    """The files of the job that is in the folder; an empty set if there is no job."""
    from penstock.job_archive import list_files

    former = list_files(folder / _ARCHIVE)
    return set() if former is None else {*former, _ARCHIVE}


def _check_free(folder: Path, paths: Collection[str]) -> None:
    """Raises BadParameter if one of the files is there."""
    for path in sorted(paths, key=lambda each: (each.count("/"), each)):
        if os.path.lexists(folder / path):
            raise click.BadParameter(f"{folder} has a {path} that is of no job", param_hint="-o")


def _write(folder: Path, texts: dict[str, str], archive: bytes, former: Collection[str]) -> None:
    """Writes the job, and removes the files of the former one that it does not have.

    The archive comes before the texts, because it lists them: what an interruption leaves is of a job.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path in (folder / each for each in former if each not in texts and each != _ARCHIVE):
        path.unlink(missing_ok=True)
        for above in path.parents:
            if above == folder or not above.is_dir() or any(above.iterdir()):
                break
            above.rmdir()
    draft = folder / f".{_ARCHIVE}.draft"
    draft.write_bytes(archive)
    draft.replace(folder / _ARCHIVE)
    for name, text in texts.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="")
