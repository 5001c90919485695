"""The command `penstock package`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from penstock.commands.script_files import REFUSED, explain_problem


@click.command()
@click.argument("archive", type=click.Path(dir_okay=False, path_type=Path), metavar="ARCHIVE")
def package(archive: Path) -> None:
    """Write an archive with the packages that Spark's workers need, as they are installed here.

    Spark sends it to the workers. They need a Python of the same minor version, the same system and nothing else.

    \b
    Examples:
      penstock package workers.tar.gz
      PYSPARK_PYTHON=./penstock/bin/python penstock run --master spark://host:7077 --checkpoint hdfs:///state
        --conf spark.archives=workers.tar.gz#penstock orders.sql

    Exit code 0: written, 1: a package is missing here, 2: the file cannot be written.
    """
    from penstock.commands.worker_archive import MissingPackageError, describe_platform, write_archive

    try:
        packages = write_archive(archive)
    except MissingPackageError as missing:
        click.echo(f"{missing.name} is not installed here: {sys.executable} -m pip install {missing.name}", err=True)
        sys.exit(REFUSED)
    except OSError as problem:
        raise click.BadParameter(
            f"{archive} cannot be written: {explain_problem(problem)}", param_hint="ARCHIVE"
        ) from None
    size = archive.stat().st_size / 2**20
    click.echo(f"wrote {archive}: {size:,.0f} MiB for {describe_platform()}: {', '.join(packages)}")
    click.echo(f"export PYSPARK_PYTHON=./penstock/bin/python; penstock run --conf spark.archives={archive}#penstock …")
