"""`penstock compile`: a script -> a folder with a PySpark job that runs without Penstock."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from penstock.commands.script_files import FILES, compile_files, errors_shown, explain_problem
from penstock.commands.show_findings import show_findings

_OWN = ("job.py", "kit.zip", "README.md", "sql")


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

        texts, archive = write_job(compilation.program), make_archive()
    try:
        shutil.rmtree(folder / "sql", ignore_errors=True)
        for path, text in texts.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8", newline="")
        (folder / "kit.zip").write_bytes(archive)
    except OSError as problem:
        reason = explain_problem(problem)
        raise click.BadParameter(f"{folder} cannot be written: {reason}", param_hint="-o") from problem


def _check_folder(output: str | None) -> Path:
    """The folder to write.

    Raises UsageError if none is named, or if it is something else than a job.
    """
    if output is None:
        raise click.UsageError("a job is a folder: name it, as -o job/")
    folder = Path(output)
    if folder.suffix == ".py" or folder.is_file():
        hint = f"-o {folder.with_suffix('') if folder.suffix else 'job'}/"
        raise click.BadParameter(f"{output} is a file, and a job is a folder: {hint}", param_hint="-o")
    strange = [name for name in _OWN if (folder / name).exists()]
    if strange and not (folder / "kit.zip").is_file():
        raise click.BadParameter(f"{output} has a {strange[0]} that is of no job", param_hint="-o")
    return folder
